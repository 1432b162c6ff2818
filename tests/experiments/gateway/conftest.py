"""A provider on loopback that replays bytes exactly as told, and short ways to ask it."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from experiments.gateway import ChatMessage, ChatRequest, Chunk, Client, Completion, Deadlines, guarded_transport

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
HANG_SECONDS = 120.0


@dataclass
class Replay:
    """What the next connections get: `raw` in pieces of `size` bytes, then the connection ends as `then` says."""

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
    url: str = ""
    replay: Replay = field(default_factory=Replay)
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def answers(self, raw: bytes, **how: Any) -> None:
        """The raw HTTP answer, status line included."""
        self.replay = Replay(raw, **how)

    def streams(self, body: bytes, **how: Any) -> None:
        """An event stream with the usual head."""
        self.answers(STREAM_HEAD + body, **how)

    async def sees_the_end(self) -> None:
        """The client has closed the connection; nothing else in a test would."""
        await asyncio.wait_for(self.hung_up.wait(), HANG_SECONDS / 2)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._read_request(reader):
                await self._send(reader, writer)
                if self.replay.then != "keep":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        if self.replay.then == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    async def _read_request(self, reader: asyncio.StreamReader) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        received = Received(head, None)
        length = int(received.headers.get("content-length", 0))
        received.body = json.loads(await reader.readexactly(length)) if length else None
        self.received.append(received)
        return True

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        replay = self.replay
        watch = asyncio.create_task(self._watch(reader)) if replay.then == "hang" or replay.endless else None
        for start in range(0, len(replay.raw), replay.size):
            writer.write(replay.raw[start : start + replay.size])
            await writer.drain()
            await asyncio.sleep(replay.pause)
        while replay.endless and not self.hung_up.is_set():
            writer.write(replay.endless)
            await writer.drain()
            await asyncio.sleep(replay.pause)
        if watch is not None:
            await asyncio.wait([watch], timeout=HANG_SECONDS)
            watch.cancel()

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            await reader.read(1)
        self.hung_up.set()


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
async def provider() -> AsyncIterator[ReplayingProvider]:
    provider = ReplayingProvider()
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    provider.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    yield provider
    provider.hung_up.set()
    server.close()


@pytest.fixture
async def client_of() -> AsyncIterator[Callable[..., Client]]:
    """Builds clients that may use loopback: client_of(url, key)."""
    transport = guarded_transport(allow_private=True)
    yield lambda url, key="sk-canary-0123456789": Client(url, key, transport)
    await transport.aclose()


@pytest.fixture
def asker(provider: ReplayingProvider, client_of: Callable[..., Client]) -> Asker:
    return Asker(client_of(provider.url))


@pytest.fixture
def frame() -> Callable[..., bytes]:
    """One `data:` event: frame("text"), frame(finish="stop"), frame(usage={…})."""

    def build(text: str = "", **fields: Any) -> bytes:
        choice: dict[str, Any] = {"index": 0, "delta": {"content": text} if text else {}}
        choice["finish_reason"] = fields.pop("finish", None)
        payload = {"object": "chat.completion.chunk", "choices": [choice], **fields}
        return b"data: " + json.dumps(payload).encode() + b"\n\n"

    return build


@pytest.fixture
def full_stream(frame: Callable[..., bytes]) -> bytes:
    """A complete and ordinary stream that says "Hello there"."""
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return frame("Hello") + frame(" there") + frame(finish="stop") + frame(usage=usage) + b"data: [DONE]\n\n"


@pytest.fixture
def asker_request() -> Callable[..., ChatRequest]:
    """Builds a request without a provider."""

    def build(**changes: Any) -> ChatRequest:
        return ChatRequest(**{"model": "m", "messages": (ChatMessage("user", "Hi"),)} | changes)

    return build
