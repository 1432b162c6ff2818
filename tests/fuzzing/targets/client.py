"""What the client hears from a platform, or from whatever answers in its place."""

import json
from contextlib import suppress
from typing import Any

import httpx

from arena_lab.asking import get, retry_after
from arena_lab.errors import ArenaError
from arena_lab.events import Delta, Event
from arena_lab.following import Follower, Lost
from arena_lab.frames import tidy
from arena_lab.records import Judgment, Message, Run
from tests.fuzzing.target import Target, text_of

RECORDS = (Run, Message, Judgment)


def heard(data: bytes) -> Event | Delta | None:
    """A message of the socket. Raises what the client's watching knows how to take."""
    try:
        return Follower().read(text_of(data))
    except (ArenaError, Lost):
        return None


def check_heard(data: bytes) -> None:
    found = heard(data)
    if isinstance(found, Event):
        assert found.seq >= 1
        with suppress(ArenaError):
            assert isinstance(found.words(), str)


def answers(data: bytes) -> list[Any]:
    response = httpx.Response(200, content=data, request=httpx.Request("GET", "http://platform.test/api/"))
    found = []
    for kind in RECORDS:
        try:
            found.append(get("runs/1/", kind).read(response))
        except ArenaError as error:
            assert str(error)
    return found


def check_answers(data: bytes) -> None:
    """What a record has read it can write, and read again to be the same."""
    for record in answers(data):
        assert type(record).read(record.to_json()) == record
        assert list(tidy(record))


def waits(data: bytes) -> float | None:
    said = text_of(data).encode("latin-1", "replace")
    return retry_after(httpx.Response(429, headers=[(b"retry-after", said)]))


def check_waits(data: bytes) -> None:
    seconds = waits(data)
    assert seconds is None or seconds >= 0


AT = "2026-03-01T12:00:00+00:00"
USAGE = {"input_tokens": 1, "output_tokens": 2}
SAID = {"id": "1", "seat": "A", "turn": 1, "text": "Hello", "usage": USAGE, "created": AT}
JUDGED = {"judgment": {"subject": "A", "judge": "j", "scores": {"fear": 0.5}}}
MESSAGES = [
    {"v": 1, "run": "r", "seq": 1, "type": kind, "data": data, "at": AT}
    for kind, data in (("message_completed", SAID), ("solution_judged", JUDGED), ("ballot_read", {"ballot": {}}))
]
DELTA = {"type": "message_stream", "data": {"call": "c", "turn": None, "offset": 0, "text": "Hel"}}
NAMES = (
    "v", "run", "seq", "type", "data", "at", "call", "seat", "turn", "offset", "text", "judgment", "judgments",
    "ballot", "scores", "winner", "state", "reason", "message", "waiting_for", "usage", "cost", "id", "order",
    "actions", "message_stream", "message_completed", "solution_judged", "ballot_read", "waiting_for_user",
    "experiment_stopped",
)  # fmt: skip
SEEDS = tuple(json.dumps(one).encode() for one in (*MESSAGES, DELTA))
WAITS = (
    "Sun, 01 Mar 2026 12:00:30 GMT", "Mon, 1 Jan 0001 00:00:00 -0000", "1", "-1", "inf", "nan", "9" * 20,
    "+9999999999",
)  # fmt: skip

TARGETS = (
    Target("client-events", heard, check_heard, names=NAMES, seeds=SEEDS),
    Target("client-records", answers, check_answers, names=NAMES, seeds=(json.dumps(SAID).encode(),)),
    Target("client-retry-after", waits, check_waits, (*WAITS, " ", ":", "Dec", "e")),
)
