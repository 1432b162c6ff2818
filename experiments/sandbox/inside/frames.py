"""How the box speaks to the parent: everything on its stdout, as channel (1 byte), length (4 bytes), bytes."""

from builtins import len, memoryview
from os import read, write

STATUS, STDOUT, STDERR, RESULT = b"s", b"o", b"e", b"r"
HEADER = 5
REFUSED = b"refused: "  # begins the first line of the result channel when the candidate is not let go
LARGEST = 1 << 16


def send(descriptor: int, channel: bytes, body: bytes) -> None:
    write_all(descriptor, channel + len(body).to_bytes(4, "little") + body)


def write_all(descriptor: int, body: bytes) -> None:
    rest = memoryview(body)
    while rest:
        rest = rest[write(descriptor, rest) :]


def read_all(descriptor: int) -> bytes:
    parts = []
    while part := read(descriptor, LARGEST):
        parts.append(part)
    return b"".join(parts)
