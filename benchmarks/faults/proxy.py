"""Stands between the platform and its provider as a process of its own: spoils answers, and remembers what it said.

Every request is forwarded as HTTP/1.0, so that what comes back is the bare stream; a client that leaves is left by us.
`GET /book` tells what has come: one entry per request with the text that was handed to the client, and when.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import socket
import struct
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.faults import spoiling
from benchmarks.faults.spoiling import Deck, Spoiling

CHUNK = 16 << 10
MOST_HEAD = 64 << 10


@dataclass(slots=True)
class Passed:
    """One request. texts: [unix seconds, text] as it was handed to the client. forwarded: the provider was asked.
    whole: the provider's answer came through to its end, unspoiled. left: when the client had gone.
    """

    request_id: str
    body_sha256: str
    at: float
    fault: str = ""
    forwarded: bool = False
    whole: bool = False
    left: float | None = None
    texts: list[tuple[float, str]] = field(default_factory=list)


@dataclass(slots=True)
class Proxy:
    upstream: str
    deck: Deck
    book: list[Passed] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head, body = await _request(reader)
            if head.startswith(b"GET /book"):
                writer.write(_json([asdict(passed) for passed in self.book]))
            elif head.startswith(b"POST"):
                await self._complete(head, body, reader, writer)
            else:
                await self._relay(head, body, writer, None, None)
            await writer.drain()
        writer.close()

    async def _complete(
        self, head: bytes, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        sha = hashlib.sha256(body).hexdigest()
        drawn = self.deck.deal(sha, self.times[sha])
        self.times[sha] += 1
        passed = Passed(_header(head, b"x-client-request-id"), sha, time.time(), drawn.kind if drawn else "")
        self.book.append(passed)
        answering = asyncio.create_task(self._answer(head, body, writer, passed, drawn))
        leaving = asyncio.create_task(reader.read(1))  # nothing more is asked on this connection: its end is a leave
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            passed.left = time.time()
        for task in (answering, leaving):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await task

    async def _answer(
        self, head: bytes, body: bytes, writer: asyncio.StreamWriter, passed: Passed, drawn: Spoiling | None
    ) -> None:
        if drawn is None or drawn.kind in spoiling.BROKEN:
            passed.forwarded = True
            await self._relay(head, body, writer, passed, drawn)
        elif drawn.kind in spoiling.TURNED_AWAY:
            writer.write(spoiling.refusal(drawn.kind))
            await writer.drain()
        else:
            await _replace(writer, drawn.kind)

    async def _relay(
        self, head: bytes, body: bytes, writer: asyncio.StreamWriter, passed: Passed | None, drawn: Spoiling | None
    ) -> None:
        """Ask the provider and hand on what it says, as far as it is to come through."""
        address = urlsplit(self.upstream)
        ours, theirs = await asyncio.open_connection(address.hostname, address.port)
        try:
            theirs.write(_downgraded(head) + body)
            await self._hand_on(ours, writer, passed, drawn)
        finally:
            theirs.close()

    async def _hand_on(
        self, ours: asyncio.StreamReader, writer: asyncio.StreamWriter, passed: Passed | None, drawn: Spoiling | None
    ) -> None:
        witness, left = Witness(), drawn.after if drawn else None
        while data := await ours.read(CHUNK):
            if left is not None and len(data) > left:
                data, is_last = data[:left], True
            else:
                is_last = False
            writer.write(data)
            await writer.drain()
            if passed is not None and (text := witness.take(data)):
                passed.texts.append((time.time(), text))
            left = None if left is None else left - len(data)
            if is_last and drawn is not None:
                if await _spoil(writer, drawn):
                    return
                left = None if drawn.kind == "stall" else 40
        if passed is not None:
            passed.whole = drawn is None or drawn.kind in ("stall", "slow")


class Witness:
    """Reads the text out of a stream of events, as our own provider writes them."""

    def __init__(self) -> None:
        self._rest = b""
        self._in_body = False

    def take(self, data: bytes) -> str:
        self._rest += data
        if not self._in_body:
            _head, mark, body = self._rest.partition(b"\r\n\r\n")
            if not mark:
                return ""
            self._in_body, self._rest = True, body
        *lines, self._rest = self._rest.split(b"\n")
        return "".join(map(_text, lines))


def _text(line: bytes) -> str:
    if not line.startswith(b"data: {"):
        return ""
    choices = json.loads(line[6:]).get("choices") or [{}]
    return str(choices[0].get("delta", {}).get("content") or "")


async def _spoil(writer: asyncio.StreamWriter, drawn: Spoiling) -> bool:
    """Whether that was the end of the answer."""
    if drawn.kind in ("stall", "slow"):
        await asyncio.sleep(drawn.seconds if drawn.kind == "stall" else drawn.seconds / 20)
        return False
    if drawn.kind == "garbage":
        writer.write(b"\n\n" + spoiling.GARBAGE)
        await writer.drain()
    elif drawn.kind == "reset":
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    return True


async def _replace(writer: asyncio.StreamWriter, kind: str) -> None:
    if kind == "html":
        writer.write(spoiling.head("text/html") + spoiling.HTML)
    elif kind == "gzip_bomb":
        writer.write(spoiling.head("text/event-stream", "gzip") + spoiling.bomb())
    else:
        writer.write(spoiling.head("text/event-stream"))
        event = spoiling.endless_event()
        pieces = [event.removesuffix(b'"}, "finish_reason": null}]}\n\n')] * 80 if kind == "huge_event" else None
        for number in range(spoiling.ENDLESS_BYTES // len(event)):
            if pieces is not None and number >= len(pieces):
                break
            writer.write(pieces[number] if pieces else event)
            await writer.drain()
    await writer.drain()


async def _request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(_header(head, b"content-length") or 0)
    return head, await reader.readexactly(length)


def _header(head: bytes, name: bytes) -> str:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip().decode("latin-1")
    return ""


def _downgraded(head: bytes) -> bytes:
    """The same request in HTTP/1.0: the answer comes in one piece and ends with the connection."""
    first, _, rest = head.partition(b"\r\n")
    lines = [line for line in rest.split(b"\r\n") if not line.lower().startswith((b"connection:", b"accept-encoding:"))]
    return first.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n" + b"\r\n".join(lines)


def _json(value: Any) -> bytes:
    body = json.dumps(value).encode()
    return spoiling.head("application/json") + body


async def main(options: argparse.Namespace) -> None:
    only = tuple(kind for kind in options.only.split(",") if kind)
    proxy = Proxy(options.upstream, Deck(options.seed, only, share=options.share, stall=options.stall))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", options.port, limit=MOST_HEAD)
    draft = options.port_file.with_suffix(".draft")
    draft.write_text(str(server.sockets[0].getsockname()[1]))
    draft.replace(options.port_file)
    async with server:
        await server.serve_forever()


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults.proxy")
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--share", type=float, required=True)
    parser.add_argument("--stall", type=float, required=True)
    parser.add_argument("--only", default=",".join(spoiling.KINDS))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    asyncio.run(main(parse(sys.argv[1:])))
