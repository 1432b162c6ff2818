"""A provider in memory that replays bytes exactly as told, in a time of its own, and short ways to ask it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from experiments.gateway import ChatMessage, ChatRequest, Chunk, Client, Completion, Deadlines, guarded_transport
from tests.making import maker
from tests.parts.virtual_time import VirtualLoop

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
KEY = "sk-canary-0123456789"
SYSTEM_BUFFER = 1 << 16  # bytes that arrive while reading is paused


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
        self.replay = Replay(raw, **how)

    def streams(self, body: bytes, **how: Any) -> None:
        self.answers(STREAM_HEAD + body, **how)

    def says(self, body: bytes, status: str = "200 OK", headers: bytes = b"") -> None:
        self.answers(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n" % (status.encode(), headers, len(body)) + body)

    async def sock_connect(self, _loop: Any, _socket: Any, address: tuple[Any, ...]) -> None:
        if address[0] in self.unreachable:
            raise ConnectionRefusedError("connection refused")
        self.connected.append(address[0])

    async def create_connection(self, loop: Any, protocol_of: Callable[[], asyncio.Protocol], **_more: Any) -> Any:
        protocol = protocol_of()
        connection = Connection(self, protocol, loop)
        protocol.connection_made(connection)
        return connection, protocol


class Connection(asyncio.Transport):
    """What asyncio has a socket for: takes a request, and plays what the provider replays."""

    def __init__(self, provider: ReplayingProvider, protocol: asyncio.Protocol, loop: VirtualLoop) -> None:
        super().__init__()
        self._provider, self._protocol, self._loop = provider, protocol, loop
        self._asked = b""
        self._is_closing = False
        self._playing: asyncio.Task[None] | None = None
        self._may_read = asyncio.Event()
        self._may_read.set()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._asked += data
        head, end, body = self._asked.partition(b"\r\n\r\n")
        received = Received(head.decode("latin-1"), None)
        length = int(received.headers.get("content-length", 0))
        if end and len(body) == length:
            received.body = json.loads(body) if length else None
            self._provider.received.append(received)
            self._asked = b""
            self._playing = self._loop.create_task(self._play(self._provider.replay))

    async def _play(self, replay: Replay) -> None:
        pieces = [replay.raw[start : start + replay.size] for start in range(0, len(replay.raw), replay.size)]
        arrived = b""
        while pieces or replay.endless:
            await asyncio.sleep(replay.pause)
            arrived += pieces.pop(0) if pieces else replay.endless
            if self._may_read.is_set() or len(arrived) >= SYSTEM_BUFFER or not (pieces or replay.endless):
                await self._may_read.wait()
                self._protocol.data_received(arrived)
                arrived = b""
        await asyncio.sleep(replay.pause)
        if replay.then in ("close", "reset"):
            self._lost(ConnectionResetError("connection reset by peer") if replay.then == "reset" else None)

    def _lost(self, error: Exception | None = None) -> None:
        if not self._is_closing:
            self._is_closing = self._provider.is_hung_up = True
            self._loop.call_soon(self._protocol.connection_lost, error)

    def close(self) -> None:
        if self._playing and self._playing is not asyncio.current_task(self._loop):
            self._playing.cancel()
        self._lost()

    abort = close

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._may_read.clear()

    def resume_reading(self) -> None:
        self._may_read.set()


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
    monkeypatch.setattr(VirtualLoop, "sock_connect", lambda *how: provider.sock_connect(*how))
    monkeypatch.setattr(VirtualLoop, "create_connection", lambda *how, **more: provider.create_connection(*how, **more))
    return provider


@pytest.fixture
async def client_of() -> AsyncIterator[Callable[..., Client]]:
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
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return frame("Hello") + frame(" there") + frame(finish="stop") + frame(usage=usage) + b"data: [DONE]\n\n"


@maker
def asker_request(**changes: Any) -> ChatRequest:
    return ChatRequest(**{"model": "m", "messages": (ChatMessage("user", "Hi"),)} | changes)
