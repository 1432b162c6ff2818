"""The WebSocket of the public arena: both answers as they come, to who asked and to nobody else."""

import json

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arenasite.asgi import application
from experiments.models import Call, Output, Step
from leaderboard.arena import battles, live
from leaderboard.models import ArenaBattle
from tests.leaderboard.test_public_arena import CANARY, LEFT, RIGHT, ask, open_arena

__all__ = ["open_arena"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.05)


def begun(visitor):
    """A battle that a visitor has begun, with two calls under way."""
    battle = ArenaBattle.objects.get(pk=ask(visitor).split("/")[-2])
    model = battle.run.experiment.participants.first().model
    for number, task in enumerate(battle.run.overrides["tasks"]):
        key = f"output/{task['contestant']}/{battle.sample_id}"
        step = Step.objects.create(run=battle.run, key=key, kind="ask", purpose="output", seat=task["seat"])
        Call.objects.create(run=battle.run, step=step, attempt=1, model=model, request={}, text=f"Once {number}")
    return battle


def socket_of(battle, visitor=None):
    headers = [(b"host", b"localhost:8000"), (b"origin", b"http://localhost:8000")]
    if visitor:
        name = settings.SESSION_COOKIE_NAME
        headers.append((b"cookie", f"{name}={visitor.cookies[name].value}".encode()))
    return WebsocketCommunicator(application, f"/ws/public-arena/{battle.pk}/", headers=headers)


async def test_who_asked_gets_both_answers_as_they_come_and_no_name(open_arena):
    await sync_to_async(open_arena)()
    visitor = Client()
    battle = await sync_to_async(begun)(visitor)
    socket = socket_of(battle, visitor)

    assert (await socket.connect(timeout=30))[0]
    first = await socket.receive_from(timeout=30)
    assert await socket.receive_nothing(timeout=0.3), "nothing new, nothing sent"
    await sync_to_async(Call.objects.filter(text="Once 0").update)(text="Once upon a time")
    second = await socket.receive_from(timeout=30)
    await sync_to_async(finish)(battle)
    last = await socket.receive_from(timeout=30)
    end = await socket.receive_output(timeout=30)

    assert {side["text"] for side in json.loads(first)["sides"]} == {"Once 0", "Once 1"}
    assert "Once upon a time" in {side["text"] for side in json.loads(second)["sides"]}
    told = json.loads(last)
    assert told["state"] == "ready"
    assert all("<strong>The end</strong>" in side["html"] for side in told["sides"])
    assert end["type"] == "websocket.close"
    assert not any(name in message for message in (first, second, last) for name in (LEFT, RIGHT, "contestant", CANARY))


def finish(battle):
    for task in battle.run.overrides["tasks"]:
        Output.objects.create(sample=battle.sample, contestant_id=task["contestant"], text="**The end**.")


async def test_nobody_else_is_let_in_and_a_socket_that_has_gone_is_looked_after_no_longer(open_arena):
    await sync_to_async(open_arena)()
    visitor, other = Client(), Client()
    battle = await sync_to_async(begun)(visitor)
    await sync_to_async(begun)(other)

    for stranger in (None, other):
        assert (await socket_of(battle, stranger).connect(timeout=30))[0] is False
    socket = socket_of(battle, visitor)
    assert (await socket.connect(timeout=30))[0]
    await socket.receive_from(timeout=30)
    await socket.disconnect(timeout=30)
    assert not live.watch()._waiting


def test_many_battles_take_no_more_queries_than_one(open_arena):
    open_arena(battles_per_hour=100)
    keys = [begun(Client()).pk for _ in range(4)]

    def queries(some):
        with CaptureQueriesContext(connections["default"]) as asked, transaction.atomic():
            assert set(battles.news_of(some)) == set(some)
        return len(asked)

    assert queries(keys) == queries(keys[:1])
