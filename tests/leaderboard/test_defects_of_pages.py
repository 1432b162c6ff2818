"""Earlier arenas' defects in pages and rights (ratings.md §1.10), against ours."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from experiments.battles import voters, votes
from experiments.battles.logs.exporting import slim_lines
from experiments.models import Battle, Contestant, Output, Sample
from leaderboard import compute
from tests.cases import each_case
from tests.leaderboard import boards
from tests.markup import Page

pytestmark = pytest.mark.django_db
PAGES = ("ladder", "ladder-matrix", "ladder-battles", "ladder-samples")
NASTY = '" onmouseover="alert(1)" x="'


def queries(client, address):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_many_battles_asks_the_database_no_more_than_one_of_few(name, client, alice):
    ladders = [
        compute.ensure(boards.filled(alice, battles=count, name=f"{count}", visibility="public"))
        for count in (30, 150, 3000)
    ]

    _first, few, many = (queries(client, reverse(name, args=[ladder.slug])) for ladder in ladders)

    assert many <= few
    assert len(client.get(reverse(name, args=[ladders[-1].slug])).content) < 400_000


def test_the_pages_show_intervals_and_what_has_come_since(client, alice):
    board = boards.filled(alice, contestants=3, battles=90, visibility="public")
    ladder = compute.ensure(board)
    address = reverse("ladder", args=[ladder.slug])
    row = compute.standings(ladder).rated[0]

    before = client.get(address).content.decode()
    boards.board_of(alice, [("model-003", "model-001", "left")] * 200, board=board)
    after = client.get(address).content.decode()

    assert f"{row.lower:.0f}" in before
    assert f"{row.upper:.0f}" in before
    assert before != after
    assert "290" in after


def test_a_name_with_the_joint_of_two_names_is_a_name_like_any_other(client, alice):
    battles = [("a_vs_b", "c", "left"), ("a", "b_vs_c", "right")] * 3
    board = boards.board_of(alice, battles, visibility="public")
    ladder = compute.ensure(board)

    for battle in board.battles.all():
        page = client.get(reverse("battle", args=[battle.pk]))
        assert page.status_code == 200
        assert battle.left.name in page.content.decode()
    listed = client.get(reverse("ladder-battles", args=[ladder.slug])).content.decode()
    assert "a_vs_b" in listed
    assert b"".join(slim_lines(board)).count(b"\n") == 6


@each_case("name", PAGES)
def test_a_name_never_becomes_an_attribute(name, client, alice):
    battles = [(NASTY, "<script>alert(2)</script>", "left"), (NASTY, "plain", "right"), ("plain", NASTY, "tie")] * 3
    ladder = compute.ensure(boards.board_of(alice, battles, visibility="public"))

    assert_harmless(client, reverse(name, args=[ladder.slug]))


def test_nor_where_a_battle_and_its_dataset_are_shown(client, alice):
    board = boards.board_of(alice, [(NASTY, "<script>alert(2)</script>", "left")], visibility="public")
    Contestant.objects.filter(name=NASTY).update(label=NASTY, version=NASTY, void_reason=NASTY)
    Sample.objects.update(instruction=NASTY, category=NASTY, source=NASTY, metadata={NASTY: NASTY})
    slug, battle = board.dataset.slug, board.battles.get()

    for name, *found in (("battle", battle.pk), ("dataset", slug), ("dataset-contestants", slug)):
        assert_harmless(client, reverse(name, args=found))
    assert_harmless(client, reverse("dataset-sample", args=[slug, battle.sample_id]))


def assert_harmless(client, address):
    answer = client.get(address)
    page = Page(answer.content.decode())

    assert answer.status_code == 200
    assert [element.tag for element in page.root.iter() if element.get("onmouseover") is not None] == []
    assert not any("alert" in script.text for script in page.find("script"))


def test_people_vote_and_their_votes_stand_on_a_board_of_their_own(alice, charlie):
    board = boards.board_of(alice, [("a", "b", "left")], visibility="lab")
    for sample in board.dataset.samples.all():
        for contestant in board.dataset.contestants.all():
            Output.objects.create(sample=sample, contestant=contestant, text=f"An answer of {contestant.pk}.")
    voter = voters.person_voter(charlie)

    cast = votes.cast(votes.offer(board.dataset, voter=voter), voter=voter, choice="tie")

    assert (cast.board.kind, cast.winner, cast.voter) == ("people", "tie", charlie)
    assert board.battles.count() == 1


def test_who_is_not_known_changes_nothing_and_sees_nothing_that_is_not_public(alice, charlie, client):
    board = boards.board_of(alice, [("a", "b", "left")], visibility="private")
    battle = board.battles.get()
    compute.ensure(board)
    visitor, stranger = APIClient(), APIClient()
    stranger.force_authenticate(charlie)

    assert visitor.post(reverse("api-dataset-battles", args=[board.dataset.slug]), {}).status_code == 401
    assert stranger.post(reverse("api-dataset-battles", args=[board.dataset.slug]), {}).status_code == 404
    assert client.get(reverse("battle", args=[battle.pk])).status_code == 404
    client.force_login(charlie)
    assert client.post(reverse("battle-void", args=[battle.pk]), {"reason": "no"}).status_code == 404
    assert Battle.objects.get().void_reason == ""
