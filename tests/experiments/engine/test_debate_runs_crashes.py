"""Whenever the power is cut, the debate goes on as if nothing had happened: no word is lost, none is said twice."""

import itertools

import pytest
from django.utils import timezone

from experiments.engine import leases, pauses, playing, recording
from experiments.models import Call, Run, Step
from experiments.steering import steering
from tests.experiments.debating import pause

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

WRITERS = [
    *((recording, name) for name in ("record_facts", "open_call", "close_call")),
    *((pauses, name) for name in ("open_pause", "park", "rest")),
    (playing, "finish"),
]
SAYS = {
    "prompt": ("send", "How should four groups share one telescope?"),
    "round/1/next": ("round", "There are ten clear nights."),
    "round/2/next": ("summarize", ""),
}


class PowerCut(BaseException):
    """Nothing in the engine may catch this."""


def on_each_write(monkeypatch, before):
    for module, name in WRITERS:
        original = getattr(module, name)

        def write(*args, original=original, **kwargs):
            before()
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, write)


def crash_before(monkeypatch, moment):
    counter = itertools.count(1)

    def cut():
        if next(counter) == moment:
            raise PowerCut

    on_each_write(monkeypatch, cut)
    monkeypatch.setattr(leases, "release", lambda run_id, fence: None)


def operate(stage, run):
    """Say at each pause what is planned there, until the summary is there."""
    run = stage.go_on(run)
    while run.state != Run.State.COMPLETED:
        here = pause(run)
        action, text = SAYS[here.key]
        steering.say(run, by=stage.person, key=here.key, action=action, text=text)
        run = stage.go_on(run)
    return run


def record(run):
    """What was said, found and told, without what is different in every run."""
    messages = [
        (m.step.key, m.turn, m.seat, m.raw_text, m.text, m.parsed, m.flags)
        for m in run.messages.select_related("step").order_by("step__id")
    ]
    steps = list(run.steps.order_by("id").values_list("key", "kind", "purpose", "state"))
    kept = [(step.key, step.data) for step in run.steps.filter(purpose="stage_started")]
    return messages, steps, kept


def told(run):
    return [event.type for event in run.events.order_by("seq") if event.type not in ("call_lost", "experiment_state")]


def assert_books_balance(run):
    for step in run.steps.filter(kind="ask"):
        states = [call.state for call in step.calls.order_by("attempt")]
        assert (step.state, states[-1]) == (Step.State.DONE, Call.State.COMPLETED)
        assert set(states[:-1]) <= {Call.State.LOST}
    assert list(run.events.values_list("seq", flat=True)) == list(range(1, run.last_seq + 1))


def test_a_power_cut_before_any_write_of_two_rounds_gives_the_same_record(debate, start, monkeypatch, stage):
    experiment = debate(mode="manual", rounds=2)
    counter = itertools.count()
    with monkeypatch.context() as patch:
        on_each_write(patch, lambda: next(counter))
        undisturbed = operate(stage, start(experiment))
    writes = next(counter)
    assert writes > 30

    for moment in range(1, writes + 1):
        run = start(experiment)
        with monkeypatch.context() as patch:
            crash_before(patch, moment)
            with pytest.raises(PowerCut):
                operate(stage, run)
        passed = timezone.now() - timezone.timedelta(seconds=1)
        Run.objects.filter(lease_until__isnull=False).update(lease_until=passed)
        run = operate(stage, run)

        assert record(run) == record(undisturbed), f"power cut before write {moment}"
        assert told(run) == told(undisturbed)
        assert_books_balance(run)
