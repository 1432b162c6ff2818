"""What a worker's processor time goes to while it reads answers: a token of a stream beside what a bare aiohttp client
needs for it in the same run, and the rows of a call that has ended.
"""

import asyncio
import io
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import django
from django.conf import settings
from django.core.management import call_command

from benchmarks.parts import PYTHON, ROOT, free_port, platform

STREAMS, RATE, TOKENS, ROUNDS = 50, 50, 400, 3
TURNS = 2
CALLER = "experiments.engine.callers.CallerWorker"
MODELS = ("stamp-a", "stamp-b")


def main() -> None:
    with platform(is_served=False) as parts:
        port = free_port()
        parts.start("stamping", PYTHON, "-m", "benchmarks.stamping", str(port), str(RATE), str(TOKENS))
        command = [PYTHON, "-m", "benchmarks.reading", "measure", f"http://127.0.0.1:{port}/v1"]
        subprocess.run(command, cwd=ROOT, env=parts.environment, check=True)


def measure(address: str) -> None:
    """By turns in one process, so that what else the machine does counts for all."""
    from experiments.engine import recording  # noqa: PLC0415 - after the set-up

    call_command("migrate", verbosity=0)
    prepare(address)
    readers = {"bare aiohttp": bare, "gateway": through_the_gateway}
    tokens: dict[str, list[float]] = {name: [] for name in (*readers, "worker", "caller")}
    rows: dict[str, list[float]] = {"": [], ", where a caller makes it": []}
    parts = {name: Measured(recording, name) for name in ("open_calls", "close_call")}
    command = [PYTHON, "manage.py", "rqworker", "callers", "--worker-class", CALLER, "--skip-checks"]
    caller = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"ARENA_CALLERS": "1"}, stdout=subprocess.DEVNULL)
    for _ in range(ROUNDS):
        for name, reader in readers.items():
            tokens[name].append(asyncio.run(_side_by_side(reader, address)) / (STREAMS * TOKENS))
        for is_handed, spent in enumerate(rows.values()):
            settings.CALLERS = is_handed
            before = _processor_seconds(caller.pid)
            of_all, of_main_thread, calls = driven()
            of_process = _processor_seconds(caller.pid) - before if is_handed else of_all
            tokens["caller" if is_handed else "worker"].append(of_process / (calls * TOKENS))
            spent.append(of_main_thread / calls)
    caller.terminate()
    caller.wait()
    each = {name: statistics.median(seconds) * 1e6 for name, seconds in tokens.items()}
    for name, microseconds in each.items():
        of_bare = microseconds / each["bare aiohttp"]
        print(f"processor time of a token, {name}   {microseconds:.0f} µs   ({of_bare:.2f} of bare aiohttp's)")
    for how, spent in rows.items():
        milliseconds = statistics.median(spent) * 1e3
        print(f"processor time of the thread that records, for each ended call{how}   {milliseconds:.1f} ms")
    for name, part in parts.items():
        print(f"of which {name}, the mean of {part.times}   {part.seconds / part.times * 1e3:.1f} ms")
    print(f"(medians of {ROUNDS}; {STREAMS} streams of {RATE} tokens/s, {TOKENS} tokens a call)")


class Measured:
    """Counts what a function of a module takes of its thread's processor time."""

    def __init__(self, module: Any, name: str) -> None:
        self.seconds, self.times = 0.0, 0
        original = getattr(module, name)

        def call(*given: Any, **named: Any) -> Any:
            began = time.thread_time()
            try:
                return original(*given, **named)
            finally:
                self.seconds, self.times = self.seconds + time.thread_time() - began, self.times + 1

        setattr(module, name, call)


def _processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _side_by_side(reader: Callable[[str, Any], Awaitable[None]], address: str) -> float:
    from experiments.gateway import guarded_transport  # noqa: PLC0415 - after the set-up

    async with guarded_transport(allow_private=True) as transport, aiohttp.ClientSession() as session:
        shared = session if reader is bare else transport
        begun = time.process_time()
        await asyncio.gather(*(reader(address, shared) for _ in range(STREAMS)))
        return time.process_time() - begun


async def bare(address: str, session: aiohttp.ClientSession) -> None:
    body = {"model": MODELS[0], "messages": [{"role": "user", "content": "Measure."}], "stream": True}
    async with session.post(f"{address}/chat/completions", json=body) as answer:
        async for _ in answer.content.iter_any():
            pass


async def through_the_gateway(address: str, transport: Any) -> None:
    from experiments.gateway import ChatMessage, ChatRequest, Client  # noqa: PLC0415

    client = Client(address, "sk-measured-0123456789", transport)
    async for _ in client.stream(ChatRequest(MODELS[0], (ChatMessage("user", "Measure."),))):
        pass


def prepare(address: str) -> None:
    from accounts.models import User  # noqa: PLC0415
    from experiments.models import Provider  # noqa: PLC0415

    User.objects.create_user("reading", password=None)
    options = ("--name", "stamping", "--base-url", address, "--allow-private", "--model", *MODELS)
    call_command("add_provider", *options, stdout=io.StringIO())
    Provider.objects.update(concurrency=1000, is_simulated=True)


def driven() -> tuple[float, float, int]:
    """Runs side by side in this process: its processor time, that of the thread that decides and records, and calls."""
    from accounts.models import User  # noqa: PLC0415
    from experiments.engine.driver import Driver  # noqa: PLC0415
    from experiments.models import Call  # noqa: PLC0415
    from experiments.runs import actions  # noqa: PLC0415

    config = {"prompt": "Measure.", "gap_seconds": 0, "filter": False, "judge": False, "max_turns": TURNS}
    cast = {seat: {"model": model} for seat, model in zip("AB", MODELS, strict=True)}
    owner = User.objects.get(username="reading")
    experiment = actions.create(owner=owner, workflow="arena", config=config, cast=cast)
    runs = actions.start(experiment, by=owner, repeats=STREAMS)
    began, began_here = time.process_time(), time.thread_time()
    Driver(threading.Event()).drive(0.01)
    of_all, here = time.process_time() - began, time.thread_time() - began_here
    calls = Call.objects.filter(run__in=runs, state=Call.State.COMPLETED).count()
    assert calls == STREAMS * TURNS * len(MODELS)
    return of_all, here, calls


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
        django.setup()
        measure(sys.argv[2])
    else:
        main()
