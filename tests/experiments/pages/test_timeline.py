"""The page that is built from the rows equals the page that is built by replaying the events."""

import threading
import time

from experiments.engine.driver import Driver
from experiments.models import Call, Run
from experiments.runs import actions
from tests.cases import each_case
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_same_page
from tests.parts import stepped_engine


@each_case(
    "tools",
    [
        {"judge_model": "sim/judge:first=0:json=broken", "filter_model": "sim/filter:first=0:json=missing"},
        {"judge_model": "sim/judge:first=0:json=range", "filter_model": "sim/filter:first=0:json=injected"},
        {"judge_model": "sim/judge:first=0:fail=404", "filter_model": "sim/filter:first=0:fail=404"},
    ],
)
def test_of_a_run_whose_judge_and_filter_talk_nonsense_or_give_up(played, tools):
    run = played(max_turns=1, **tools)

    assert run.state == Run.State.COMPLETED
    assert_same_page(run, "judge_evaluation_completed", "message_completed", "model_metrics")


def test_of_a_run_that_lost_a_call(arena, start, settings):
    settings.DRAIN_SECONDS, settings.LEASE_SECONDS = 0, 3  # the driver calls `beat` four times within it
    run = start(arena("sim/cooperative:first=0:tps=20:words=2000"))
    killed = threading.Event()
    Driver(killed, heartbeat=lambda: run.calls.filter(state=Call.State.SENT).exists() and killed.set()).drive(60)
    assert run.calls.filter(state=Call.State.SENT).count() == 1

    Run.objects.filter(pk=run.pk).update(lease_until=None)
    run.experiment.participants.filter(seat="A").update(model=run.experiment.participants.get(seat="B").model)
    drive()

    assert run.calls.filter(state=Call.State.LOST).count() == 1
    assert_same_page(run, "call_lost", "experiment_stopped")


def test_of_a_run_that_failed_goes_on_and_failed_again_after_a_judged_turn(played, alice):
    """By then A has written more than was judged."""
    run = played(b="sim/neutral:first=0:fail=404:times=1")
    assert_same_page(run, "experiment_error")

    actions.resume(run, by=alice)
    assert_same_page(run)
    drive()
    assert Run.objects.get(pk=run.pk).state == Run.State.FAILED
    assert (run.messages.count(), run.judgments.count()) == (3, 2)
    assert_same_page(run, "model_metrics", "call_retried", "experiment_error")


def test_of_a_run_that_was_stopped_while_somebody_spoke_after_a_judged_turn(arena, start, alice):
    """Stopped while B speaks for the second time, which takes three seconds."""
    run = start(arena(b="sim/neutral:first=0:tps=40:words=120"))

    class Stopping(Driver):
        def _look_after_runs(self):
            speaking = run.calls.filter(step__key="turn/2/B", state=Call.State.SENT)
            if speaking.exclude(text="").exists():  # what was stopped before its first word is no message
                actions.stop(run, by=alice)
            super()._look_after_runs()

    Stopping(threading.Event()).drive(0.1)

    run.refresh_from_db()
    assert (run.state, run.messages.last().finish_reason) == (Run.State.STOPPED, "stopped")
    assert_same_page(run, "model_metrics", "experiment_stopped")


def test_at_every_moment_of_a_run(arena, start):
    fails = ":fail=503:times=1:retry_after=0.1"
    run = start(arena(f"sim/cooperative:first=0:tps=400{fails}", "sim/neutral:first=0:tps=400", max_turns=2))
    moments = set()
    with stepped_engine.driving(threading.Event()):
        while not Run.objects.get(pk=run.pk).is_over:
            moments.add(Run.objects.get(pk=run.pk).last_seq)
            assert_same_page(run)
            time.sleep(0.05)

    assert len(moments) > 2, "the page was compared while the run was under way"
    assert_same_page(run, "call_retried", "judge_evaluation_completed")
