"""The ways in which an answer of a provider is spoiled: which, and where, follows from the seed and the request."""

import gzip
import json
from dataclasses import dataclass
from random import Random
from typing import Final

TURNED_AWAY: Final = ("429", "429_bare", "500", "503", "402")  # the provider never hears of these
REPLACED: Final = ("html", "gzip_bomb", "endless", "huge_event")  # nor of these: somebody else answers in its place
BROKEN: Final = ("cut", "reset", "garbage", "stall", "slow")  # it answers, and its words are spoiled on the way
KINDS: Final = (*TURNED_AWAY, *REPLACED, *BROKEN)

HTML: Final = b"<!DOCTYPE html><title>Just a moment</title><h1>Checking your browser</h1>"
GARBAGE: Final = b'data: {"id":"x","choices":[{"delta":{"cont\n\n\xff\xfe\x00data data: }}}{{{\n\ndata: 42\n\n'
BOMB_BYTES: Final = 1 << 30
ENDLESS_BYTES: Final = 48 << 20
EVENT_WORDS: Final = 4000


@dataclass(frozen=True, slots=True)
class Spoiling:
    """after: bytes of the answer that come through first. seconds: for which a stall holds the rest back."""

    kind: str
    after: int
    seconds: float


class Deck:
    """Deals the kinds one after the other in an order that the seed says, so that each comes as often as the others."""

    def __init__(self, seed: int, kinds: tuple[str, ...], *, share: float, stall: float) -> None:
        self._seed, self._kinds, self._share, self._stall = seed, kinds, share, stall
        self._rng, self._left = Random(f"{seed}/deck"), list[str]()

    def deal(self, body_sha256: str, times: int) -> Spoiling | None:
        """How this request is spoiled, None for not at all. times: how often the same body came before: a repetition
        is served honestly, so that most runs come to their natural end.
        """
        if times or not self._kinds or Random(f"{self._seed}/{body_sha256}").random() >= self._share:
            return None
        self._left = self._left or self._rng.sample(self._kinds, len(self._kinds))
        return Spoiling(self._left.pop(), self._rng.randrange(200, 6000), self._stall)


def refusal(kind: str) -> bytes:
    """A whole HTTP response that turns a request away."""
    status = kind.partition("_")[0]
    words = {"429": "Too Many Requests", "500": "Internal Server Error", "503": "Service Unavailable", "402": "Payment"}
    body = json.dumps({"error": {"message": f"spoiled on purpose ({kind})", "code": int(status)}}).encode()
    pause = b"retry-after: 1\r\n" if kind in ("429", "402") else b""
    head = f"HTTP/1.1 {status} {words[status]}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return head.encode() + pause + b"connection: close\r\n\r\n" + body


def head(content_type: str, encoding: str = "") -> bytes:
    encoded = f"content-encoding: {encoding}\r\n" if encoding else ""
    return f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n{encoded}connection: close\r\n\r\n".encode()


def bomb() -> bytes:
    """A megabyte that unpacks to a thousand."""
    packed = gzip.compress(bytes(1 << 20), 9)
    return packed * (BOMB_BYTES >> 20)


def endless_event() -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": "and on " * EVENT_WORDS}, "finish_reason": None}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"
