"""Viewers of runs, as a process of their own: how old is each token when it arrives?

Reads {"base", "token", "runs": [ID, …], "viewers": N, "seconds": S} as JSON from standard input, watches, and prints
{"delays": {"p50", "p95", "p99"}, "tokens", "gaps"} in milliseconds.
"""

import asyncio
import json
import re
import sys
import time

import websockets

STAMP = re.compile(r"\d+\.\d{4}")


class Viewer:
    """One WebSocket; counts a gap whenever a delta does not begin where the text seen so far ends."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.gaps = 0
        self._have: dict[str, int] = {}

    async def watch(self, url: str, token: str, until: float) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with websockets.connect(url, additional_headers=headers, max_size=None, compression=None) as socket:
            while (left := until - time.monotonic()) > 0:
                try:
                    self.take(json.loads(await asyncio.wait_for(socket.recv(), left)))
                except TimeoutError:
                    return

    def take(self, message: dict) -> None:
        if message["type"] != "message_stream":
            return
        data, now = message["data"], time.monotonic()
        have = self._have.get(data["call"])
        self._have[data["call"]] = data["offset"] + len(data["text"])
        if have is None or data["offset"] < have:
            return  # the snapshot for one who joins mid-stream is old by its nature
        self.gaps += data["offset"] > have
        self.delays += [now - float(stamp) for stamp in STAMP.findall(data["text"])]


async def main(order: dict) -> dict:
    until = time.monotonic() + order["seconds"]
    viewers = [Viewer() for _ in range(order["viewers"])]
    runs = order["runs"]
    watching = [
        viewer.watch(f"{order['base']}/ws/runs/{runs[number % len(runs)]}/", order["token"], until)
        for number, viewer in enumerate(viewers)
    ]
    await asyncio.gather(*watching)
    delays = sorted(delay * 1000 for viewer in viewers for delay in viewer.delays)
    at = {f"p{share}": round(delays[len(delays) * share // 100], 1) for share in (50, 95, 99)} if delays else {}
    return {"delays": at, "tokens": len(delays), "gaps": sum(viewer.gaps for viewer in viewers)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
