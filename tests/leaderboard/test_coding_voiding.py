"""Cycles reach the ladder as they are rated; curators leave them out and take them in again; all stays recorded."""

import io
import json
import zipfile

import pytest
from django.db import connection

from accounts.errors import Conflict, Forbidden, Invalid
from experiments.models import Cycle, Event, Experiment
from experiments.review import curation
from experiments.workflows.coding.pages import files, ratings, voiding
from leaderboard.boards import coding, jobs
from leaderboard.models import Ladder
from leaderboard.ratings import cycles as pure
from tests.experiments import contest_rows
from tests.experiments.contesting import begun, models, ordered, quick, sandbox_as_played
from tests.experiments.contests import judgment
from tests.experiments.deliberating import fresh
from tests.fixtures import signed_in

PAGE = "/leaderboard/coding/cycles/"


@pytest.fixture
def bells(monkeypatch):
    """How often a worker was asked to compute ladders."""
    rung = []
    monkeypatch.setattr(jobs, "wake", lambda: rung.append(1))
    return rung


@pytest.fixture
def ten(alice):
    return contest_rows.contest(alice, 10, is_bare=True)


def board(run):
    return {one.name: one.compatible for one in ratings.of_run(run).solvers}


def counted():
    return list(Cycle.objects.counted().values_list("turn", flat=True))


def rows(*turns):
    found = {row.turn: row for row in Cycle.objects.all()}
    return [found[turn] for turn in turns]


@pytest.mark.databases
def test_what_was_left_out_and_taken_in_again_leaves_the_ratings_as_they_were(ten, curator):
    snapshots = {moment.turn: dict(moment.compatible) for moment in ratings.of_run(ten.run).history}
    before = board(ten.run)
    [third] = rows(3)

    assert voiding.void(third, by=curator, reason=" Ambiguous. ")
    assert not voiding.void(third, by=curator, reason="Again.")
    assert board(ten.run) != before
    assert voiding.restore(third, by=curator)
    assert not voiding.restore(third, by=curator)

    assert board(ten.run) == before
    done = [(deed.is_void, deed.by, deed.reason) for deed in voiding.deeds([third])[third.pk]]
    assert done == [(True, "curator", "Ambiguous."), (False, "curator", "")]
    assert [event.type for event in Event.objects.filter(run=ten.run)] == ["cycle_voided", "cycle_restored"]

    for turn in (10, 9):
        named = voiding.last().pk
        voiding.void_last(by=curator, reason="A slow sandbox.", named=named)
        assert board(ten.run) == snapshots[turn - 1]
        with pytest.raises(Conflict):
            voiding.void_last(by=curator, reason="The button was pressed twice.", named=named)
    assert counted() == list(range(1, 9))


def test_all_are_left_out_with_an_event_in_each_run_unless_one_was_rated_meanwhile_and_the_ladder_is_told(
    ten, alice, curator, django_capture_on_commit_callbacks, bells
):
    other = contest_rows.contest(alice, 2, is_bare=True)
    jobs.refresh_stale()
    with pytest.raises(Conflict):
        voiding.void_all(by=curator, reason="A fresh start.", count=10)
    assert len(Cycle.objects.counted()) == 12

    with django_capture_on_commit_callbacks(execute=True):
        assert voiding.void_all(by=curator, reason="A fresh start.", count=12) == 12

    assert (ratings.of_all(), coding.standings().rows) == (None, ())
    assert bells == [1]
    events = Event.objects.filter(type="cycle_voided")
    assert [events.filter(run=one.run).count() for one in (ten, other)] == [10, 2]
    assert set(Cycle.objects.values_list("void_reason", flat=True)) == {"A fresh start."}
    with pytest.raises(Conflict):
        voiding.void_all(by=curator, reason="Again.", count=0)


def test_a_rival_who_is_quicker_between_looking_and_writing_wins(ten, curator, django_user_model, monkeypatch):
    admin = django_user_model.objects.create(username="admin", role="admin")
    last = voiding.last()

    def looked():
        voiding.void(Cycle.objects.get(pk=last.pk), by=admin, reason="Mine.")
        return last

    monkeypatch.setattr(voiding, "last", looked)
    with pytest.raises(Conflict):
        voiding.void_last(by=curator, reason="Yours.", named=last.pk)

    last.refresh_from_db()
    assert (last.void_reason, last.voided_by) == ("Mine.", admin)
    assert Event.objects.filter(type="cycle_voided").count() == 1


def test_the_page_and_the_admin_do_what_their_buttons_say(curator, ten):
    keeper, third, [last] = signed_in(curator), rows(3)[0], rows(10)
    chosen = [row.pk for row in rows(2, 5)]
    for action, reason, left in (("void_chosen", "", 10), ("void_chosen", "Ambiguous.", 8), ("restore_chosen", "", 10)):
        asked = {"action": action, "_selected_action": chosen, "reason": reason}
        keeper.post("/admin/experiments/cycle/", asked)
        assert len(counted()) == left

    for status, sent in (
        (302, {"action": "void", "cycle": third.pk, "reason": "Ambiguous."}),
        (302, {"action": "last", "cycle": last.pk, "reason": "Slow."}),
        (409, {"action": "last", "cycle": last.pk, "reason": "Slow."}),
        (302, {"action": "restore", "cycle": third.pk}),
        (409, {"action": "all", "count": "8", "reason": "Fresh."}),
        (422, {"action": "all", "count": "nine", "reason": "Fresh."}),
        (422, {"action": "all", "count": "9", "reason": ""}),
    ):
        assert keeper.post(PAGE, sent).status_code == status, sent
    assert counted() == list(range(1, 10))
    assert 'value="Typed."' in keeper.post(PAGE, {"action": "all", "count": "3", "reason": "Typed."}).content.decode()
    assert keeper.post(PAGE, {"action": "all", "count": "9", "reason": "Fresh."}).status_code == 302
    for sent in ({"action": "void", "cycle": "99999999", "reason": "x"}, {"action": "nothing"}):
        assert keeper.post(PAGE, sent).status_code == 422
    assert counted() == []
    shown = keeper.get(PAGE, {"show": "void"}).content.decode()
    assert "curator left it out: Ambiguous." in shown
    assert "curator let it count again" in shown


def test_everybody_reads_why_a_cycle_is_left_out_people_by_whom_and_of_a_private_run_those_who_may_see_it(
    client, ten, alice, curator, charlie
):
    def read(browser):
        return browser.get("/leaderboard/coding/").content.decode()

    jobs.refresh_stale()
    Ladder.objects.update(is_public=True)
    voiding.void(rows(3)[0], by=curator, reason="Two answers were right.")
    shown = [word in read(client) for word in ("Two answers were right.", "Spread of readings", "curator")]
    assert shown == [True, False, False]
    assert "<td>curator</td>" in read(signed_in(charlie))

    curation.exclude(ten.run, by=curator, reason="It plays on a patient's record.")
    assert "People who can see the run" in read(client)
    assert ["patient" in read(one) for one in (client, signed_in(curator), signed_in(alice))] == [False, False, True]
    Experiment.objects.filter(pk=ten.run.experiment_id).update(visibility="lab")
    assert "patient" in read(signed_in(curator))


def test_what_is_no_rated_cycle_has_no_reason_or_is_asked_by_others_is_not_left_out(ten, alice, charlie, curator):
    [first] = rows(1)
    under_way = Cycle.objects.create(run=ten.run, turn=99, setter="coder-1")
    for cycle in (ten.void_cycle(), under_way):
        with pytest.raises(Invalid):
            voiding.void(cycle, by=curator, reason="Odd.")
    refused = [(Invalid, curator, reason) for reason in ("", "  ", "\0")]
    for refusal, person, reason in (*refused, (Forbidden, alice, "I lost."), (Forbidden, charlie, "I lost.")):
        with pytest.raises(refusal):
            voiding.void(first, by=person, reason=reason)
        with pytest.raises(refusal):
            voiding.void_last(by=person, reason=reason, named=voiding.last().pk)
        with pytest.raises(refusal):
            voiding.void_all(by=person, reason=reason, count=10)
    with pytest.raises(Forbidden):
        voiding.restore(first, by=alice)
    assert len(counted()) == 10


def other(number):
    """Another problem each time, or it would be refused as one that was set before."""
    words = ["Boats in a harbour", "Towers of a city", "Weights on a scale"][number]
    said = f"{words} {number}: given whole numbers, return the same numbers, the smallest first. " + words * 4
    return ordered(title=words, description=said)


@pytest.mark.system
@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_a_cycle_reaches_ladder_and_artifacts_and_the_last_is_left_out_while_the_next_one_is_played(
    alice, start, drive, scripted, bells, curator
):
    def rival(_body):
        """Between the first cycle and the second: its setter is being asked for a problem."""
        voiding.void_last(by=curator, reason="A slow sandbox.", named=voiding.last().pk)
        connection.close()
        return json.dumps(other(1))

    answers = [quick(problem=other(0), judgment=judgment(9)), quick(problem=rival), quick(problem=other(2))]
    run = begun(alice, start, models(scripted, *answers), cycles=3)
    with sandbox_as_played():
        drive()
    run = fresh(run)

    assert run.state == "completed"
    assert [(row.state, bool(row.voided)) for row in run.cycles.all()] == [("rated", turn == 1) for turn in (1, 2, 3)]
    found = ratings.of_run(run)
    second = Cycle.objects.filter(run=run, turn=2)
    assert [moment.turn for moment in found.history] == [2, 3]
    assert found.history[0].compatible == dict(pure.compatible_elo([ratings.read(second)[0].rated]).ratings)
    assert "cycle_voided" in run.events.values_list("type", flat=True)
    assert list(run.events.values_list("seq", flat=True)) == list(range(1, run.last_seq + 1))

    assert len(bells) >= 4, "for each cycle that was rated, and for the one left out"
    jobs.refresh_stale()
    assert Ladder.objects.get(slug="coding").standing.data["contest"]["cycles"] == 2
    assert coding.standings().contest.solvers == found.solvers
    archive = zipfile.ZipFile(io.BytesIO(b"".join(files.zipped(run))))
    assert sum("/raw/judge_" in name for name in archive.namelist()) == 18
