"""One viewer of runs: takes what comes, asks again after a hole, and knows at the end what it has seen."""

import asyncio
import hashlib
import json
import re
import struct
import time
from array import array
from collections import Counter
from collections.abc import Callable

from benchmarks.load import frames

LONGEST = 60_000  # milliseconds that are told apart
STAMP = re.compile(r"\d+\.\d{4} ")
DELTA = b'"type": "message_stream"'


class Seen:
    """What all viewers of a process have seen together. ages: how many stamps were so many milliseconds old."""

    def __init__(self) -> None:
        self.ages = array("L", bytes(array("L").itemsize * LONGEST))
        self.counts: Counter[str] = Counter()
        self.closes: Counter[int] = Counter()
        self.records: dict[str, Counter[str]] = {}

    def age(self, seconds: float) -> None:
        self.ages[min(LONGEST - 1, max(0, int(seconds * 1000)))] += 1

    def as_data(self) -> dict:
        ages = {place: count for place, count in enumerate(self.ages) if count}
        return {"ages": ages, "counts": self.counts, "closes": self.closes, "records": self.records}


class Viewer(asyncio.Protocol):
    """One WebSocket to one run. done is called once, when the run has ended or the socket is gone."""

    def __init__(self, run: str, hello: bytes, seen: Seen, done: Callable[["Viewer"], None]) -> None:
        self.run, self.has_ended, self.closed_by = run, False, None
        self._hello, self._seen, self._done = hello, seen, done
        self._buffer, self._is_open = bytearray(), False
        self.is_answered = asyncio.Event()
        self._seq = 0
        self._record = hashlib.sha256()
        self._texts: dict[str, str] = {}
        self._live: set[str] = set()
        self._asked = 0.0

    # --- the connection ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        transport.write(self._hello)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._is_open and not self._opens():
            return
        for opcode, payload in frames.taken(self._buffer):
            if opcode == frames.TEXT:
                self._take(payload)
            elif opcode == frames.PING:
                self.transport.write(frames.masked(frames.PONG, payload))
            elif opcode == frames.CLOSE:
                self.closed_by = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
                self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_answered.set()
        if not self.has_ended:
            self._seen.closes[self.closed_by or 1006] += 1
        self._done(self)

    def _opens(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        self._is_open = self._buffer.startswith(b"HTTP/1.1 101")
        del self._buffer[: end + 4]
        self.is_answered.set()
        self._seen.counts["refused"] += not self._is_open
        return self._is_open

    # --- what is said ---

    def _take(self, payload: bytes) -> None:
        counts = self._seen.counts
        counts["messages"] += 1
        counts["bytes"] += len(payload)
        message = json.loads(payload)
        if message["type"] == "message_stream":
            self._take_piece(message["data"])
        else:
            self._take_event(message)

    def _take_piece(self, data: dict) -> None:
        call, text = data["call"], data["text"]
        have = self._texts.get(call, "")
        begins = data["offset"]
        if begins > len(have):
            self._seen.counts["holes"] += call in self._live
            self._ask_again()
            return
        self._texts[call] = have[:begins] + text if begins + len(text) >= len(have) else have
        if begins == len(have) and call in self._live:
            now = time.monotonic()
            for stamp in STAMP.findall(text):
                self._seen.age(now - float(stamp))
        if begins:
            self._live.add(call)

    def _take_event(self, envelope: dict) -> None:
        if envelope["seq"] <= self._seq:
            return
        if envelope["seq"] != self._seq + 1:
            self._seen.counts["skipped"] += 1
            self._ask_again()
            return
        self._seq += 1
        self._seen.counts["events"] += 1
        said = envelope["data"].get("raw_text", "") if envelope["type"] == "message_completed" else ""
        if said:
            shown = self._texts.pop(envelope["data"]["call"], "")
            self._seen.counts["healed at the end"] += shown != said
            self._live.discard(envelope["data"]["call"])
        self._record.update(line(envelope["seq"], envelope["type"], said))
        if envelope["type"] == "experiment_stopped":
            self._end()

    def _ask_again(self) -> None:
        """Not more than twice a second, as the page does."""
        if time.monotonic() - self._asked > 0.5:
            self._asked = time.monotonic()
            order = json.dumps({"type": "sync", "after": self._seq}).encode()
            self.transport.write(frames.masked(frames.TEXT, order))

    def _end(self) -> None:
        self.has_ended = True
        self._seen.records.setdefault(self.run, Counter())[self._record.hexdigest()] += 1
        self.transport.write(frames.masked(frames.CLOSE, struct.pack("!H", 1000)))
        self.transport.close()


def line(seq: int, kind: str, said: str) -> bytes:
    """An event as it goes into the record of a run, of which rows and viewers must have the same."""
    return f"{seq} {kind} {said}\n".encode()
