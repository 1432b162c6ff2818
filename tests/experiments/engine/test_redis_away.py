"""Redis is the job queue and the channel layer, not the source of truth: runs finish without it."""

import os
import signal
import threading
import time

import pytest
import redis
from django.conf import settings

from experiments.engine.events import REDIS_SECONDS
from experiments.engine.jobs import wake
from experiments.models import Run
from experiments.runs import actions
from experiments.tasks import job_queue
from tests.fixtures import Worker, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PACED = {"a": "sim/cooperative:first=0:tps=120", "b": "sim/competitive:first=0:tps=120", "max_turns": 4}
AWAY_SECONDS = 30


@pytest.fixture
def running(transactional_db, arena, start):
    with Worker():
        run = start(arena(**PACED))
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


def finished(run):
    return Run.objects.filter(pk=run.pk, state=Run.State.COMPLETED).exists()


@pytest.mark.system
def test_a_run_finishes_after_redis_was_flushed(running):
    redis.Redis.from_url(settings.REDIS_URL).flushall()

    assert wait_until(lambda: finished(running), "the run to end")


@pytest.mark.system
def test_a_run_finishes_while_redis_takes_connections_and_answers_nobody(running, frozen):
    frozen()

    assert wait_until(lambda: finished(running), "the run to end without an answer of Redis")


@pytest.mark.system
def test_a_request_waits_only_a_moment_for_redis_to_tell_its_news(running, frozen, alice):
    frozen()
    began = time.monotonic()

    assert actions.stop(running, by=alice)

    assert time.monotonic() - began < 10 * REDIS_SECONDS  # the event, and the job
    assert wait_until(lambda: Run.objects.get(pk=running.pk).is_over, "the run to be stopped")


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
        assert wait_until(lambda: finished(running), "the run to end without Redis")
        waiting = start(arena(max_turns=1))
        wake(waiting.pk)
        time.sleep(max(0, AWAY_SECONDS - (time.monotonic() - begun)))
    finally:
        redis_server.start()

    with Worker():
        assert wait_until(lambda: finished(waiting), "the queued run to be found")
