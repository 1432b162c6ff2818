"""What a board says of its own ground: on how few prompts or voters it rests, and whom curators withdrew from it."""

import pytest
from django.urls import reverse

from experiments.library.datasets import contestants
from experiments.models import Campaign, Experiment
from leaderboard.boards import compute, influence
from tests.fixtures import signed_in
from tests.leaderboard import boards

pytestmark = pytest.mark.django_db


def test_a_board_says_how_far_it_rests_on_single_prompts_and_voters(client, alice):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3, visibility="public")
    boards.board_of(
        alice, [("c", "a", "left"), ("a", "c", "left"), *[("c", "b", "left")] * 2, ("b", "c", "left")], board
    )
    board.kind = "people"
    board.save(update_fields=["kind"])
    for number, battle in enumerate(board.battles.order_by("pk")):
        board.battles.filter(pk=battle.pk).update(ballot=f"visitor:{number % 3}/{number}")
    ladder = compute.ensure_ladder(board)

    told = {one["on"]: one for one in client.get(reverse("api-ladder", args=[ladder.slug])).json()["dependence"]}

    assert (told["prompts"]["units"], told["voters"]["units"]) == (11, 3)
    assert told["prompts"]["ranks"] >= told["prompts"]["first"] > 0
    page = client.get(ladder.get_absolute_url()).content.decode()
    assert "How far this rests on single voters: of 3," in " ".join(page.split())
    assert "visitor:" not in page


def test_votes_of_which_nobody_knows_the_voter_say_nothing_of_voters(alice):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3)
    board.kind = "people"

    assert [one.on for one in influence.dependences(board)] == ["prompts"]


def test_a_board_logs_who_was_withdrawn_and_reinstated_when_why_and_by_whom(client, alice, curator):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3, visibility="public")
    ladder, out = compute.ensure_ladder(board), board.dataset.contestants.get(name="b")
    contestants.void(out, by=curator, reason="It answered with another model.")
    contestants.restore(out, by=curator)
    address = reverse("api-ladder", args=[ladder.slug])

    told = client.get(address).json()["corrections"]
    page = client.get(ladder.get_absolute_url()).content.decode()
    of_lab = signed_in(alice).get(address).json()["corrections"]

    assert [(one["what"], one["name"], one["reason"], one["by"]) for one in told] == [
        ("reinstated", "b", "", ""),
        ("withdrawn", "b", "It answered with another model.", ""),
    ]
    assert [one["by"] for one in of_lab] == ["curator"] * 2
    assert "It answered with another model." in page
    assert "curator" not in page


def test_a_board_logs_what_a_contestant_was_called_before(client, alice, curator):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3, visibility="public")
    ladder, renamed = compute.ensure_ladder(board), board.dataset.contestants.get(name="b")
    for label, link in (("Bee 2", ""), ("Bee 2", "https://bee.example/"), ("Bee 2", "https://bee.example/")):
        contestants.describe(renamed, by=curator, label=label, link=link)

    told = client.get(reverse("api-ladder", args=[ladder.slug])).json()["corrections"]
    page = client.get(ladder.get_absolute_url()).content.decode()

    assert [(one["what"], one["name"], one["before"]) for one in told] == [
        ("renamed", "b", "Bee 2"),
        ("renamed", "b", "b"),
    ], "the third changed nothing"
    assert "renamed, was “b”" in page


def test_a_board_of_many_battles_reads_none_of_them_for_it(alice, monkeypatch, django_assert_num_queries):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3)
    monkeypatch.setattr(influence, "MOST_BATTLES", 5)

    with django_assert_num_queries(1):
        assert influence.dependences(board) == ()


def campaign_on(board, owner, **config):
    """A campaign with a battle of its own on the board."""
    experiment = Experiment.objects.create(
        owner=owner, title="A campaign", workflow="battles", config={"dataset": board.dataset.slug, **config}
    )
    Campaign.objects.create(experiment=experiment)
    battle = board.battles.filter(experiment=None).first()
    board.battles.filter(pk=battle.pk).update(experiment=experiment)


def test_a_board_publishes_the_plans_of_its_campaigns_each_once_and_how_often_contestants_met(client, alice):
    board = boards.board_of(
        alice, [("a", "b", "left"), ("b", "a", "left"), ("a", "c", "left")] * 3, visibility="public"
    )
    board.kind = "model"
    board.save(update_fields=["kind"])
    for config in ({}, {"sampling": {"plan": "sample", "per_pair": 7}}, {}, {"pairs": "new", "version": "v_20260101"}):
        campaign_on(board, alice, **config)
    ladder = compute.ensure_ladder(board)

    told = client.get(reverse("api-ladder", args=[ladder.slug])).json()["matchmaking"]
    page = " ".join(client.get(ladder.get_absolute_url()).content.decode().split())

    assert [(one["plan"], one["per_pair"], one["pairs"]) for one in told["rules"]] == [
        ("all", None, "new"), ("all", None, "all"), ("sample", 7, "all"),
    ]  # fmt: skip
    assert (told["least"], told["most"]) == (pytest.approx(1 / 3), 1.0)
    assert "Every pair meets on 7 prompts drawn at random" in page
    assert "Only pairs with a new contestant were compared." in page
    assert "Each contestant is in 33 % to 100 % of the battles." in page


def test_boards_of_votes_and_of_imports_say_so(client, alice):
    imported = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")], visibility="public")
    voted = boards.filled(alice, battles=30, judge="people", visibility="public")

    plans = [
        client.get(reverse("api-ladder", args=[compute.ensure_ladder(one).slug])).json()["matchmaking"]["rules"]
        for one in (imported, voted)
    ]

    assert [[rule["plan"] for rule in rules] for rules in plans] == [["imported"], ["votes"]]
