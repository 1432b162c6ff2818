"""Zips that are made while they are sent: never held as a whole."""

import io
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

SENT_AT_ONCE = 1 << 16
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)  # that a zip can say

Write = Callable[[zipfile.ZipFile], Iterator[None]]


class Buffer(io.RawIOBase):
    """What a zip writes before it is sent. It cannot be sought, so that the zip is made in one go."""

    def __init__(self) -> None:
        super().__init__()
        self.held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.held += data
        return len(data)

    def taken(self) -> bytes:
        data = bytes(self.held)
        self.held.clear()
        return data


def zipped(write: Write) -> Iterator[bytes]:
    """The zip in pieces. write: writes into it, and gives way after each entry or part of one."""
    buffer = Buffer()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for _written in write(archive):
            if len(buffer.held) >= SENT_AT_ONCE:
                yield buffer.taken()
    yield buffer.taken()


def entry(name: str, at: datetime = EARLIEST) -> zipfile.ZipInfo:
    """A file in a zip. The same content at the same time gives the same bytes."""
    made = zipfile.ZipInfo(name, max(at, EARLIEST).astimezone(UTC).timetuple()[:6])
    made.compress_type = zipfile.ZIP_DEFLATED
    return made
