"""A worker that is asked to end, or loses Redis, repeats nothing and leaves every word to the next one."""

import logging
import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import django_rq
import pytest
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.executions import Execution
from rq.registry import StartedJobRegistry

from experiments.engine import driver, jobs, leases, pauses
from experiments.engine.events import REDIS_SECONDS, LeaseLost
from experiments.engine.jobs import QUEUE, BaseWorker, run_looks, wake
from experiments.engine.recording import Lease
from experiments.lab.observing import counting
from experiments.models import Call, Provider, Run, Step
from experiments.runs import actions
from experiments.tasks import job_queue
from tests.experiments.engine.crashes import assert_books_balance, expire_leases
from tests.experiments.engine.talks import fresh
from tests.fixtures import Worker, add_model, wait_until
from tests.making import maker
from tests.parts import stepped_engine

pytestmark = pytest.mark.django_db(transaction=True)

TALKATIVE = "sim/cooperative:first=0:tps=100:words=2000"
BRIEF = "sim/cooperative:first=0:tps=60:words=20"


@maker
def until(transactional_db, /, is_enough, what):
    """Drives until something is the case, then asks the driver to end. Returns how many seconds the end took."""
    stop = threading.Event()
    with stepped_engine.driving(stop):
        wait_until(is_enough, what)
        asked = time.monotonic()
        stop.set()
    return time.monotonic() - asked


def is_streaming(provider, tokens=20):
    return lambda: any(row["tokens_sent"] >= tokens for row in provider.ledger())


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


def test_what_waits_for_its_turn_at_the_provider_costs_nothing(arena, start, provider, until, settings, monkeypatch):
    settings.DRAIN_SECONDS = 0.1
    monkeypatch.setattr(driver, "CUT_OFF_SECONDS", 30.0)  # on a busy machine they take longer
    Provider.objects.update(concurrency=1)
    runs = [start(arena(a=TALKATIVE)) for _ in range(3)]
    until(lambda: is_streaming(provider)() and Call.objects.count() == 3, "one that speaks and two that wait")

    assert Call.objects.count() == len(provider.ledger()) == 1
    assert Step.objects.filter(kind="ask", state=Step.State.OPEN).count() == 3
    assert {fresh(run).state for run in runs} == {Run.State.QUEUED}
    assert all(fresh(run).last_seq == run.events.count() for run in runs), "no number of an event is left out"


def test_a_call_that_takes_too_long_is_cut_and_its_last_words_are_written_after_all_older_ones(
    arena, start, drive, provider, until, settings, monkeypatch
):
    settings.DRAIN_SECONDS = 0.1
    done, saved, save = [], [], driver.save
    with monkeypatch.context() as patch:
        patch.setattr(stepped_engine.SteppedWriter, "close", lambda _writer: done.append("writer"))
        patch.setattr(driver, "save", lambda texts: (done.append("last words"), saved.extend(texts), save(texts)))
        run = start(arena(a=TALKATIVE))
        took = until(is_streaming(provider), "the first words")

    assert (done[:2], took < 10) == (["writer", "last words"], True)
    [(_call, text, _reasoning)] = saved
    call = run.calls.get()
    assert (len(text.split()) >= 10, call.text, fresh(run).state) == (True, text, Run.State.QUEUED)
    run.experiment.participants.filter(seat="A").update(model=add_model("sim/cooperative:first=0:words=2000"))
    drive()
    assert run.calls.get(step=call.step_id, attempt=2).text.startswith(text)
    assert Call.objects.get(pk=call.pk).state == Call.State.LOST
    assert_books_balance(fresh(run), provider)


def test_a_run_is_counted_as_begun_once_and_as_taken_over_and_not_laid_to_rest_by_its_former_driver(
    arena, start, monkeypatch
):
    counted, run = [], start(arena())
    monkeypatch.setattr(counting, "add", lambda family, *_labels: counted.append(family))

    leases.release(run.pk, leases.claim(run.pk, lambda event: None).fence)
    assert counted == [counting.RUNS_STARTED]
    leases.claim(run.pk, lambda event: None)
    expire_leases()
    taken = leases.claim(run.pk, lambda event: None)
    assert counted == [counting.RUNS_STARTED, counting.TAKEOVERS]

    outdated = Lease(taken.pk, taken.fence - 1, lambda event: None)
    with pytest.raises(LeaseLost):
        pauses.park(outdated, [], is_held=False)
    with pytest.raises(LeaseLost):
        pauses.complete(outdated, taken, [])
    assert fresh(taken).state == Run.State.RUNNING


@pytest.mark.databases
def test_what_has_waited_longest_for_a_driver_is_claimed_first(arena, start):
    older, newer, queued = (start(arena()) for _ in range(3))
    for run, seconds in ((older, 1), (newer, 100)):
        leases.claim(run.pk, lambda event: None)
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=seconds))

    assert driver.Driver(threading.Event())._waiting() == [queued.pk, newer.pk, older.pk]


def test_a_driver_late_to_renew_keeps_its_run_and_calls_and_breaks_off_those_of_a_run_that_somebody_else_drives(
    arena, start, provider, woken_runs
):
    run = start(arena(TALKATIVE))
    with stepped_engine.driving(threading.Event()):
        wait_until(is_streaming(provider), "a stream")
        fence, here = fresh(run).fence, driver.Driver.current
        expire_leases()
        assert here._waiting() == []
        leases.renew({run.pk: fence})
        assert fresh(run).lease_until > timezone.now()
        assert (fresh(run).fence, run.calls.filter(state=Call.State.LOST).exists()) == (fence, False)

        Run.objects.filter(pk=run.pk).update(fence=fence + 1)
        wait_until(lambda: [row["outcome"] for row in provider.ledger()] == ["client_closed"], "the close", 10)
    assert (fresh(run).state, fresh(run).fence) == (Run.State.RUNNING, fence + 1)


def test_a_run_that_waits_for_its_next_attempt_keeps_no_worker_also_where_it_cannot_be_given_back(
    arena, start, until, settings, monkeypatch
):
    settings.DRAIN_SECONDS = 60
    for state in (Run.State.QUEUED, Run.State.RUNNING):
        run = start(arena(a="sim/cooperative:fail=503"))
        took = until(lambda run=run: run.events.filter(type="call_retried").exists(), "a first failure")

        assert took < 30
        assert fresh(run).state == state
        monkeypatch.setattr(leases, "release", Mock(side_effect=OperationalError("The database is not there.")))


@pytest.mark.system
def test_a_worker_starts_and_plays_after_one_that_died_long_ago(arena, start, provider):
    """It was at a job, and Redis has forgotten everything else of it."""
    queue = django_rq.get_queue(QUEUE)
    job = queue.enqueue("experiments.engine.jobs.drive", "nobody", result_ttl=0, failure_ttl=0)
    queue.remove(job)
    with queue.connection.pipeline() as pipeline:
        forgotten = Execution.create(job, ttl=60, pipeline=pipeline)
        pipeline.execute()
    queue.connection.delete(forgotten.key)
    registry = StartedJobRegistry(queue=queue)
    queue.connection.zadd(registry.key, {forgotten.composite_key: 1})
    run = start(arena(max_turns=1))
    wake(run.pk)

    with Worker():
        assert wait_until(lambda: fresh(run).is_over, "the run to end")
    assert queue.connection.zscore(registry.key, forgotten.composite_key) is None


def test_the_next_one_looks_whatever_goes_wrong_and_a_bug_is_logged_with_where_it_is(monkeypatch, caplog):
    caplog.set_level(logging.WARNING)
    logged = {
        OperationalError("the server closed the connection"): ("WARNING", False),
        InterfaceError("connection already closed"): ("WARNING", False),  # the one that is no DatabaseError
        OSError("no space left on device"): ("WARNING", False),
        ValueError("a receiver has a bug"): ("ERROR", True),
    }
    for error, expected in logged.items():
        looked, counted = [], []
        monkeypatch.setattr(counting, "add", lambda *what, to=counted: to.append(what))
        caplog.clear()

        run_looks(Mock(side_effect=error, __name__="look"), lambda to=looked: to.append("next"))

        assert (looked, counted) == (["next"], [(counting.SWEEPS, "failed")]), error
        assert [(one.levelname, bool(one.exc_info)) for one in caplog.records] == [expected], error


def test_a_worker_looks_again_and_again_until_it_ends(monkeypatch, settings):
    rounds, slept = [], []

    def sleep(seconds):
        slept.append(seconds)
        if len(rounds) == 3:
            raise SystemExit

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(jobs, "run_looks", lambda *looks: rounds.append(looks))
    with pytest.raises(SystemExit):
        jobs._sweep_forever()
    assert rounds == [(jobs.sweep, jobs.note_heads, jobs.tell_others)] * 3
    assert set(slept) == {settings.SWEEP_SECONDS}


def test_a_worker_at_a_long_job_says_that_it_is_alive(monkeypatch):
    told, worker = [], BaseWorker([], connection=Redis(), prepare_for_work=False)
    monkeypatch.setattr(BaseWorker, "current", worker)
    monkeypatch.setattr(job_queue, "in_background", lambda name, send: told.append((name, send.args)))

    jobs.heartbeat()
    assert told == [], "it is at no job"
    monkeypatch.setattr(jobs, "get_current_job", lambda: object())
    jobs.heartbeat()
    assert told == [("heartbeat", (worker,))]


def test_a_redis_that_is_away_does_not_break_off_what_a_worker_is_at(tmp_path):
    away = Redis(unix_socket_path=str(tmp_path / "nobody.sock"), retry=Retry(NoBackoff(), 1))
    worker = BaseWorker([Queue("engine", connection=away)], connection=away, prepare_for_work=False)
    worker._state, worker._shutdown_requested_date = "busy", datetime.now(UTC)

    worker._shutdown()  # as the handler of SIGTERM calls it

    assert worker._stop_requested


@pytest.fixture
def running(transactional_db, arena, start):
    with Worker():
        run = start(arena("sim/cooperative:first=0:tps=120", "sim/competitive:first=0:tps=120", max_turns=4))
        wake(run.pk)
        wait_until(lambda: run.messages.exists(), "the first message")
        yield run


@pytest.fixture
def frozen(redis_server, monkeypatch):
    """Makes Redis stand still, as a machine does that swaps; it goes on at the end of the test."""
    monkeypatch.setattr(job_queue._Background, "open_until", 0.0)  # which no other test may see
    pid = redis_server.process.pid
    yield lambda: os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGCONT)


@pytest.mark.system
def test_a_run_goes_on_and_a_request_waits_only_a_moment_while_redis_answers_nobody(running, frozen, alice):
    frozen()
    said = running.messages.count()
    wait_until(lambda: running.messages.count() > said, "a message without an answer of Redis")
    began = time.monotonic()

    assert actions.stop(running, by=alice)

    assert time.monotonic() - began < 10 * REDIS_SECONDS  # the event, and the job
    wait_until(lambda: fresh(running).is_over, "the run to be stopped")


def test_a_redis_that_does_not_answer_is_waited_for_once_and_by_no_driver(frozen, monkeypatch, caplog):
    monkeypatch.setattr(job_queue._Background, "thread", None)
    job_queue.enqueue_in_background()
    frozen()
    began = time.monotonic()
    for number in range(20):
        job_queue.enqueue("engine", f"nobody.answers_{number}", most=1, waiting=f"run={number}")
    rung = time.monotonic() - began
    job_queue._Background.thread.shutdown()

    said = [record.getMessage() for record in caplog.records if "waits for the sweep" in record.getMessage()]
    assert rung < REDIS_SECONDS, "the caller goes on at once"
    assert [line for line in said if "TimeoutError" in line] == said[:1]
    assert [line for line in said if "stands still" in line] == said[1:]
    assert len(said) == 20


def test_one_job_is_enqueued_however_many_wait_to_be(monkeypatch):
    rung, may_go_on = [], threading.Event()
    monkeypatch.setattr(job_queue._Background, "thread", None)
    job_queue.enqueue_in_background()
    job_queue.in_background("first", may_go_on.wait)
    for number in range(20):
        job_queue.in_background("job", lambda number=number: rung.append(number))
    may_go_on.set()
    job_queue._Background.thread.shutdown()

    assert rung == [0]


@pytest.mark.system
def test_a_run_finishes_while_redis_is_away_and_the_next_starts_when_it_is_back(running, redis_server, arena, start):
    redis_server.stop()
    try:
        begun = time.monotonic()
        wait_until(lambda: fresh(running).state == "completed", "the run to end without Redis")
        waiting = start(arena(max_turns=1))
        wake(waiting.pk)
        time.sleep(max(0, 30 - (time.monotonic() - begun)))
    finally:
        redis_server.start()

    with Worker():
        wait_until(lambda: fresh(waiting).state == "completed", "the queued run to be found")
