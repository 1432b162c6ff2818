"""Bytes of an event stream become events. Pure and incremental: any split of the bytes gives the same events."""

from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event. No data means a sign of life: a comment line or an empty `data:` frame."""

    data: str = ""
    name: str = ""


KEEP_ALIVE = Event()


class Parser:
    """Server-sent events as the WHATWG specification has them, and as servers really write them.

    Beyond the specification: a comment is reported as a keep-alive at once, `error: …` as a field name becomes an event
    named `error` (llama.cpp), and `close()` dispatches what no blank line ended. Lines end with CR, LF or CRLF only:
    `str.splitlines` would also split at U+2028, U+2029 and U+0085, which are legal inside JSON.

    limit_bytes: the largest event. When it is exceeded `overflowed` becomes true and everything later is ignored; the
    events before it are still returned. `strange`: a line that is no field was seen, so this may be no event stream.
    """

    def __init__(self, limit_bytes: int = 1 << 20) -> None:
        self._limit = limit_bytes
        self._tail = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = ""
        self._first_line = True
        self._after_cr = False
        self._events: list[Event] = []
        self.overflowed = False
        self.strange = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Takes the next bytes, of any length, and returns the events that they complete."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        for line in chunk.splitlines(keepends=True):
            if self.overflowed:
                break
            self._take(line)
        self._after_cr = self._after_cr or chunk.endswith(b"\r")
        return self._drain()

    def close(self) -> list[Event]:
        """The events that the end of the stream completes."""
        if not self.overflowed:
            self._take(b"\n")
            self._dispatch()
        return self._drain()

    def _take(self, line: bytes) -> None:
        self._tail += line
        if self._data_bytes + len(self._tail) > self._limit:
            self.overflowed = True
            self._tail.clear()
        elif line.endswith((b"\n", b"\r")):
            whole = bytes(self._tail).rstrip(b"\r\n")
            self._tail.clear()
            self._line(whole)

    def _line(self, line: bytes) -> None:
        if self._first_line:
            line = line.removeprefix(BOM)
            self._first_line = False
        if not line:
            self._dispatch()
        elif line.startswith(b":"):
            self._events.append(KEEP_ALIVE)
        else:
            field, _, value = line.partition(b":")
            self._field(field, value.removeprefix(b" "))

    def _field(self, field: bytes, value: bytes) -> None:
        if field in (b"data", b"error"):
            self._data.append(value)
            self._data_bytes += len(value) + 1
        if field == b"error":
            self._name = "error"
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field not in (b"data", b"id", b"retry"):
            self.strange = True

    def _dispatch(self) -> None:
        if self._data:
            data = b"\n".join(self._data).decode("utf-8", "replace")
            self._events.append(Event(data, self._name) if data else KEEP_ALIVE)
            self._data = []
            self._data_bytes = 0
        self._name = ""

    def _drain(self) -> list[Event]:
        events, self._events = self._events, []
        return events
