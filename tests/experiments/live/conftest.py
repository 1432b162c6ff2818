"""Viewers of runs: WebSockets to the ASGI application, with a real database and a real Redis."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
import redis
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections, transaction
from django.test import Client

from accounts.tokens import create_token
from arenasite.asgi import application
from experiments.engine.driver import Driver
from experiments.engine.events import emit, group_of
from experiments.models import Event, Run
from experiments.workflows.base.events import Stored
from tests.making import maker

ORIGIN = b"http://localhost:8000"
LONG = 80  # seconds that a busy machine may take


class Viewer:
    """One WebSocket to a run, as a browser or a program opens it."""

    def __init__(self, run_id: UUID | str, query: str = "", **headers: bytes) -> None:
        sent = [(name.encode(), value) for name, value in {"host": b"localhost:8000", **headers}.items() if value]
        self.socket = WebsocketCommunicator(application, f"/ws/runs/{run_id}/{query}", headers=sent)
        self.is_open = False

    async def open(self) -> bool:
        self.is_open, _code = await self.socket.connect(timeout=LONG)
        return self.is_open

    async def next(self, seconds: float = LONG) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=seconds))
        return message

    async def take(self, count: int, seconds: float = LONG) -> list[dict[str, Any]]:
        return [await self.next(seconds) for _ in range(count)]

    async def events(self, count: int, seconds: float = LONG) -> list[int]:
        """The numbers of the next `count` messages, which have to be events."""
        return [message["seq"] for message in await self.take(count, seconds)]

    async def hears_nothing(self, seconds: float = 0.3) -> bool:
        return bool(await self.socket.receive_nothing(timeout=seconds, interval=0.02))

    async def closing_code(self, seconds: float = LONG) -> int:
        """The code with which the server closes; what was sent before is passed over."""
        until = time.monotonic() + seconds
        while True:
            message = await self.socket.receive_output(timeout=max(0.01, until - time.monotonic()))
            if message["type"] == "websocket.close":
                self.is_open = False
                return int(message.get("code", 1000))

    async def leave(self) -> None:
        await self.socket.disconnect(timeout=LONG)


def drive_runs() -> None:
    """Drives all that is queued, on a thread other than the viewers'."""
    try:
        Driver(threading.Event()).drive(0.1)
    finally:
        connections.close_all()


def new_session(person: Any) -> bytes:
    """A cookie of a browser in which the person has signed in."""
    browser = Client()
    browser.force_login(person)
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={browser.cookies[name].value}".encode()


@pytest.fixture
def alices_session(alice: Any) -> bytes:
    return new_session(alice)


@pytest.fixture
def alices_token(alice: Any) -> bytes:
    return f"Bearer {create_token(alice)}".encode()


@pytest.fixture
def run(transactional_db: None, arena: Any, start: Any) -> Run:
    """A run of Alice's with one event, that nobody drives."""
    begun: Run = start(arena())
    return begun


@pytest.fixture
async def watch_run(alices_session: bytes) -> AsyncIterator[Callable[..., Awaitable[Viewer]]]:
    """Opens a viewer of a run; in Alice's browser unless told otherwise. All of them leave at the end."""
    viewers: list[Viewer] = []

    async def open_viewer(run: Run | UUID, query: str = "", **headers: bytes) -> Viewer:
        by_browser = {"origin": ORIGIN, "cookie": alices_session}
        viewer = Viewer(run.pk if isinstance(run, Run) else run, query, **(headers or by_browser))
        viewers.append(viewer)
        await viewer.open()
        return viewer

    yield open_viewer
    for viewer in viewers:
        if not viewer.socket.future.done():
            await viewer.leave()
    await get_channel_layer().flush()


@pytest.fixture
def happens(run: Run) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    """Makes events happen in the run, in a process of their own as it were; returns their envelopes."""

    async def happen(*kinds: str, run: Run = run, silently: bool = False, **data: Any) -> list[dict[str, Any]]:
        facts = [Stored(type=kind, stored=data) for kind in kinds]
        quiet = {"announce": lambda event: None} if silently else {}

        def commit() -> list[dict[str, Any]]:
            with transaction.atomic():
                emit(run.pk, *facts, **quiet)
            newest = Event.objects.filter(run=run).order_by("-seq")[: len(facts)]
            return [event.envelope for event in reversed(newest)]

        def in_a_thread_of_its_own() -> list[dict[str, Any]]:
            try:
                return commit()
            finally:
                connections.close_all()

        return await asyncio.to_thread(in_a_thread_of_its_own)

    return happen


@maker
def subscriptions(redis_server: Any, /, run: Run) -> int:
    """How many subscriptions Redis holds for the viewers of a run."""
    client = redis.Redis(unix_socket_path=str(redis_server.socket))
    channel = f"arena__group__{group_of(run.pk)}"
    return int(dict(client.pubsub_numsub(channel))[channel.encode()])


@pytest.fixture
def no_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks after the viewers: what they get comes by the wire."""
    monkeypatch.setattr("experiments.runs.live.viewers.LOOK_SECONDS", 3600)


@pytest.fixture
def quick_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look after the viewers comes every tenth of a second instead of every three."""
    monkeypatch.setattr("experiments.runs.live.viewers.LOOK_SECONDS", 0.1)
