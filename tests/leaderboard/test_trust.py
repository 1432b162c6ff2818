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
    of_c = [("c", "a", "left"), ("a", "c", "left"), *[("c", "b", "left")] * 2, ("b", "c", "left")]
    boards.board_of(alice, of_c, board)
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


def test_a_board_logs_who_was_withdrawn_reinstated_and_renamed_why_and_by_whom(client, alice, curator):
    board = boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3, visibility="public")
    ladder, out = compute.ensure_ladder(board), board.dataset.contestants.get(name="b")
    contestants.void(out, by=curator, reason="It answered with another model.")
    contestants.restore(out, by=curator)
    for link in ("", "https://bee.example/", "https://bee.example/"):
        contestants.describe(out, by=curator, label="Bee 2", link=link)
    address = reverse("api-ladder", args=[ladder.slug])

    told = client.get(address).json()["corrections"]
    page = client.get(ladder.get_absolute_url()).content.decode()
    of_lab = signed_in(alice).get(address).json()["corrections"]

    assert [(one["what"], one["name"], one["before"], one["reason"], one["by"]) for one in told] == [
        ("renamed", "b", "Bee 2", "", ""),  # the third change of the label and the link changed nothing
        ("renamed", "b", "b", "", ""),
        ("reinstated", "b", "", "", ""),
        ("withdrawn", "b", "", "It answered with another model.", ""),
    ]
    assert [one["by"] for one in of_lab] == ["curator"] * 4
    assert "It answered with another model." in page
    assert "renamed, was “b”" in page
    assert "curator" not in page


def test_unknown_voters_are_no_ground_and_many_battles_are_not_read(alice, monkeypatch, django_assert_num_queries):
    known, many = (boards.board_of(alice, [("a", "b", "left"), ("b", "a", "left")] * 3) for _ in "ab")
    known.kind = "people"
    assert [one.on for one in influence.dependences(known)] == ["prompts"]

    monkeypatch.setattr(influence, "MOST_BATTLES", 5)
    with django_assert_num_queries(1):
        assert influence.dependences(many) == ()


def test_a_board_publishes_the_plans_of_its_campaigns_each_once_and_how_often_contestants_met(client, alice):
    met, public = [("a", "b", "left"), ("b", "a", "left"), ("a", "c", "left")] * 3, {"visibility": "public"}
    board = boards.board_of(alice, met, **public)
    voted, imported = (boards.filled(alice, battles=30, judge=judge, **public) for judge in ("people", "a judge"))

    def matchmaking(board):
        return client.get(reverse("api-ladder", args=[compute.ensure_ladder(board).slug])).json()["matchmaking"]

    plans = [[rule["plan"] for rule in matchmaking(one)["rules"]] for one in (voted, imported)]
    assert plans == [["votes"], ["imported"]]

    board.kind = "model"
    board.save(update_fields=["kind"])
    for config in ({}, {"sampling": {"plan": "sample", "per_pair": 7}}, {}, {"pairs": "new", "version": "v_20260101"}):
        config |= {"dataset": board.dataset.slug}
        experiment = Experiment.objects.create(owner=alice, title="A campaign", workflow="battles", config=config)
        Campaign.objects.create(experiment=experiment)
        battle = board.battles.filter(experiment=None).first()
        board.battles.filter(pk=battle.pk).update(experiment=experiment)

    told = matchmaking(board)
    page = " ".join(client.get(compute.ensure_ladder(board).get_absolute_url()).content.decode().split())

    assert [(one["plan"], one["per_pair"], one["pairs"]) for one in told["rules"]] == [
        ("all", None, "new"), ("all", None, "all"), ("sample", 7, "all"),
    ]  # fmt: skip
    assert (told["least"], told["most"]) == (pytest.approx(1 / 3), 1.0)
    assert "Every pair meets on 7 prompts drawn at random" in page
    assert "Only pairs with a new contestant were compared." in page
    assert "Each contestant is in 33 % to 100 % of the battles." in page
