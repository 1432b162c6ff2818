"""The report on voters and its page, and all votes of one left out of the ratings and taken in again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, User
from experiments.models import Battle, PairCount
from experiments.workflows.battles.campaign import boards, counting, voiding
from leaderboard.boards import compute
from leaderboard.votes import voter_report, voting
from leaderboard.votes.voters import person_voter
from tests.experiments.battles.duels import dataset_of, visitor, voted_on
from tests.fixtures import signed_in

VISITOR = visitor()
PATH = "/datasets/duels/voters/"


@pytest.fixture
def duels(alice, settings):
    settings.PUBLIC_VOTES = True
    return dataset_of(alice, visibility="public")


@pytest.fixture
def voted(alice, settings):
    """Three votes of a visitor's, and two of Alice's."""
    settings.PUBLIC_VOTES = True
    return voted_on(alice)


@pytest.fixture
def curator(charlie):
    charlie.role = User.Role.CURATOR
    charlie.save()
    return charlie


def vote(duels, voter, choices):
    """The battles that were voted on."""
    cast = []
    for choice in choices:
        offered = voting.offer(duels, voter=voter)
        cast.append(voting.cast(offered, voter=voter, choice=choice))
    return cast


def word(duels, voter):
    return voter_report.pseudonym_of(boards.people_board(duels), voter.ballot)


def counted():
    columns = ("left_wins", "right_wins", "ties", "both_bad")
    return sum(sum(row) for row in PairCount.objects.values_list(*columns))


@pytest.mark.databases
def test_who_has_voted_is_in_the_report_and_offers_are_no_votes(duels, alice, curator, django_assert_max_num_queries):
    cast = vote(duels, person_voter(curator), ["first", "tie", "both_bad"])
    Battle.objects.filter(pk=cast[0].pk).update(judged=timezone.now() - timedelta(days=1, minutes=1))
    vote(duels, VISITOR, ["second"])
    voting.offer(duels, voter=person_voter(alice))

    with django_assert_max_num_queries(7):
        report = voter_report.report(duels, by=alice)

    lines = {line.who.name: line for line in report.lines}
    visitor = f"visitor {word(duels, VISITOR)[:8]}"
    assert set(lines) == {"charlie", visitor}
    assert (report.votes, report.counted, report.is_whole) == (4, 4, True)
    assert (lines["charlie"].found.votes, lines["charlie"].found.neither.part, lines["charlie"].last_day) == (3, 2, 2)
    assert (lines["charlie"].found.first.part, lines[visitor].found.first.part) == (1, 0)
    assert VISITOR.ballot[8:16] not in repr(report)

    vote(duels, person_voter(alice), ["first", "second"] * 6)
    for number, battle in enumerate(Battle.objects.filter(voter=alice).order_by("pk")):
        Battle.objects.filter(pk=battle.pk).update(judged=timezone.now() + timedelta(seconds=number))
    first, *others = voter_report.report(duels, by=alice).lines
    assert (first.who.name, "too_fast" in first.marks) == ("alice", True), "who is marked comes first"
    assert not any("too_fast" in line.marks for line in others)


def html(browser, path=PATH):
    answer = browser.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_is_led_to_by_who_decides_and_names_people_and_neither_visitors_nor_what_they_voted_on(
    voted, browser, alice, charlie
):
    ladder = compute.ensure_ladder(boards.people_board(voted))
    for path in ("/datasets/duels/", f"/leaderboard/{ladder.slug}/"):
        assert PATH in html(browser, path)
        assert PATH not in html(signed_in(charlie), path)
        assert PATH not in html(Client(), path)
    page = html(browser)

    assert "alice" in page
    assert f"visitor {word(voted, VISITOR)[:8]}" in page
    assert not [one for one in (VISITOR.ballot[8:], "Zebrafinch", "Task 0") if one in page]
    assert not [one.pk for one in Battle.objects.all() if f"/battles/{one.pk}/" in page]
    Battle.objects.filter(voter=alice).delete()
    Battle.objects.update(winner="tie")
    page = html(browser)
    for reason in ("fewer than 10 pauses", "no other person voted on the same outputs", "never chose a side"):
        assert reason in page, reason


def test_curators_leave_a_voter_out_by_the_page_with_a_reason_and_take_that_back(voted, curator):
    theirs, name = signed_in(curator), word(voted, VISITOR)
    ladder = compute.ensure_ladder(boards.people_board(voted))
    battle = Battle.objects.filter(ballot=VISITOR.ballot).first()
    missing = theirs.post(PATH, {"voter": name, "reason": ""})

    theirs.post(PATH, {"voter": name, "reason": "A <program> voted."})

    assert missing.status_code == 422
    assert '<details class="fold" open>' in missing.content.decode()
    assert "A &lt;program&gt; voted." in html(theirs)
    assert "A &lt;program&gt; voted." in html(Client(), f"/battles/{battle.pk}/")
    assert compute.current(type(ladder).objects.get(pk=ladder.pk)).standings.battles == 2
    theirs.post(PATH, {"voter": name, "restore": 1})
    assert not Battle.objects.exclude(void_reason="").exists()
    for nobody in ({"reason": "Spam."}, {"voter": "é", "reason": "Spam."}, {"voter": "nobody"}):
        assert theirs.post(PATH, nobody).status_code == 422


@pytest.mark.databases
def test_all_votes_of_one_are_left_out_and_taken_in_again_each_told_once(duels, alice, curator):
    vote(duels, VISITOR, ["first", "second", "tie", "both_bad"])
    vote(duels, person_voter(alice), ["first"])
    board, name = boards.people_board(duels), word(duels, VISITOR)
    before = list(PairCount.objects.order_by("pk").values())

    def left_out():
        return voter_report.exclude_voter(duels, name, by=curator, reason="A program voted.")

    assert [left_out(), left_out()] == [4, 0]
    board.refresh_from_db()
    [line] = [one for one in voter_report.report(duels, by=curator).lines if not one.who.is_person]
    assert (counted(), counting.differences(board)) == (1, 0)
    assert (line.left_out, line.reason, line.found.counted, line.found.votes) == (4, "A program voted.", 0, 4)
    assert Battle.objects.filter(ballot=VISITOR.ballot, void_reason__contains="A program voted.").count() == 4

    assert [voter_report.restore_voter(duels, name, by=curator) for _time in range(2)] == [4, 0]
    assert list(PairCount.objects.order_by("pk").values()) == before
    assert not Battle.objects.exclude(void_reason="").exists()
    told = AuditEntry.objects.filter(target__startswith="board:").order_by("pk")
    assert [(one.action, one.actor, one.detail["votes"]) for one in told] == [
        ("voided", "charlie", 4),
        ("restored", "charlie", 4),
    ]
    assert told[0].detail["reason"] == "A program voted."
    assert "visitor" in told[0].name


def test_only_the_votes_of_this_dataset_that_were_cast_and_not_void_before_are_left_out_by_curators_with_a_reason(
    duels, alice, curator, django_user_model
):
    first, *_others = vote(duels, VISITOR, ["first", "second"])
    voiding.void(first, by=curator, reason="The picture is broken.")
    waiting = voting.offer(duels, voter=VISITOR)
    other = dataset_of(alice, slug="other", name="Other", visibility="public")
    vote(other, VISITOR, ["first"])

    def left_out(dataset):
        return voter_report.exclude_voter(dataset, word(duels, VISITOR), by=curator, reason="Spam.")

    stranger = django_user_model.objects.create(username="stranger")
    for verb in (
        lambda: voter_report.report(duels, by=stranger),
        lambda: voter_report.exclude_voter(duels, word(duels, VISITOR), by=stranger, reason="Spam."),
        lambda: voter_report.restore_voter(duels, word(duels, VISITOR), by=stranger),
    ):
        with pytest.raises(Forbidden):
            verb()
    for reason in ("", "  ", "\0"):
        with pytest.raises(Invalid):
            voter_report.exclude_voter(duels, word(duels, VISITOR), by=curator, reason=reason)
    assert counted() == 2

    assert (left_out(duels), counted()) == (1, 1)
    with pytest.raises(Invalid):
        left_out(other)
    assert voting.offer(duels, voter=VISITOR).pk == waiting.pk
    vote(duels, VISITOR, ["first", "second"])
    assert counted() == 3, "later votes count until they are left out too"
    assert (left_out(duels), counted()) == (2, 1)
    assert voter_report.restore_voter(duels, word(duels, VISITOR), by=curator) == 3
    first.refresh_from_db()
    assert first.void_reason == "The picture is broken."
