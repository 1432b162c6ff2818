"""Viewers as a process of its own: each follows one run over a WebSocket that breaks again and again.

python -m benchmarks.faults.screens BASE TOKEN SEED FOLDER

FOLDER/runs.json names the runs, and may grow. Once FOLDER/finish.json says how many events each run has, every viewer
has a while to see the rest; then FOLDER/screens.json holds what each of them has on its screen.
"""

import asyncio
import contextlib
import hashlib
import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import websockets

LOOK_SECONDS = 0.3
REST_SECONDS = 30.0
MOST = 60  # viewers


@dataclass(slots=True)
class Screen:
    """What one viewer has rebuilt. events: digest by number. texts: of calls, as far as they were streamed without a
    hole. gaps: events that came before an earlier one was there. joins: connections that were opened.
    """

    run: str
    events: dict[int, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    gaps: int = 0
    joins: int = 0

    @property
    def seen(self) -> int:
        return max(self.events, default=0)

    def take(self, message: dict[str, Any]) -> bool:
        """Returns whether the text so far has a hole, and should be asked for."""
        if "seq" in message:
            self._event(message)
            return False
        data = message.get("data", {})
        if message.get("type") != "message_stream":
            return False
        text = self.texts.get(data["call"], "")
        if data["offset"] > len(text):
            return True
        self.texts[data["call"]] = text[: data["offset"]] + data["text"] if _grows(text, data) else text
        return False

    def _event(self, envelope: dict[str, Any]) -> None:
        seq = envelope["seq"]
        self.gaps += seq > self.seen + 1
        self.events[seq] = digest(envelope)
        data = envelope["data"]
        if isinstance(data, dict) and "id" in data and "raw_text" in data:
            self.messages[str(data["id"])] = str(data["text"])


def _grows(text: str, data: dict[str, Any]) -> bool:
    return bool(data["offset"] + len(data["text"]) > len(text))


def digest(envelope: dict[str, Any]) -> str:
    told = {name: envelope[name] for name in ("v", "run", "seq", "type", "data", "at")}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


class Audience:
    def __init__(self, base: str, token: str, seed: int, folder: Path) -> None:
        self._base, self._token, self._folder, self._rng = base, token, folder, Random(seed)
        self.screens: dict[str, Screen] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def sit(self) -> None:
        finish = self._folder / "finish.json"
        while not finish.exists():
            self._seat()
            await asyncio.sleep(LOOK_SECONDS)
        wanted = json.loads(finish.read_text())
        until = asyncio.get_running_loop().time() + REST_SECONDS
        while asyncio.get_running_loop().time() < until and not self._have_all(wanted):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _seat(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for run in json.loads((self._folder / "runs.json").read_text()):
                if run not in self.screens and len(self.screens) < MOST:
                    self.screens[run] = Screen(run)
                    self._tasks.append(asyncio.create_task(self._follow(self.screens[run])))

    def _have_all(self, wanted: dict[str, int]) -> bool:
        return all(screen.seen >= wanted.get(run, 0) for run, screen in self.screens.items())

    async def _follow(self, screen: Screen) -> None:
        while True:
            with contextlib.suppress(OSError, TimeoutError, websockets.WebSocketException):
                async with asyncio.timeout(self._rng.uniform(4, 15)):
                    await self._watch(screen)
            await asyncio.sleep(self._rng.uniform(0.1, 0.6))

    async def _watch(self, screen: Screen) -> None:
        url = f"{self._base}/ws/runs/{screen.run}/?after={screen.seen}"
        headers = {"Authorization": f"Bearer {self._token}"}
        async with websockets.connect(url, additional_headers=headers, max_size=None, open_timeout=10) as socket:
            screen.joins += 1
            async for message in socket:
                if screen.take(json.loads(message)):
                    await socket.send(json.dumps({"type": "sync", "after": screen.seen}))


def main(base: str, token: str, seed: str, folder: str) -> None:
    audience = Audience(base, token, int(seed), Path(folder))
    asyncio.run(audience.sit())
    draft = Path(folder, "screens.draft")
    draft.write_text(json.dumps([asdict(screen) for screen in audience.screens.values()]))
    draft.rename(Path(folder, "screens.json"))


if __name__ == "__main__":
    main(*sys.argv[1:])
