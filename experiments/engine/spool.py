"""A caller's spool: a file with what its calls have come to, written before it is in the database. When the caller has
died, whoever finds its lock free copies into the database what is missing there.

A record is its length and CRC32, 4 bytes each, and a JSON list: ["begun", call], ["text", call, text, reasoning] (what
came since the one before), ["answer", call, answer]. Text was freed from keys before it comes here.
"""

import json
import logging
import os
import struct
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Length, Now

from experiments.engine import wakeups
from experiments.engine.life_locks import LifeLock
from experiments.engine.orders import UNSENT
from experiments.models import Call, Caller, HandedCall

logger = logging.getLogger(__name__)

MOST_BYTES = 64 << 20  # of a file; then what is settled is left out of it
HEAD = struct.Struct("<II")


def directory() -> Path:
    return Path(settings.DATA_DIR) / "callers"


class Spool:
    """Any thread may write. A spool that cannot be written to is removed: a call whose beginning is missing in it would
    be taken for one that was not sent.
    """

    def __init__(self, caller_id: UUID) -> None:
        self._path = _path(caller_id)
        self._lock = threading.Lock()
        self._kept: dict[UUID, list[bytes]] = defaultdict(list)  # the records of calls that are not settled
        self._size = 0
        self._file: int | None = None
        with self._guarded():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def begun(self, call_id: UUID) -> None:
        """To be written before anything is sent."""
        self._write(call_id, "begun")

    def text(self, call_id: UUID, text: str, reasoning: str) -> None:
        """Of a call that was settled meanwhile, nothing is written any more."""
        self._write(call_id, "text", text, reasoning)

    def answer(self, call_id: UUID, answer: str) -> None:
        self._write(call_id, "answer", answer)

    def settled(self, call_ids: Iterable[UUID]) -> None:
        """The database has what became of them."""
        with self._lock:
            for call_id in call_ids:
                self._kept.pop(call_id, None)
            if self._size > MOST_BYTES and self._file is not None:
                self._rewrite()

    def sync(self) -> None:
        """What was written stays there when the machine loses power."""
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file)

    def remove(self) -> None:
        with self._lock:
            self._end()

    def _write(self, call_id: UUID, kind: str, *words: str) -> None:
        body = json.dumps([kind, str(call_id), *words]).encode()
        record = HEAD.pack(len(body), zlib.crc32(body)) + body
        with self._lock, self._guarded():
            if kind == "text" and call_id not in self._kept:
                return
            self._kept[call_id].append(record)
            self._append(record)

    def _append(self, data: bytes) -> None:
        if self._file is not None:
            if os.write(self._file, data) != len(data):
                raise OSError("no space is left")
            self._size += len(data)

    def _rewrite(self) -> None:
        old, self._size = self._file, 0
        with self._guarded():
            draft = self._path.with_suffix(".draft")
            self._file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            for records in self._kept.values():
                self._append(b"".join(records))
            draft.rename(self._path)
        if old is not None:
            os.close(old)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            logger.error("the spool cannot be written to (%s): calls are lost if this caller dies", error)
            self._end()

    def _end(self) -> None:
        for path in (self._path, self._path.with_suffix(".draft")):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        if self._file is not None:
            os.close(self._file)
            self._file = None


@dataclass(slots=True)
class Spooled:
    """What a spool has of its calls."""

    begun: set[UUID] = field(default_factory=set)
    texts: dict[UUID, tuple[str, str]] = field(default_factory=dict)
    answers: dict[UUID, str] = field(default_factory=dict)


def read(path: Path) -> Spooled:
    """A last record that was not written to its end is left out. Raises OSError."""
    found = Spooled()
    for kind, call, *words in _records(path.read_bytes()):
        call_id = UUID(call)
        if kind == "begun":
            found.begun.add(call_id)
        elif kind == "text":
            text, reasoning = found.texts.get(call_id, ("", ""))
            found.texts[call_id] = (text + words[0], reasoning + words[1])
        else:
            found.answers[call_id] = words[0]
    return found


def _records(data: bytes) -> Iterator[list[str]]:
    at = 0
    while len(data) - at > HEAD.size:
        length, checksum = HEAD.unpack_from(data, at)
        at += HEAD.size
        body = data[at : at + length]
        if not length or len(body) < length or zlib.crc32(body) != checksum:
            return
        yield json.loads(body)
        at += length


# --- the heirs ---


def inherit() -> None:
    """From callers of this machine that have died. Raises database errors; it can be repeated."""
    locks = LifeLock(directory(), "")
    for name in (dead := locks.dead()):
        _take_over(UUID(name), is_proven=True)
    locks.forget(dead)


def inherit_orphans() -> None:
    """From callers that no lock tells of, as after the machine was started anew, once their lease is over."""
    locked = {path.name.split("@")[0] for path in directory().glob("*.lock")}
    names = [path.stem for path in directory().glob("*.spool") if path.stem not in locked]
    for caller_id in Caller.objects.filter(pk__in=names, seen_until__lt=Now()).values_list("pk", flat=True):
        _take_over(caller_id, is_proven=False)


def _take_over(caller_id: UUID, *, is_proven: bool) -> None:
    """is_proven: nothing that was written can be missing, so that what was not begun was not sent."""
    path = _path(caller_id)
    try:
        found: Spooled | None = read(path)
    except OSError:
        found = None
    with transaction.atomic():
        mine = HandedCall.objects.filter(caller=caller_id, answered__isnull=True)
        if found:
            for call_id, answer in sorted(found.answers.items()):
                mine.filter(pk=call_id).update(answer=answer, answered=Now())
            for call_id in mine.order_by("pk").values_list("pk", flat=True):
                _save_longer(call_id, *found.texts.get(call_id, ("", "")))
            if is_proven:
                unsent = mine.exclude(pk__in=found.begun)
                unsent.filter(stop_requested=True).update(answer=UNSENT, answered=Now())
                unsent.filter(stop_requested=False).update(caller=None)
        Caller.objects.filter(pk=caller_id).update(died=True)
    path.unlink(missing_ok=True)
    logger.warning("caller=%s has died; %s answers were in its spool", caller_id, len(found.answers) if found else "no")
    wakeups.wake(wakeups.ANSWERS)
    wakeups.wake(wakeups.CALLS)


def _save_longer(call_id: UUID, text: str, reasoning: str) -> None:
    row = Call.objects.filter(pk=call_id, state=Call.State.SENT)
    row.annotate(length=Length("text")).filter(length__lt=len(text)).update(text=text)
    row.annotate(length=Length("reasoning")).filter(length__lt=len(reasoning)).update(reasoning=reasoning)


def _path(caller_id: UUID) -> Path:
    return directory() / f"{caller_id}.spool"
