"""People in the seats of arenas, debates and councils: what they are asked, one answer each, limits, restarts."""

import json
from datetime import timedelta

import pytest

from accounts.errors import AlreadyAnswered, Conflict, Invalid, NotFound
from experiments.models import Run, Step
from experiments.runs import actions
from experiments.runs.seats import turns
from experiments.runs.steering import branching, steering
from experiments.tasks import clock
from tests.experiments.debated import ROUND_1
from tests.experiments.deliberating import fresh
from tests.experiments.engine.talks import assert_same_page
from tests.experiments.seats.test_pages import seat_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(debate, start, drive, bob):
    """A debate between Bob in seat A and models, at Bob's first turn."""
    run = start(debate(A={"user": "bob"}, mode="automatic", refine=False))
    drive()
    return fresh(run)


def turn(run, seat):
    [found] = turns.open_turns(seat_of(run, seat))
    return found


def answer(run, seat, text, by):
    asked = turn(run, seat)
    turns.answer(seat_of(run, seat), by=by, step_id=asked.step.pk, text=text)
    return asked


def pass_time(step):
    step.data["person"]["until"] = (clock.now() - timedelta(seconds=1)).isoformat()
    step.save(update_fields=["data"])


def lets_pass(run, seat):
    """The time for the open turn of a seat is over."""
    pass_time(turn(run, seat).step)
    assert turns.end_overdue_turns() == 1


@pytest.mark.databases
def test_a_debate_waits_for_the_person_without_a_worker_and_goes_on_with_the_answer(played, bob, alice, drive):
    assert (played.state, played.lease_until) == ("waiting", None)
    assert not played.calls.exists()
    asked = answer(played, "A", ROUND_1["A"], bob)
    assert any("telescope" in one["text"] for one in asked.shown)
    drive()

    assert fresh(played).state == "completed"
    said = played.messages.get(step__key="round/1/A")
    assert (said.raw_text, said.model, said.call) == (ROUND_1["A"], "", None)
    assert said.operator == {"kind": "seated", "by": "bob"}
    assert said.parsed["kind"] == "points"
    assert sorted(set(played.calls.values_list("step__seat", flat=True))) == ["B", "C", "summarizer"]
    assert "Perspective 1 of A" in json.dumps(played.calls.get(step__key="round/1/B").request)
    assert_same_page(played)

    child = branching.branch(played.messages.get(step__key="round/1/B"), by=alice)
    drive()
    assert child.messages.get(step__key="round/1/A").operator == {"kind": "seated", "by": "bob"}
    assert fresh(child).state == "completed"


def test_an_answer_that_cannot_be_read_is_asked_for_again_and_a_paused_run_takes_it_and_waits(
    played, alice, bob, drive
):
    answer(played, "A", "No JSON at all.", bob)
    drive()

    assert turn(played, "A").step.key == "round/1/A/repair"
    Run.objects.filter(pk=played.pk).update(is_held=True)
    answer(played, "A", ROUND_1["A"], bob)
    drive()
    assert (fresh(played).state, played.calls.exists()) == ("waiting", False)
    steering.release(fresh(played), by=alice)
    drive()
    assert fresh(played).state == "completed"
    assert fresh(played).messages.get(step__key="round/1/A").parsed["kind"] == "points"


def test_after_the_time_limit_the_turn_is_absent_with_its_reason(played, bob, drive):
    asked = turn(played, "A")
    lets_pass(played, "A")
    drive()

    step = played.steps.get(key="round/1/A")
    assert (step.state, step.data["outcome"]["error_kind"]) == (Step.State.FAILED, "absent")
    assert "gave no answer within" in step.data["outcome"]["error"]
    assert fresh(played).state == "completed"
    assert not played.messages.filter(seat="A").exists()
    assert played.events.filter(type="person_absent", data__seat="A").count() == 1
    with pytest.raises(AlreadyAnswered):
        turns.answer(seat_of(played, "A"), by=bob, step_id=asked.step.pk, text="Too late.")
    assert_same_page(played)


def test_no_answer_is_taken_once_the_time_has_passed_or_the_run_has_ended(played, bob, alice):
    asked = turn(played, "A")
    pass_time(asked.step)
    with pytest.raises(Conflict, match="time"):
        turns.answer(seat_of(played, "A"), by=bob, step_id=asked.step.pk, text="Late.")

    actions.stop(played, by=alice)
    with pytest.raises(Conflict, match="ended"):
        turns.answer(seat_of(played, "A"), by=bob, step_id=asked.step.pk, text="Late.")
    assert turns.end_overdue_turns() == 0


def test_an_answer_holds_words_that_can_be_stored_and_of_two_browsers_one_answers(played, bob):
    seated, asked = seat_of(played, "A"), turn(played, "A").step.pk
    for text in ("", "  \n", "x" * (turns.LONGEST_ANSWER + 1), "\ud800"):
        with pytest.raises(Invalid):
            turns.answer(seated, by=bob, step_id=asked, text=text)
    assert turn(played, "A").step.state == Step.State.OPEN

    turns.answer(seated, by=bob, step_id=asked, text="First.")
    with pytest.raises(AlreadyAnswered):
        turns.answer(seated, by=bob, step_id=asked, text="Second.")
    assert [one.raw_text for one in played.messages.filter(seat="A")] == ["First."]


def test_a_restarted_worker_asks_nothing_twice(played, bob, drive):
    asked = turn(played, "A")
    Run.objects.filter(pk=played.pk).update(state="queued")
    drive()

    assert turn(played, "A").until == asked.until
    assert played.events.filter(type="person_asked").count() == 1
    answer(played, "A", ROUND_1["A"], bob)
    Run.objects.filter(pk=played.pk).update(state="running", lease_until=None)  # its worker died
    drive()
    assert fresh(played).state == "completed"
    assert played.messages.filter(seat="A").count() == 1


def test_an_arena_that_failed_for_an_absent_person_asks_again_when_it_is_resumed(arena, start, drive, alice, bob):
    run = start(arena(a={"user": "bob", "seconds": 60}, max_turns=1, judge=False, filter=False))
    drive()
    lets_pass(run, "A")
    drive()
    assert (fresh(run).state, fresh(run).stop_reason) == ("failed", "absent")

    assert actions.resume(fresh(run), by=alice)
    drive()
    assert turn(run, "A").seconds_left > 50
    answer(run, "A", "Good morning.", bob)
    drive()
    first = run.messages.first()
    assert (first.seat, first.raw_text) == ("A", "Good morning.")
    assert fresh(run).state == "completed"
    assert_same_page(run)


def test_a_council_with_a_person_who_answers_and_ranks_for_no_other_seat(council, start, drive, bob, charlie):
    run = start(council({"user": "bob"}, {"user": "charlie"}, "sim/competitive:first=0", "sim/neutral:first=0"))
    drive()
    with pytest.raises(NotFound):
        turns.answer(seat_of(run, "member-2"), by=charlie, step_id=turn(run, "member-1").step.pk, text="For Bob.")
    lets_pass(run, "member-2")
    answer(run, "member-1", "Share it by the night.", bob)
    drive()
    asked = turn(run, "member-1")
    labels = asked.schema["properties"]["ranking"]["items"]["enum"]
    ballot = json.dumps({"review": "Both are sound.", "ranking": labels})
    turns.answer(seat_of(run, "member-1"), by=bob, step_id=asked.step.pk, text=ballot)
    drive()

    assert fresh(run).state == "completed"
    own = run.ballots.get(reviewer="member-1")
    assert (own.model, own.call, len(own.order)) == ("", None, 2)
    assert run.messages.filter(seat="chair").exists()
