"""A worker that is asked to end asks nothing more, hears out what it can, and leaves every word to the next one."""

import threading
import time

import django_rq
import pytest
from rq.executions import Execution
from rq.registry import StartedJobRegistry

from experiments.engine import keeping
from experiments.engine.jobs import QUEUE, wake
from experiments.models import Call, Provider, Run, Step
from experiments.steering import steering
from tests.experiments.engine.crashes import assert_books_balance, expire_leases
from tests.experiments.engine.talks import fresh
from tests.fixtures import Worker, add_model, wait_until
from tests.parts import stepped_engine

pytestmark = pytest.mark.django_db(transaction=True)

TALKATIVE = "sim/cooperative:first=0:tps=100:words=2000"
BRIEF = "sim/cooperative:first=0:tps=60:words=20"


@pytest.fixture
def until(transactional_db):
    """Drives until something is the case, then asks the driver to end. Returns how many seconds the end took."""

    def drive(is_enough, what):
        stop = threading.Event()
        with stepped_engine.driving(stop):
            wait_until(is_enough, what)
            asked = time.monotonic()
            stop.set()
        return time.monotonic() - asked

    return drive


def is_streaming(provider, tokens=20):
    return lambda: any(row["tokens_sent"] >= tokens for row in provider.ledger())


@pytest.mark.system
def test_a_call_under_way_is_heard_out_and_nothing_else_is_asked(arena, start, drive, provider, until, settings):
    settings.DRAIN_SECONDS = 60
    run = start(arena(a=BRIEF, b=BRIEF))
    until(is_streaming(provider, 3), "the first words")

    assert [call.state for call in run.calls.all()] == [Call.State.COMPLETED]
    assert len(provider.ledger()) == 1
    assert (fresh(run).state, fresh(run).lease_until) == (Run.State.QUEUED, None)
    drive()
    assert fresh(run).state == Run.State.COMPLETED
    assert not run.calls.filter(state=Call.State.LOST).exists()
    assert_books_balance(fresh(run), provider)


@pytest.mark.system
def test_a_call_that_takes_too_long_is_broken_off_and_every_word_of_it_is_kept(
    arena, start, drive, provider, until, settings, monkeypatch
):
    settings.DRAIN_SECONDS = 0.1
    monkeypatch.setattr(keeping, "SAVE_SECONDS", 1000.0)  # what is kept is kept at the end
    run = start(arena(a=TALKATIVE))
    took = until(is_streaming(provider), "the first words")

    [call] = run.calls.all()
    assert len(call.text.split()) >= 10
    assert took < 10
    assert fresh(run).state == Run.State.QUEUED
    monkeypatch.undo()
    run.experiment.participants.filter(seat="A").update(model=add_model("sim/cooperative:first=0:words=2000"))
    drive()
    again = run.calls.get(step=call.step_id, attempt=2)
    assert again.text.startswith(call.text)
    assert Call.objects.get(pk=call.pk).state == Call.State.LOST
    assert_books_balance(fresh(run), provider)


@pytest.mark.system
def test_what_still_waits_for_its_turn_at_the_provider_is_forgotten_and_costs_nothing(
    arena, start, provider, until, settings
):
    settings.DRAIN_SECONDS = 0.1
    Provider.objects.update(concurrency=1)
    runs = [start(arena(a=TALKATIVE)) for _ in range(3)]
    until(lambda: is_streaming(provider)() and Call.objects.count() == 3, "one that speaks and two that wait")

    assert Call.objects.count() == len(provider.ledger()) == 1
    assert Step.objects.filter(kind="ask", state=Step.State.OPEN).count() == 3
    assert {fresh(run).state for run in runs} == {Run.State.QUEUED}


def test_a_run_that_only_waits_for_its_next_attempt_goes_on_elsewhere_at_once(arena, start, provider, until, settings):
    settings.DRAIN_SECONDS = 60
    run = start(arena(a="sim/cooperative:fail=503"))
    took = until(lambda: run.events.filter(type="call_retried").exists(), "a first failure")

    assert took < 30
    assert fresh(run).state == Run.State.QUEUED


@pytest.mark.system
def test_a_pause_that_opens_while_the_worker_ends_is_there_for_the_next_one(arena, start, drive, until, provider):
    run = start(arena(a=BRIEF, b=BRIEF, mode="manual"))
    drive()
    steering.say(run, by=run.experiment.owner, key=fresh(run).open_pauses[-1].key, action="default")
    until(is_streaming(provider, 3), "the first words")
    expire_leases()
    drive()

    assert fresh(run).state == Run.State.WAITING
    assert len(fresh(run).open_pauses) == 1
    assert run.messages.count() == 1


# --- what a dead worker leaves behind in Redis ---


@pytest.fixture
def left_behind():
    """A bell that was being answered, by a worker of which Redis has forgotten everything else."""
    queue = django_rq.get_queue(QUEUE)
    job = queue.enqueue("experiments.engine.jobs.drive", "nobody", result_ttl=0, failure_ttl=0)
    queue.remove(job)
    with queue.connection.pipeline() as pipeline:
        execution = Execution.create(job, ttl=60, pipeline=pipeline)
        pipeline.execute()
    queue.connection.delete(execution.key)
    registry = StartedJobRegistry(queue=queue)
    queue.connection.zadd(registry.key, {execution.composite_key: 1})
    return registry, execution.composite_key


@pytest.mark.system
def test_a_worker_starts_and_plays_after_one_that_died_long_ago(arena, start, provider, left_behind):
    run = start(arena(max_turns=1))
    wake(run.pk)

    with Worker():
        assert wait_until(lambda: fresh(run).is_over, "the run to end")

    registry, forgotten = left_behind
    assert registry.connection.zscore(registry.key, forgotten) is None
