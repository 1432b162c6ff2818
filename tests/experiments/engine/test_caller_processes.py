"""Real callers and engine workers, killed in the middle of eight streams: what was paid for is paid once."""

import os
import signal
import time

import pytest
from django.db import connection, transaction

from experiments.engine import spool
from experiments.engine.jobs import wake
from experiments.models import Call, Caller, HandedCall, Run
from experiments.runs import actions
from tests.experiments.engine.crashes import assert_books_balance
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]

STREAMS = 8
SPEAKER = "sim/cooperative:first=0:tps=6:words=120"
QUEUE = ("callers", "--worker-class", "experiments.engine.callers.CallerWorker")


def engine():
    return Worker(callers=1)


def caller():
    """A caller that has begun."""
    there, process = Caller.objects.count(), Worker(1, *QUEUE)
    wait_until(lambda: Caller.objects.count() > there, "the caller")
    return process


@pytest.fixture
def runs(transactional_db, arena, start):
    """Eight that are woken, each with a call of twenty seconds: all are under way before the first one ends."""
    runs = [start(arena(a=SPEAKER, max_turns=1, judge=False)) for _ in range(STREAMS)]
    for run in runs:
        wake(run.pk)
    return runs


def streaming(provider, least=5):
    """Whether all of them speak."""
    return sum(row["tokens_sent"] >= least for row in provider.ledger()) == STREAMS


def are_over():
    return not Run.objects.live().exists()


def spoken():
    return Call.objects.filter(step__seat="A", step__purpose="reply")


def answers_in_spools():
    return sum(len(spool.read(path).answers) for path in spool.directory().glob("*.spool"))


def assert_whole(provider):
    """No answer is cut, and none was asked for twice."""
    assert {call.state for call in Call.objects.all()} == {Call.State.COMPLETED}
    assert len(provider.ledger()) == Call.objects.count()
    assert {row["outcome"] for row in provider.ledger()} == {"finished"}
    assert {len(call.text.split()) for call in spoken()} == {120}
    for run in Run.objects.all():
        assert_books_balance(run, provider)
    assert not HandedCall.objects.exists()


def test_of_a_caller_that_is_killed_only_what_was_unfinished_is_asked_again(runs, provider):
    with engine():
        with caller():
            wait_until(lambda: sum(len(call.text.split()) >= 5 for call in spoken()) == STREAMS, "words that are saved")
        with caller():
            wait_until(are_over, "the end")

    lost = Call.objects.filter(state=Call.State.LOST)
    assert lost.count() == STREAMS
    assert min(len(call.text.split()) for call in lost) >= 5
    assert Call.objects.filter(attempt=2).count() == STREAMS
    assert len(provider.ledger()) == Call.objects.count()
    for run in runs:
        assert_books_balance(Run.objects.get(pk=run.pk), provider)


def test_answers_that_end_while_the_database_is_locked_come_out_of_the_spool(runs, provider):
    processes = [caller(), engine()]
    wait_until(lambda: streaming(provider), "all streams")
    with transaction.atomic(), connection.cursor() as cursor:  # SQLite is locked at once, as a whole
        if connection.vendor == "postgresql":
            cursor.execute("LOCK TABLE experiments_handedcall, experiments_call, experiments_run")
        wait_until(lambda: answers_in_spools() == STREAMS, "all answers in the spool")
        for process in processes:
            process.kill()
    assert not HandedCall.objects.filter(answered__isnull=False).exists()
    with caller(), engine():
        wait_until(are_over, "the end")

    assert not Call.objects.filter(attempt=2).exists()
    assert_whole(provider)


def test_a_stop_closes_the_stream_within_a_second(arena, start, provider, alice):
    run = start(arena(a="sim/cooperative:first=0:tps=20:words=2000", max_turns=1))
    wake(run.pk)
    with caller(), engine():
        call = wait_until(lambda: run.calls.exclude(text="").first(), "the first words")
        pressed = time.time()
        actions.stop(run, by=alice)
        row = wait_until(lambda: next((r for r in provider.ledger() if r["outcome"] == "client_closed"), None), "close")
        wait_until(are_over, "the stop")

    assert row["ended"] - pressed < 1.0
    call.refresh_from_db()
    assert (call.state, Run.objects.get().state) == (Call.State.STOPPED, Run.State.STOPPED)
    assert call.text == run.messages.get().raw_text != ""


def test_without_redis_calls_are_made_and_answered(runs, provider, redis_server):
    with caller(), engine():
        wait_until(lambda: streaming(provider), "all streams")
        redis_server.stop()
        try:
            wait_until(are_over, "the end")
        finally:
            redis_server.start()

    assert_whole(provider)


def test_a_caller_asked_to_end_hears_its_calls_out_though_the_worker_that_wants_them_is_killed(runs, provider):
    with caller() as first:
        with engine():
            wait_until(lambda: streaming(provider), "all streams")
        os.kill(first.process.pid, signal.SIGTERM)
        with engine(), caller():
            assert wait_until(lambda: first.process.poll() is not None, "its end")
            wait_until(are_over, "the end")

    assert first.process.poll() == 0
    assert_whole(provider)
