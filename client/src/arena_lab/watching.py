"""Watching a run, by waiting: over a WebSocket where there is one, else by asking for what is new."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from arena_lab import questions
from arena_lab.errors import ArenaError
from arena_lab.events import Delta, Event
from arena_lab.following import (
    QUIET_SECONDS,
    Follower,
    Lost,
    NoSocket,
    Pace,
    Trouble,
    lost_by,
    socket_arguments,
    uses_socket,
)
from arena_lab.lines import Line
from arena_lab.retrying import ONCE

try:
    from websockets.exceptions import ConnectionClosed, InvalidHandshake
    from websockets.sync.client import connect
except ImportError:  # the extra `live` is not installed: `uses_socket` says so
    pass


def watch(
    line: Line, run: str, *, after: int, live: bool | None, told: Callable[[str, float], None] | None
) -> Iterator[Event | Delta]:
    """Until the run is over and all of it was passed on. live None: by a socket where there is one."""
    follower, trouble, by_socket = Follower(after), Trouble(told), uses_socket(live)
    while True:
        try:
            for item in _by_socket(line, run, follower) if by_socket else _by_asking(line, run, follower):
                trouble.is_over()
                if item is not None:
                    yield item
        except NoSocket:
            by_socket = False
        except (Lost, ArenaError) as error:
            time.sleep(trouble.wait(error))
        else:
            return


def _by_asking(line: Line, run: str, follower: Follower) -> Iterator[Event | None]:
    """None: there was an answer, but nothing new in it."""
    pace = Pace()
    while True:
        page = line.do(questions.events(run, follower.after), ONCE)
        for event in page.rows:
            yield follower.take(event)
        if not page.rows:
            if follower.has_all(line.do(questions.run(run), ONCE)):
                return
            yield None
        time.sleep(0 if page.cursor else pace.after(found=bool(page.rows)))


def _by_socket(line: Line, run: str, follower: Follower) -> Iterator[Event | Delta | None]:
    address, options = socket_arguments(line.credentials, run, follower.after)
    try:
        with connect(address, **options) as socket:
            yield from _heard(line, run, follower, socket)
    except InvalidHandshake as error:
        raise lost_by(error) from error
    except (ConnectionClosed, OSError) as error:
        raise Lost(f"The connection is lost: {error}") from error


def _heard(line: Line, run: str, follower: Follower, socket: Any) -> Iterator[Event | Delta | None]:
    if follower.has_all(line.do(questions.run(run), ONCE)):
        return
    while True:
        try:
            item = follower.read(socket.recv(timeout=QUIET_SECONDS))
        except TimeoutError:
            socket.send(follower.sync())
            item = None
        yield item
        may_be_all = item is None or (isinstance(item, Event) and item.ends)
        if may_be_all and follower.has_all(line.do(questions.run(run), ONCE)):
            return
