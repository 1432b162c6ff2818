"""Viewers as a process of their own: `python -m benchmarks.load.viewers`, told what to do by lines of JSON.

First {"port", "token", "slots": [number, …], "sleepers": N}: one viewer for each slot, and N that read nothing. Then
{"runs": {slot: run}} whenever a slot has a new run, at last {"end": true}. It says {"ended": run} when it has seen the
end of a run, and at last what was seen: `Seen.as_data`, with {"sleepers": [code with which each was closed]}.
"""

import asyncio
import json
import socket
import sys
from collections import defaultdict
from typing import Any

from benchmarks.load import frames
from benchmarks.load.viewer import Seen, Viewer

AT_ONCE = 8  # connections that are opened at the same time
SMALL = 4096  # bytes of the receive buffer of one that does not read
PATIENCE = 150.0  # seconds after which one that was not closed is given up


class Crowd:
    def __init__(self, order: dict[str, Any]) -> None:
        self._port, self._token = order["port"], order["token"]
        self._places = {int(slot): order["slots"].count(slot) for slot in order["slots"]}
        self._sleepers = order["sleepers"]
        self._seen = Seen()
        self._opening = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._sleeping: list[asyncio.Task[int]] = []
        self._watched: defaultdict[str, set[Viewer]] = defaultdict(set)
        self._is_over = False

    def watch(self, runs: dict[str, str]) -> None:
        for slot, run in runs.items():
            for _ in range(self._places.get(int(slot), 0)):
                self._go(self._watch(run))
        while self._sleepers and runs:
            self._sleepers -= 1
            sleeping = self._sleep(next(iter(runs.values())))
            self._sleeping.append(asyncio.get_running_loop().create_task(sleeping))

    async def end(self) -> dict[str, Any]:
        self._is_over = True
        for viewers in self._watched.values():
            for viewer in viewers:
                viewer.transport.abort()
        codes = [await sleeping for sleeping in self._sleeping]
        return {**self._seen.as_data(), "sleepers": codes}

    def _go(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watch(self, run: str) -> None:
        async with self._opening:
            hello = frames.handshake(f"/ws/runs/{run}/?after=0", self._port, self._token)
            make = lambda: Viewer(run, hello, self._seen, self._left)  # noqa: E731
            _, viewer = await asyncio.get_running_loop().create_connection(make, "127.0.0.1", self._port)
            self._watched[run].add(viewer)
            await asyncio.wait_for(viewer.is_answered.wait(), PATIENCE)

    def _left(self, viewer: Viewer) -> None:
        self._watched[viewer.run].discard(viewer)
        if self._is_over:
            return
        if not viewer.has_ended:
            self._go(self._watch(viewer.run))  # cut off: it comes back
        elif not self._watched[viewer.run]:
            del self._watched[viewer.run]
            say({"ended": viewer.run})

    async def _sleep(self, run: str) -> int:
        """Read nothing until the server has had enough; then the code with which it has closed, 0 if it never did."""
        here = socket.socket()
        here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        here.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(here, ("127.0.0.1", self._port))
        await loop.sock_sendall(here, frames.handshake(f"/ws/runs/{run}/?after=0", self._port, self._token))
        seen, gone = Seen(), asyncio.Event()
        viewer = Viewer(run, b"", seen, lambda _: gone.set())
        await asyncio.sleep(60)
        await loop.create_connection(lambda: viewer, sock=here)
        try:
            await asyncio.wait_for(gone.wait(), PATIENCE)
        except TimeoutError:
            return 0
        return viewer.closed_by or 1006


def say(data: Any) -> None:
    print(json.dumps(data), flush=True)


async def main() -> None:
    lines = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    crowd = Crowd(json.loads(await lines.readline()))
    async for text in lines:
        order = json.loads(text)
        if "end" in order:
            break
        crowd.watch(order["runs"])
    say({"seen": await crowd.end()})


if __name__ == "__main__":
    asyncio.run(main())
