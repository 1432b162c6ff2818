"""What really reached the provider: the other side's book, to compare with our own."""

import json
import threading
import time
from collections import Counter, deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

MAX_ENTRIES: Final = 50_000


@dataclass(slots=True)
class Entry:
    """One chat completion request. Times are unix seconds.

    outcome: open while it runs; then finished, client_closed, cut, reset, stalled, failed_<status>, another failure
    that was asked for, or unfinished (the server stopped). closed_after: seconds from reception until the client left
    early, None where it did not.
    """

    n: int
    request_id: str
    body_sha256: str
    received: float
    model: str = ""
    first_byte: float | None = None
    ended: float | None = None
    outcome: str = "open"
    tokens_sent: int = 0
    closed_after: float | None = None


class Ledger:
    """Kept in memory, and appended to a JSONL file as each request ends."""

    def __init__(self, path: Path | None = None) -> None:
        self._entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self._failed: Counter[str] = Counter()
        self._n = 0
        self._path = path
        self._lock = threading.Lock()

    def open(self, *, request_id: str, body_sha256: str) -> Entry:
        with self._lock:
            self._n += 1
            entry = Entry(n=self._n, request_id=request_id, body_sha256=body_sha256, received=time.time())
            self._entries.append(entry)
        return entry

    def close(self, entry: Entry, outcome: str, *, client_left: bool = False) -> None:
        """The first word counts: an entry that has ended stays as it is."""
        if entry.ended is not None:
            return
        entry.ended = time.time()
        entry.outcome = outcome
        if client_left:
            entry.closed_after = round(entry.ended - entry.received, 4)
        if self._path is not None:
            with self._lock, self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(entry)) + "\n")

    def may_fail(self, body_sha256: str, times: int | None) -> bool:
        """Whether this body has a failure left; takes it."""
        if times is None:
            return True
        self._failed[body_sha256] += 1
        return self._failed[body_sha256] <= times

    def rows(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(entry) for entry in self._entries]

    def clear(self) -> None:
        """Forgets the entries and how often each body has failed; the file is kept."""
        with self._lock:
            self._entries.clear()
            self._failed.clear()
            self._n = 0
