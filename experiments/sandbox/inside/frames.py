"""How the box speaks to the parent: everything on its stdout, as channel (1 byte), length (4 bytes), bytes."""

from builtins import len, memoryview
from os import read, write

UP, STATUS, STDOUT, STDERR, RESULT = b"u", b"s", b"o", b"e", b"r"
HEADER = 5
REFUSED = b"refused: "  # begins the first line of the result channel when the candidate is not let go
LARGEST = 1 << 16
LENGTH_BYTES = 8  # of a part of which the length comes first


def send(descriptor: int, channel: bytes, body: bytes) -> None:
    write_all(descriptor, channel + len(body).to_bytes(4, "little") + body)


def write_all(descriptor: int, body: bytes) -> None:
    rest = memoryview(body)
    while rest:
        rest = rest[write(descriptor, rest) :]


def counted(body: bytes) -> bytes:
    """As `read_counted` reads it."""
    return len(body).to_bytes(LENGTH_BYTES, "little") + body


def read_counted(descriptor: int) -> bytes:
    return read_exactly(descriptor, int.from_bytes(read_exactly(descriptor, LENGTH_BYTES), "little"))


def read_exactly(descriptor: int, length: int) -> bytes:
    """Fewer bytes where the other end was closed before."""
    body = b""
    while len(body) < length and (part := read(descriptor, length - len(body))):
        body += part
    return body


def read_all(descriptor: int) -> bytes:
    parts = []
    while part := read(descriptor, LARGEST):
        parts.append(part)
    return b"".join(parts)
