"""Following a run: what both ways of watching, and both faces of the client, have in common."""

import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from arena_lab.credentials import Credentials
from arena_lab.errors import ArenaError, BadAnswer, NotSetUp, ServerFailed, TooMany, Unreachable
from arena_lab.events import Delta, Event, read_event
from arena_lab.records import Run
from arena_lab.retrying import Patience

QUIET_SECONDS = 15.0  # after which a silent socket is asked whether something was missed
SLOWEST_POLL = 3.0  # seconds between two looks at a run in which nothing happens
FASTEST_POLL = 0.5
ALARM_AFTER = 600.0  # seconds without an answer after which nobody waits any longer


class Lost(Exception):
    """The connection broke; what is missing can be asked for."""


class NoSocket(Exception):
    """There is no WebSocket to be had here: events are asked for instead."""


@dataclass(slots=True)
class Follower:
    """How far a run was followed: every event is passed on once, and none is passed over."""

    after: int = 0

    def take(self, event: Event) -> Event | None:
        """None for one that was passed on already. Raises Lost when others are missing before it."""
        if event.seq <= self.after:
            return None
        if event.seq > self.after + 1:
            raise Lost(f"event {self.after + 1} is missing")
        self.after = event.seq
        return event

    def has_all(self, run: Run) -> bool:
        """Whether the run is over and nothing is missing. A run may go on after its end: no event alone tells it."""
        return run.is_over and run.last_seq <= self.after

    def read(self, text: str | bytes) -> Event | Delta | None:
        """A message of the socket. Raises BadAnswer for what no platform says, and Lost."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadAnswer("The socket said something that is not JSON: is it the address of a platform?") from error
        if not isinstance(message, dict):
            raise BadAnswer("The socket said something that is no event: is it the address of a platform?")
        if "seq" in message:
            return self.take(read_event(message))
        return Delta.read(message.get("data")) if message.get("type") == "message_stream" else None

    def sync(self) -> str:
        """What a socket is asked when it was silent for long."""
        return json.dumps({"type": "sync", "after": self.after})


@dataclass(slots=True)
class Trouble:
    """Counts how long there was no answer. told: hears of each failure, and in how many seconds it is tried again."""

    told: Callable[[str, float], None] | None
    patience: Patience = field(default_factory=lambda: Patience(longest=10.0))
    failures: int = 0
    waited: float = 0.0

    def is_over(self) -> None:
        self.failures, self.waited = 0, 0.0

    def wait(self, error: Exception) -> float:
        """Seconds until the next attempt. Raises Unreachable when it has lasted too long."""
        if isinstance(error, ArenaError) and not isinstance(error, Unreachable | TooMany | ServerFailed):
            raise error
        if self.waited >= ALARM_AFTER:
            raise Unreachable(f"No answer for {self.waited:.0f} seconds: {error}") from error
        self.failures += 1
        asked = getattr(error, "retry_after", None)
        seconds = self.patience.pause(self.failures) if asked is None else float(asked)
        self.waited += seconds
        if self.told:
            self.told(str(error), seconds)
        return seconds


@dataclass(slots=True)
class Pace:
    """How often a run is looked at: often while something happens, less often in between."""

    seconds: float = FASTEST_POLL

    def after(self, *, found: bool) -> float:
        self.seconds = FASTEST_POLL if found else min(SLOWEST_POLL, self.seconds * 1.5)
        return self.seconds


def uses_socket(live: bool | None) -> bool:
    """live None: where there is a library for it. Raises NotSetUp when it is wanted and there is none."""
    if live is False:
        return False
    try:
        import_module("websockets")
    except ImportError as error:
        if live:
            raise NotSetUp("A socket needs websockets: pip install 'arena-lab-client[live]'.") from error
        return False
    return True


def lost_by(error: Exception) -> Lost | NoSocket:
    """What a failed handshake means: a server that is just away comes back; whatever else is wrong with it, asking for
    events says it in words.
    """
    status = getattr(getattr(error, "response", None), "status_code", 0)
    return Lost(f"The connection is lost: {error}") if status >= 500 else NoSocket()


def socket_arguments(credentials: Credentials, run: str, after: int) -> tuple[str, dict[str, Any]]:
    scheme, _, rest = credentials.url.partition("://")
    address = f"{'wss' if scheme == 'https' else 'ws'}://{rest}/ws/runs/{run}/?after={after}"
    options: dict[str, Any] = {
        "additional_headers": {"Authorization": f"Bearer {credentials.token}"},
        "max_size": None,
        "open_timeout": 10,
        "close_timeout": 1,
    }
    if scheme == "https":
        options["ssl"] = ssl.create_default_context()
        options["ssl"].minimum_version = ssl.TLSVersion.TLSv1_2  # some builds of Python leave it to the system
    return address, options
