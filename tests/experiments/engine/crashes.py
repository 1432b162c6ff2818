"""What crashes are made of, and what must be the same after them."""

import itertools
import json
import random
from datetime import timedelta

from django.db import OperationalError
from django.utils import timezone

from experiments.engine import executions, leases, pauses, recording, run_execution
from experiments.engine.verification import verify
from experiments.models import Call, Run, Step

WRITERS = [
    *((recording, name) for name in ("record_facts", "open_calls", "open_call", "close_call")),
    *((pauses, name) for name in ("open_pause", "park", "complete")),
    (executions, "begin"),
    (run_execution, "finish"),
]
FAULTS = ("before the commit", "after the commit", "commit not confirmed")


class PowerCut(BaseException):
    """Nothing in the engine may catch this."""


def on_each_write(monkeypatch, before=lambda name: None, after=lambda name: None):
    """Call something before and after every write of the engine."""
    for module, name in WRITERS:
        original = getattr(module, name)

        def write(*args, original=original, name=name, **kwargs):
            before(name)
            result = original(*args, **kwargs)
            after(name)
            return result

        monkeypatch.setattr(module, name, write)


def writes_of(monkeypatch, play):
    """The names of the writes that are made when nothing goes wrong."""
    names = []
    with monkeypatch.context() as patch:
        on_each_write(patch, names.append)
        play()
    return names


def break_at(monkeypatch, moment, fault):
    """The worker dies at the `moment`-th write, or hears that the connection has ended once it is committed."""
    counter = itertools.count(1)
    error = OperationalError("server closed the connection unexpectedly") if fault == FAULTS[2] else PowerCut()

    def fail(_name):
        if next(counter) == moment:
            raise error

    on_each_write(monkeypatch, **{"before" if fault == FAULTS[0] else "after": fail})
    if fault != FAULTS[2]:
        monkeypatch.setattr(leases, "release", lambda run_id, fence: None)


def one_of_each(names, seed=1):
    """A moment for each kind of write, with one fault after the other."""
    draw, faults = random.Random(seed), itertools.cycle(FAULTS[seed % 3 :] + FAULTS[: seed % 3])
    for name in dict.fromkeys(names):
        yield draw.choice([place for place, other in enumerate(names, 1) if other == name]), next(faults)


def all_of_them(names, *faults):
    return itertools.product(range(1, len(names) + 1), faults or FAULTS)


def expire_leases():
    Run.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now() - timedelta(seconds=1))


def transcript(run):
    return [(m.turn, m.seat, m.raw_text, m.text, m.reasoning) for m in run.messages.all()]


def record(run):
    """All that a run comes to, without what is different in every run; what is done side by side has no order."""
    messages = run.messages.select_related("step").order_by("step__key")
    judgments = run.judgments.order_by("turn", "subject", "judge_seat", "id")
    ballots = run.ballots.order_by("turn", "count", "reviewer")
    told = run.events.exclude(type__in=["call_lost", "experiment_state"])
    return {
        "said": [
            (m.step.key, m.seat, m.raw_text, m.text, m.reasoning, json.dumps(m.parsed), m.flags, m.superseded)
            for m in messages
        ],
        "judged": [(j.turn, j.subject, j.judge_seat, j.scores, j.rationale, j.unscored_reason) for j in judgments],
        "ballots": [(b.turn, b.reviewer, b.labels, b.order, b.reading) for b in ballots],
        "cycles": list(run.cycles.order_by("turn").values_list("turn", "setter", "state", "title", "found")),
        "steps": sorted(run.steps.values_list("key", "kind", "purpose", "state")),
        "told": sorted(told.values_list("type", flat=True)),
        "by people": [
            (event.type, event.data["key"], event.data["text"])
            for event in told.filter(type__in=["said", "intervention"])
        ],
    }


def assert_books_balance(run, provider=None):
    """Every request the provider saw is a call of ours; each step was asked again only while it was not recorded."""
    calls = {str(call.pk): call for call in run.calls.select_related("step")}
    for step in run.steps.filter(kind="ask"):
        states = [call.state for call in step.calls.order_by("attempt")]
        assert step.state == Step.State.DONE
        assert states[-1] == Call.State.COMPLETED
        assert set(states[:-1]) <= {Call.State.LOST}
    seqs = list(run.events.values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
    assert run.last_seq == len(seqs)
    assert dict(verify(Run.objects.filter(pk=run.pk))) == {}
    if provider:
        asked = [row["request_id"] for row in provider.ledger() if row["request_id"] in calls]
        assert len(asked) == len(set(asked))
        assert {pk for pk, call in calls.items() if call.state == Call.State.COMPLETED} <= set(asked)
