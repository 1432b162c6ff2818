"""Talks of a researcher with a model, and what was sent in them."""

import hashlib
import json

from experiments.models import Call, Event, Judgment, Message, Run, Step
from experiments.runs.steering import steering
from tests.experiments.deliberating import fresh
from tests.experiments.pages.painted import assert_same_page  # noqa: F401 — by this name for all runs with the engine
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


def everything(run):
    """Every row of a run, to compare before and after."""
    return [
        list(model.objects.filter(run=run).order_by("pk").values()) for model in (Step, Call, Message, Judgment, Event)
    ]


def roles(messages):
    return [message["role"] for message in messages]
