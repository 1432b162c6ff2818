"""A provider in memory that replays bytes exactly as told, in a time of its own, and short ways to ask it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpcore
import pytest

from experiments.gateway import ChatMessage, ChatRequest, Chunk, Client, Completion, Deadlines, guarded_transport
from tests.making import maker
from tests.parts.virtual_time import VirtualLoop

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
KEY = "sk-canary-0123456789"


def pytest_asyncio_loop_factories() -> dict[str, Any]:
    """Waiting takes no time, but in system tests."""
    return {"virtual": VirtualLoop}


@dataclass
class Replay:
    """What the next connections get: `raw` in pieces of `size` bytes, each after a pause, and `endless` again and
    again; then the connection ends as `then` says: close, keep, hang or reset.
    """

    raw: bytes = b""
    size: int = 1 << 20
    pause: float = 0.0
    then: str = "close"
    endless: bytes = b""


@dataclass
class Received:
    head: str
    body: Any

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}


@dataclass
class ReplayingProvider:
    """Stands in for the network: every address leads to it. names: what a name is resolved to; others to themselves.
    resolved, connected: what was asked for, and to which addresses a connection was made.
    """

    url: str = "http://127.0.0.1:8080/v1"
    replay: Replay = field(default_factory=Replay)
    received: list[Received] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)
    unreachable: set[str] = field(default_factory=set)
    is_hung_up: bool = False

    def answers(self, raw: bytes, **how: Any) -> None:
        """The raw HTTP answer, status line included."""
        self.replay = Replay(raw, **how)

    def streams(self, body: bytes, **how: Any) -> None:
        """An event stream with the usual head."""
        self.answers(STREAM_HEAD + body, **how)

    def says(self, body: bytes, status: str = "200 OK", headers: bytes = b"") -> None:
        """A whole answer."""
        self.answers(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n" % (status.encode(), headers, len(body)) + body)

    async def connect_tcp(self, host: str, *_args: Any, **_more: Any) -> httpcore.AsyncNetworkStream:
        if host in self.unreachable:
            raise httpcore.ConnectError("connection refused")
        self.connected.append(host)
        return Connection(self)


class Connection(httpcore.AsyncNetworkStream):
    def __init__(self, provider: ReplayingProvider) -> None:
        self._provider = provider
        self._asked = b""
        self._pieces: list[bytes] = []

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's
        self._asked += buffer
        head, end, body = self._asked.partition(b"\r\n\r\n")
        received = Received(head.decode("latin-1"), None)
        length = int(received.headers.get("content-length", 0))
        if end and len(body) == length:
            received.body = json.loads(body) if length else None
            self._provider.received.append(received)
            raw, size = self._provider.replay.raw, self._provider.replay.size
            self._pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
            self._asked = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's
        replay = self._provider.replay
        await asyncio.sleep(replay.pause)
        if self._pieces or replay.endless:
            return self._pieces.pop(0) if self._pieces else replay.endless
        if replay.then == "hang":
            await asyncio.Event().wait()
        if replay.then == "reset":
            raise httpcore.ReadError("connection reset by peer")
        return b""

    async def aclose(self) -> None:
        self._provider.is_hung_up = True

    def get_extra_info(self, info: str) -> Any:
        return False if info == "is_readable" else None


@dataclass
class Asker:
    """A client of the replaying provider; keeps what came."""

    client: Client
    chunks: list[Chunk] = field(default_factory=list)

    def request(self, **changes: Any) -> ChatRequest:
        deadlines = Deadlines(connect=60, first_byte=60, progress=60, total=120)
        usual: dict[str, Any] = {"model": "m", "messages": (ChatMessage("user", "Hi"),), "deadlines": deadlines}
        return ChatRequest(**usual | changes)

    async def stream(self, **changes: Any) -> Completion:
        self.chunks = []
        async for item in self.client.stream(self.request(**changes)):
            if isinstance(item, Completion):
                return item
            self.chunks.append(item)
        raise AssertionError("the stream ended without a completion")

    @property
    def text(self) -> str:
        return "".join(chunk.text for chunk in self.chunks)

    @property
    def reasoning(self) -> str:
        return "".join(chunk.reasoning for chunk in self.chunks)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> ReplayingProvider:
    provider = ReplayingProvider()

    async def getaddrinfo(_loop: Any, host: str, port: int, **_more: Any) -> list[Any]:
        provider.resolved.append(host)
        addresses = provider.names.get(host, [host])
        if not addresses:
            raise socket.gaierror("no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", lambda _, host, *more: provider.connect_tcp(host, *more))
    return provider


@pytest.fixture
async def client_of() -> AsyncIterator[Callable[..., Client]]:
    """Builds clients that may use loopback: client_of(url, key)."""
    transport = guarded_transport(allow_private=True)
    yield lambda url, key=KEY: Client(url, key, transport)
    await transport.aclose()


@pytest.fixture
def asker(provider: ReplayingProvider, client_of: Callable[..., Client]) -> Asker:
    return Asker(client_of(provider.url))


@maker
def frame(text: str = "", **fields: Any) -> bytes:
    """One `data:` event: frame("text"), frame(finish="stop"), frame(usage={…})."""
    choice: dict[str, Any] = {"index": 0, "delta": {"content": text} if text else {}}
    choice["finish_reason"] = fields.pop("finish", None)
    payload = {"object": "chat.completion.chunk", "choices": [choice], **fields}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


@pytest.fixture
def full_stream(frame: Callable[..., bytes]) -> bytes:
    """A complete and ordinary stream that says "Hello there"."""
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return frame("Hello") + frame(" there") + frame(finish="stop") + frame(usage=usage) + b"data: [DONE]\n\n"


@maker
def asker_request(**changes: Any) -> ChatRequest:
    """Builds a request without a provider."""
    return ChatRequest(**{"model": "m", "messages": (ChatMessage("user", "Hi"),)} | changes)
