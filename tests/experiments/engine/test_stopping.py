"""Stop closes the upstream stream at once, keeps what was said, and says so once."""

import threading
import time

import pytest

from experiments import actions
from experiments.engine.driver import LOOK_SECONDS
from experiments.models import Call, Run
from tests.fixtures import wait_until
from tests.parts import stepped_engine

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

SLOW = {"a": "sim/cooperative:first=0:tps=20:words=2000"}


@pytest.fixture
def driving(db):
    """A driver at work."""
    with stepped_engine.driving(threading.Event()):
        yield


def speaking(run):
    return wait_until(lambda: run.calls.filter(state=Call.State.SENT).exclude(text="").first(), "a partial text")


def test_the_provider_sees_the_stream_closed_within_a_second(arena, start, provider, driving, alice):
    run = start(arena(**SLOW))
    call = speaking(run)

    pressed = time.time()
    actions.stop(run, by=alice)

    row = wait_until(lambda: next((r for r in provider.ledger() if r["outcome"] == "client_closed"), None), "the close")
    assert row["request_id"] == str(call.pk)
    assert row["ended"] - pressed < 50, "it would have been spoken to for twice as long"
    assert LOOK_SECONDS < 1


def test_the_partial_text_is_kept_and_marked(arena, start, provider, driving, alice):
    run = start(arena(**SLOW))
    call = speaking(run)

    actions.stop(run, by=alice)
    wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "the run to stop")

    call.refresh_from_db()
    [message] = run.messages.all()
    assert call.state == Call.State.STOPPED
    assert message.raw_text == call.text != ""
    assert message.finish_reason == "stopped"
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "manual_stop")


def test_stopping_twice_emits_one_experiment_stopped(arena, start, provider, driving, alice):
    run = start(arena(**SLOW))
    speaking(run)

    answers = [actions.stop(run, by=alice), actions.stop(Run.objects.get(pk=run.pk), by=alice)]
    wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "the run to stop")

    assert answers == [True, False]
    assert actions.stop(Run.objects.get(pk=run.pk), by=alice) is False
    assert run.events.filter(type="experiment_stopped").count() == 1


def test_a_queued_run_stops_without_a_driver(arena, start, provider, alice):
    run = start(arena())

    actions.stop(run, by=alice)

    run.refresh_from_db()
    assert run.state == Run.State.STOPPED
    assert provider.ledger() == []


def test_a_run_whose_driver_died_while_stopping_is_stopped_by_the_next_one(arena, start, drive, provider):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=Run.State.STOPPING, fence=1)

    drive()

    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "manual_stop")
    assert provider.ledger() == []


def test_stop_then_start_mixes_no_message_of_the_first_run_into_the_second(arena, start, provider, driving, alice):
    experiment = arena(**SLOW)
    first = start(experiment)
    speaking(first)

    actions.stop(first, by=alice)
    second = start(experiment)
    speaking(second)
    actions.stop(second, by=alice)
    wait_until(lambda: Run.objects.get(pk=second.pk).is_over, "the second run to stop")

    asked_by_second = {str(pk) for pk in second.calls.values_list("pk", flat=True)}
    assert second.messages.count() == 1
    assert second.messages.get().call_id in {call.pk for call in second.calls.all()}
    assert asked_by_second.isdisjoint({str(pk) for pk in first.calls.values_list("pk", flat=True)})
