"""Whenever a worker dies, the run completes as if nothing had happened, and no recorded step is asked again."""

import itertools
import random
import time

import pytest
from django.utils import timezone

from experiments.engine import leases, playing, recording
from experiments.engine.jobs import wake
from experiments.models import Call, Run, Step
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

WRITERS = ["record_facts", "open_call", "close_call"]
FAST = {"a": "sim/cooperative:first=0:words=30", "b": "sim/deceptive:first=0:words=30", "max_turns": 2}
KILLS = 20


class PowerCut(BaseException):
    """Nothing in the engine may catch this."""


def transcript(run):
    return [(m.turn, m.seat, m.raw_text, m.text, m.reasoning) for m in run.messages.all()]


def verdicts(run):
    return [(j.turn, j.subject, j.scores, j.rationale) for j in run.judgments.order_by("turn", "subject")]


def assert_books_balance(run, provider):
    """Every request the provider saw is a call of ours; each step was asked again only while it was not recorded."""
    calls = {str(call.pk): call for call in run.calls.select_related("step")}
    asked = [row["request_id"] for row in provider.ledger() if row["request_id"] in calls]
    assert len(asked) == len(set(asked))
    for step in run.steps.filter(kind="ask"):
        states = [call.state for call in step.calls.order_by("attempt")]
        assert step.state == Step.State.DONE
        assert states[-1] == Call.State.COMPLETED
        assert set(states[:-1]) <= {Call.State.LOST}
    completed = {pk for pk, call in calls.items() if call.state == Call.State.COMPLETED}
    assert completed <= set(asked)
    seqs = list(run.events.values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
    assert run.last_seq == len(seqs)


def crash_at(monkeypatch, moment, *, after):
    """Raise at the `moment`-th write of the recording, before it begins or after its commit."""
    counter = itertools.count(1)
    for name in WRITERS:
        original = getattr(recording, name)

        def write(*args, original=original, **kwargs):
            is_due = next(counter) == moment
            if is_due and not after:
                raise PowerCut
            result = original(*args, **kwargs)
            if is_due:
                raise PowerCut
            return result

        monkeypatch.setattr(playing.recording, name, write)
    monkeypatch.setattr(leases, "release", lambda run_id, fence: None)


def expire_leases():
    Run.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now() - timezone.timedelta(seconds=1))


@pytest.mark.parametrize("after", [False, True], ids=["before the commit", "after the commit"])
def test_a_crash_at_any_write_changes_nothing(arena, start, drive, provider, monkeypatch, after):
    experiment = arena(**FAST)
    undisturbed = start(experiment)
    drive()
    writes = count_writes(undisturbed)

    for moment in range(1, writes + 1):
        run = start(experiment)
        with monkeypatch.context() as patch:
            crash_at(patch, moment, after=after)
            with pytest.raises(PowerCut):
                drive()
        expire_leases()
        drive()

        run.refresh_from_db()
        assert run.state == Run.State.COMPLETED, f"crash at write {moment}"
        assert transcript(run) == transcript(undisturbed)
        assert verdicts(run) == verdicts(undisturbed)
        assert_books_balance(run, provider)


def count_writes(run):
    """Two writes per call, and one of the facts after each call and at the beginning."""
    calls = run.calls.count()
    return 2 * calls + calls


def test_a_worker_killed_at_twenty_random_moments_loses_and_repeats_nothing(arena, start, drive, provider):
    slow = {"a": "sim/cooperative:first=0.05:tps=150", "b": "sim/deceptive:first=0.05:tps=150", "max_turns": 12}
    experiment = arena(**slow)
    undisturbed = start(arena(**slow | {"a": "sim/cooperative:first=0:tps=0", "b": "sim/deceptive:first=0:tps=0"}))
    drive()
    run = start(experiment)
    moments = random.Random(20)

    kills = 0
    while kills < KILLS:
        wake(run.pk)
        worker = Worker()
        seen = run.events.count()
        wait_until(lambda seen=seen: run.events.count() > seen, "the worker to take up the run")
        time.sleep(moments.uniform(0, 0.5))
        worker.kill()
        kills += 1
        run.refresh_from_db()
        assert run.state == Run.State.RUNNING, f"the run was over after {kills} kills: make it longer"
    worker = Worker()
    wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "the run to end", seconds=120)
    worker.kill()

    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    assert transcript(run) == transcript(undisturbed)
    assert_books_balance(run, provider)
