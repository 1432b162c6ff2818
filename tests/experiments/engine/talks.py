"""Talks of a researcher with a model, and what was sent in them."""

import hashlib
import json

from experiments.models import Run, Step
from experiments.runs.steering import steering
from experiments.runs.timeline import from_rows, replayed
from tests.making import maker


@maker
def talk(starchamber, start, drive, /, *model, **config):
    run = start(starchamber(*model, **config))
    drive()
    return fresh(run)


@maker
def say(alice, drive, /, run, action, text=""):
    steering.say(run, by=alice, key=pause(run).key, action=action, text=text)
    drive()
    return fresh(run)


def fresh(run):
    return Run.objects.select_related("experiment").get(pk=run.pk)


def pause(run) -> Step:
    return Run.objects.get(pk=run.pk).open_pauses[-1]


def waits(run):
    return (run.state, pause(run).purpose, pause(run).turn)


def said(run):
    return [(m.turn, m.seat, m.superseded) for m in run.messages.order_by("seq")]


def sent(provider, run, key):
    """The messages of a step's last request: what is recorded has the same bytes as what reached the provider."""
    call = run.calls.filter(step__key=key).latest("attempt")
    [entry] = [entry for entry in provider.ledger() if entry["request_id"] == str(call.pk)]
    assert hashlib.sha256(json.dumps(call.request, sort_keys=True).encode()).hexdigest() == entry["body_sha256"]
    return call.request["messages"]


def roles(messages):
    return [message["role"] for message in messages]


def assert_same_page(run):
    run = fresh(run)
    rows, events = from_rows(run), replayed(run.events.order_by("seq"))
    assert [entry.anchor for entry in rows if entry.type != "model_metrics"] == [
        entry.anchor for entry in events if entry.type != "model_metrics"
    ]
