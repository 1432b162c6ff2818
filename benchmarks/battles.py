"""How fast battles are fought, in how much memory, and how soon it is known which are left."""

import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

from benchmarks.engine import start_simulated
from benchmarks.parts import PYTHON, ROOT, Parts, platform

JUDGE = "sim/judge:tps=0:first=0"
CONTESTANTS = 5  # ten pairs
LOOKED_AT = 1_500  # battles after which the memory is taken


def main() -> None:
    with platform() as parts:
        start_simulated(parts)
        parts.manage("shell", "-v0", "-c", _JUDGE_MODEL)
        fought(parts, 2_000, workers=1)
        fought(parts, 2_000, workers=2)
        memory(parts)
        parts.stop("worker")
        deciding(parts)


_JUDGE_MODEL = (
    "from experiments.models import Provider, ProviderModel; "
    "Provider.objects.update(concurrency=1000, is_simulated=True); "
    f"ProviderModel.objects.get_or_create(slug='{JUDGE}', defaults=dict(provider=Provider.objects.get("
    f"is_simulated=True), upstream='{JUDGE}', label='judge'))"
)


def fought(parts: Parts, battles: int, *, workers: int) -> None:
    """Wall time from the request that starts the campaign to its end, with a provider that takes no time."""
    for number in range(1, workers):
        parts.start(f"worker-{number}", PYTHON, "manage.py", "rqworker", "engine", "-v", "0")
    experiment, begun = _start(parts, battles + (workers - 1) * 10), time.monotonic()
    _wait(parts, experiment, lambda shown: shown["state"] != "running", 3600)
    seconds = time.monotonic() - begun
    shown = parts.ask("GET", f"experiments/{experiment}/campaign/")
    done = shown["progress"]["decided"]
    print(f"{done:,} battles, {workers} worker{'s' * (workers > 1)}   {seconds:.0f} s, {done / seconds:.1f} a second")
    for number in range(1, workers):
        parts.stop(f"worker-{number}")


def memory(parts: Parts) -> None:
    """Of one worker in the middle of a campaign, whatever is still planned."""
    for planned in (2_000, 20_000):
        parts.stop("worker")
        parts.start("worker", PYTHON, "manage.py", "rqworker", "engine", "-v", "0")
        experiment = _start(parts, planned)
        _wait(parts, experiment, lambda shown: shown["progress"]["decided"] >= LOOKED_AT, 3600)
        taken = parts.memory("worker")
        parts.ask("POST", f"experiments/{experiment}/stop/")
        print(f"worker's memory, {LOOKED_AT:,} of {planned:,} battles fought   {taken:.0f} MiB")
        _wait(parts, experiment, lambda shown: shown["progress"]["under_way"] == 0, 60)


def deciding(parts: Parts) -> None:
    """A million battles of 20 contestants on 5,372 samples: 2 % of them are left."""
    call = [PYTHON, "-m", "benchmarks.fields", "decide", "20", "5372"]
    subprocess.run(call, cwd=ROOT, env=parts.environment, check=True)


def _start(parts: Parts, battles: int) -> str:
    call = [PYTHON, "-m", "benchmarks.fields", "make", str(CONTESTANTS), str(battles // 10)]
    done = subprocess.run(call, cwd=ROOT, env=parts.environment, check=True, capture_output=True, text=True)
    config = {"dataset": done.stdout.split()[-1], "prompt": "text_quality"}
    body = {"workflow": "battles", "config": config, "cast": {"judge": {"model": JUDGE}}}
    experiment = parts.ask("POST", "experiments/", body)["id"]
    parts.ask("POST", f"experiments/{experiment}/start/", {})
    return str(experiment)


def _wait(parts: Parts, experiment: str, is_so: Callable[[Any], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_so(parts.ask("GET", f"experiments/{experiment}/campaign/")):
            return
        time.sleep(0.25)
    raise RuntimeError("the campaign does not come to where it should")


if __name__ == "__main__":
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    main()
