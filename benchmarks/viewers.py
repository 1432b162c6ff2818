"""Viewers of runs, as a process of their own: how old is each token when it arrives?

Reads {"base", "token", "runs": [ID, …], "viewers": N, "seconds": S} as JSON from standard input. All viewers connect
first; then they are watched for S seconds.
Prints {"delays": {"p50", "p95", "p99"}, "tokens", "gaps"} in milliseconds.
"""

import asyncio
import json
import re
import sys
import time

import websockets

SETTLE_SECONDS = 2
STAMP = re.compile(r"\d+\.\d{4}")


class Viewer:
    """One WebSocket; counts a gap whenever a delta does not begin where the text seen so far ends."""

    def __init__(self) -> None:
        self.is_connected = asyncio.Event()
        self.delays: list[float] = []
        self.gaps = 0
        self._have: dict[str, int] = {}
        self._followed: set[str] = set()

    async def watch(self, url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        options = {"additional_headers": headers, "max_size": None, "compression": None, "open_timeout": 60}
        async with websockets.connect(url, **options) as socket:
            self.is_connected.set()
            async for message in socket:
                self.take(json.loads(message))

    def take(self, message: dict) -> None:
        if message["type"] != "message_stream":
            return
        data, now = message["data"], time.monotonic()
        have = self._have.get(data["call"])
        self._have[data["call"]] = max(have or 0, data["offset"] + len(data["text"]))
        if have is None or data["offset"] < have:
            return  # the text so far, for one who joins mid-stream: old by its nature, and up to half a second short
        self.gaps += data["offset"] > have and data["call"] in self._followed
        self._followed.add(data["call"])
        self.delays += [now - float(stamp) for stamp in STAMP.findall(data["text"])]


async def main(order: dict) -> dict:
    viewers = [Viewer() for _ in range(order["viewers"])]
    urls = [f"{order['base']}/ws/runs/{run}/" for run in order["runs"]]
    watching = [
        asyncio.create_task(viewer.watch(urls[number % len(urls)], order["token"]))
        for number, viewer in enumerate(viewers)
    ]
    for viewer in viewers:
        await asyncio.wait_for(viewer.is_connected.wait(), 120)
    await asyncio.sleep(SETTLE_SECONDS)
    for viewer in viewers:
        viewer.delays.clear()
        viewer.gaps = 0
    await asyncio.sleep(order["seconds"])
    for task in watching:
        task.cancel()
    delays = sorted(delay * 1000 for viewer in viewers for delay in viewer.delays)
    at = {f"p{share}": round(delays[len(delays) * share // 100], 1) for share in (50, 95, 99)} if delays else {}
    return {"delays": at, "tokens": len(delays), "gaps": sum(viewer.gaps for viewer in viewers)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
