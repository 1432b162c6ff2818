"""Whenever a worker dies, the run completes as if nothing had happened, and no recorded step is asked again."""

import itertools
import random
import time

import pytest
from django.utils import timezone

from experiments.engine import leases, pauses, recording
from experiments.engine.jobs import wake
from experiments.models import Call, Run, Step
from experiments.steering import steering
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

WRITERS = [
    (recording, "record_facts"),
    (recording, "open_call"),
    (recording, "close_call"),
    (pauses, "open_pause"),
    (pauses, "park"),
]
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


def on_each_write(monkeypatch, before, after):
    """Call something before and after every write of the engine."""
    for module, name in WRITERS:
        original = getattr(module, name)

        def write(*args, original=original, **kwargs):
            before()
            result = original(*args, **kwargs)
            after()
            return result

        monkeypatch.setattr(module, name, write)


def crash_at(monkeypatch, moment, *, after):
    """Raise at the `moment`-th write of the recording, before it begins or after its commit."""
    counter = itertools.count(1)

    def cut():
        if next(counter) == moment:
            raise PowerCut

    on_each_write(monkeypatch, *((nothing, cut) if after else (cut, nothing)))
    monkeypatch.setattr(leases, "release", lambda run_id, fence: None)


def nothing():
    pass


def writes_of(monkeypatch, play):
    """How many writes it takes when nothing goes wrong."""
    counter = itertools.count()
    with monkeypatch.context() as patch:
        on_each_write(patch, lambda: next(counter), nothing)
        play()
    return next(counter)


def expire_leases():
    Run.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now() - timezone.timedelta(seconds=1))


@pytest.mark.parametrize("after", [False, True], ids=["before the commit", "after the commit"])
def test_a_crash_at_any_write_changes_nothing(arena, start, drive, provider, monkeypatch, after):
    experiment = arena(**FAST)
    undisturbed = start(experiment)
    writes = writes_of(monkeypatch, drive)

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


ANSWERS = {
    "turn/1/A/prompt": {"action": "note", "text": "Bluff."},
    "turn/1/A/prompt/2": {"action": "send", "text": "Say what you want."},
    "turn/1/B/prompt": {"action": "alter", "text": "I want nothing."},
    "turn/1/B/prompt/2": {"action": "default"},
    "turn/1/next": {"action": "next"},
    "turn/2/A/prompt": {"action": "skip"},
    "turn/2/B/prompt": {"action": "default"},
}


def operate(run, alice, drive):
    """Answer each pause as planned, until the run is over."""
    drive()
    while not Run.objects.get(pk=run.pk).is_over:
        [pause] = Run.objects.get(pk=run.pk).open_pauses
        steering.say(run, by=alice, key=pause.key, **ANSWERS[pause.key])
        drive()


def test_a_crash_before_any_write_of_a_manual_run_changes_nothing(arena, start, drive, alice, provider, monkeypatch):
    experiment = arena(**FAST, mode="manual")
    undisturbed = start(experiment)
    writes = writes_of(monkeypatch, lambda: operate(undisturbed, alice, drive))

    for moment in range(1, writes + 1):
        run = start(experiment)
        with monkeypatch.context() as patch:
            crash_at(patch, moment, after=False)
            with pytest.raises(PowerCut):
                operate(run, alice, drive)
        expire_leases()
        operate(run, alice, drive)

        run.refresh_from_db()
        assert run.state == Run.State.COMPLETED, f"crash at write {moment}"
        assert transcript(run) == transcript(undisturbed)
        assert verdicts(run) == verdicts(undisturbed)
        assert interventions(run) == interventions(undisturbed)
        assert_books_balance(run, provider)


def interventions(run):
    return [(e.type, e.data["key"], e.data["text"]) for e in run.events.filter(type__in=["said", "intervention"])]


@pytest.mark.exhaustive
@pytest.mark.system
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
