"""Watching a run, by awaiting. The same as `watching`, for which see the reasons."""

import asyncio
from collections.abc import AsyncIterator, Callable
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
from arena_lab.lines import AsyncLine
from arena_lab.retrying import ONCE

try:
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, InvalidHandshake
except ImportError:  # the extra `live` is not installed: `uses_socket` says so
    pass


async def watch(
    line: AsyncLine, run: str, *, after: int, live: bool | None, told: Callable[[str, float], None] | None
) -> AsyncIterator[Event | Delta]:
    follower, trouble, by_socket = Follower(after), Trouble(told), uses_socket(live)
    while True:
        try:
            async for item in _by_socket(line, run, follower) if by_socket else _by_asking(line, run, follower):
                trouble.is_over()
                if item is not None:
                    yield item
        except NoSocket:
            by_socket = False
        except (Lost, ArenaError) as error:
            await asyncio.sleep(trouble.wait(error))
        else:
            return


async def _by_asking(line: AsyncLine, run: str, follower: Follower) -> AsyncIterator[Event | None]:
    pace = Pace()
    while True:
        page = await line.do(questions.events(run, follower.after), ONCE)
        for event in page.rows:
            yield follower.take(event)
        if not page.rows:
            if follower.has_all(await line.do(questions.run(run), ONCE)):
                return
            yield None
        await asyncio.sleep(0 if page.cursor else pace.after(found=bool(page.rows)))


async def _by_socket(line: AsyncLine, run: str, follower: Follower) -> AsyncIterator[Event | Delta | None]:
    address, options = socket_arguments(line.credentials, run, follower.after)
    try:
        async with connect(address, **options) as socket:
            async for item in _heard(line, run, follower, socket):
                yield item
    except InvalidHandshake as error:
        raise lost_by(error) from error
    except (ConnectionClosed, OSError) as error:
        raise Lost(f"The connection is lost: {error}") from error


async def _heard(line: AsyncLine, run: str, follower: Follower, socket: Any) -> AsyncIterator[Event | Delta | None]:
    if follower.has_all(await line.do(questions.run(run), ONCE)):
        return
    while True:
        try:
            item = follower.read(await asyncio.wait_for(socket.recv(), QUIET_SECONDS))
        except TimeoutError:
            await socket.send(follower.sync())
            item = None
        yield item
        may_be_all = item is None or (isinstance(item, Event) and item.ends)
        if may_be_all and follower.has_all(await line.do(questions.run(run), ONCE)):
            return
