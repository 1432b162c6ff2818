"""As much of WebSocket as a viewer needs that shares its cores with what it measures."""

import base64
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
SHORT, LONGER = 126, 127


class Frame(NamedTuple):
    opcode: int
    payload: bytes


def handshake(path: str, port: int, token: str) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: localhost:{port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        f"Authorization: Bearer {token}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def taken(data: bytearray) -> Iterator[Frame]:
    """The whole frames at the beginning of the data; they are removed from it. A server's frames have no mask."""
    at = 0
    while len(data) - at >= 2:
        size, begins = data[at + 1], at + 2
        if size >= SHORT:
            begins = at + (4 if size == SHORT else 10)
            if len(data) < begins:
                break
            [size] = struct.unpack_from("!H" if size == SHORT else "!Q", data, at + 2)
        if len(data) < begins + size:
            break
        yield Frame(data[at] & 0x0F, bytes(data[begins : begins + size]))
        at = begins + size
    del data[:at]


def masked(opcode: int, payload: bytes) -> bytes:
    """A short frame as a client sends it: with a mask, here of zeros."""
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + b"\0\0\0\0" + payload
