"""Whatever dies while a council sits, no call is paid twice, and the run ends as if nothing had happened."""

import itertools
import threading

import pytest

from experiments.engine import pauses
from experiments.engine.driver import Driver
from experiments.engine.jobs import wake
from experiments.models import Call, Run
from experiments.steering import furthering
from tests.experiments.deliberating import FAST, assert_same_page, calls, fresh, offer
from tests.experiments.engine import test_crashes
from tests.experiments.engine.test_crashes import (
    PowerCut,
    assert_books_balance,
    crash_at,
    expire_leases,
    writes_of,
)
from tests.fixtures import Worker, add_model, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

SLOW = tuple(f"sim/{name}:first=0.1:tps=25:words=40" for name in ("cooperative", "competitive", "neutral"))


def transcript(run):
    """Who answers side by side does so in any order."""
    said = run.messages.select_related("step").order_by("turn", "step__purpose", "seat")
    return [(m.turn, m.step.purpose, m.seat, m.raw_text, m.flags) for m in said]


def ballots(run):
    return list(run.ballots.order_by("turn", "reviewer").values_list("turn", "reviewer", "labels", "order", "reading"))


def reviewing(run):
    return run.calls.filter(state=Call.State.SENT, step__purpose="review").exists()


def hurry(run):
    """From now on the members answer at once."""
    for number, model in enumerate(FAST, 1):
        run.experiment.participants.filter(seat=f"member-{number}").update(model=add_model(model))


@pytest.mark.system
def test_killed_in_stage_two_it_repeats_no_call_of_stage_one(council, start, drive, provider):
    undisturbed = start(council(*FAST))
    drive()
    run = start(council(*SLOW))
    wake(run.pk)
    worker = Worker()
    try:
        wait_until(lambda: reviewing(run), "a review to be under way")
    finally:
        worker.kill()
    expire_leases()
    hurry(run)
    drive()

    run = fresh(run)
    assert (run.state, run.stop_reason) == ("completed", "your_turn")
    assert calls(run, "reply") == [(f"turn/1/answer/member-{number}", "completed") for number in (1, 2, 3)]
    assert "lost" in [state for _key, state in calls(run, "review")]
    assert run.ballots.count() == undisturbed.ballots.count() == 3
    assert_books_balance(run, provider)
    assert_same_page(run)


def test_a_driver_that_dies_in_stage_two_leaves_no_double(council, start, drive, settings):
    settings.DRAIN_SECONDS = 0
    run = start(council(*SLOW))
    killed = threading.Event()
    watcher = threading.Thread(target=lambda: (wait_until(lambda: reviewing(run), "a review"), killed.set()))
    watcher.start()
    Driver(killed).drive(5)
    watcher.join()
    assert run.calls.filter(state=Call.State.SENT).exists()
    Run.objects.filter(pk=run.pk).update(lease_until=None)
    hurry(run)
    drive()

    run = fresh(run)
    assert run.state == "completed"
    assert [state for _key, state in calls(run, "reply")] == ["completed"] * 3
    assert run.steps.filter(purpose="ballot_read").count() == 3
    assert_same_page(run)


@pytest.mark.parametrize("after", [False, True], ids=["before the commit", "after the commit"])
def test_a_crash_at_any_write_changes_nothing(council, start, drive, provider, alice, monkeypatch, after):
    monkeypatch.setattr(test_crashes, "WRITERS", [*test_crashes.WRITERS, (pauses, "rest")])
    experiment = council(*FAST[:2], title=True)

    def play(run):
        if not run.steps.filter(kind="offer").exists() and run.fence == 0:
            furthering.ask_further(run, by=alice, text="And at sunset?")
        drive()

    undisturbed = start(experiment)
    writes = writes_of(monkeypatch, lambda: play(undisturbed))
    for moment in range(1, writes + 1, 2 if after else 1):
        run = start(experiment)
        with monkeypatch.context() as patch:
            crash_at(patch, moment, after=after)
            with pytest.raises(PowerCut):
                play(run)
        expire_leases()
        drive()

        run = fresh(run)
        assert run.state == "completed", f"crash at write {moment}"
        assert offer(run).key == "turn/2/next"
        assert transcript(run) == transcript(undisturbed), f"crash at write {moment}"
        assert ballots(run) == ballots(undisturbed)
        assert_books_balance(run, provider)
        assert_same_page(run)


def test_a_replay_of_the_whole_record_asks_nothing(convene, take_up, drive, provider):
    run = take_up(take_up(convene(*FAST), "deliberate"), "send", "And at sunset?")
    before, asked, last = transcript(run), len(provider.ledger()), fresh(run).last_seq
    for _again in itertools.repeat(None, 2):
        Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED)
        drive()

    assert (transcript(run), len(provider.ledger())) == (before, asked)
    assert fresh(run).state == "completed"
    types = [event.type for event in run.events.filter(seq__gt=last).order_by("seq")]
    assert types == ["experiment_state", "experiment_stopped"] * 2, "that it was taken up, and has come to rest again"
