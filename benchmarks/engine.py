"""What the engine adds to the provider's own time, and how much one worker carries."""

import json
import statistics
import time
import urllib.request
from datetime import datetime
from itertools import pairwise
from typing import Any

from benchmarks.parts import PYTHON, Parts, free_port, platform
from benchmarks.reading import CALLER

RATE = 50
LEDGER = "ledger.jsonl"  # of the provider: each request that it has served
SETTLE_SECONDS = 4
WATCH_SECONDS = 10
SPEAKERS = [f"sim/{name}:tps=50" for name in ("cooperative", "competitive", "drifting", "deceptive", "neutral")]
TOOLS = ["sim/judge", "sim/filter"]


def main() -> None:
    with platform() as parts:
        start_simulated(parts)
        wall_time(parts)
        council(parts)
        stamping(parts)
        delay(parts, runs=20, viewers=200)
        capacity(parts)
        two_workers(parts, runs=200, viewers=20)
    with platform() as parts:
        callers_without_redis(parts)


def wall_time(parts: Parts, times: int = 5) -> None:
    """A run of two turns, filtered and judged, against the sum of its requests' times at the provider."""
    ratios, gaps = [], []
    for _ in range(times):
        run, seconds = played(parts, talk(turns=2))
        requests = sorted(at_provider(parts, run).values())
        ratios.append(seconds / sum(ended - received for received, ended in requests))
        gaps += [later[0] - earlier[1] for earlier, later in pairwise(requests)]
    ratio = statistics.median(ratios)
    print(
        f"run wall time / provider's critical path   {ratio:.3f}   (median of {times}; 10 requests at {RATE} tokens/s)"
    )
    p50, p95 = (1000 * statistics.quantiles(gaps, n=20)[place] for place in (9, 18))
    print(f"end of a request until the next one arrives   {p50:.0f} ms, p95 {p95:.0f} ms   (of {len(gaps)})")


def talk(*, turns: int) -> dict[str, Any]:
    """An experiment of two models, filtered and judged."""
    seats = dict(zip(("A", "B", "judge", "filter"), [*SPEAKERS[:2], *TOOLS], strict=True))
    config = {"prompt": "Share seven panels.", "gap_seconds": 0, "judge": True, "filter": True, "max_turns": turns}
    return {"workflow": "arena", "config": config, "cast": {seat: {"model": model} for seat, model in seats.items()}}


def callers_without_redis(parts: Parts) -> None:
    """A run whose calls a caller makes, measured after Redis was stopped: both processes poll the database."""
    parts.stop("worker")
    parts.environment["ARENA_CALLERS"] = "1"
    parts.start("worker", PYTHON, "manage.py", "rqworker", "engine", "-v", "0")
    parts.start("caller", PYTHON, "manage.py", "rqworker", "callers", "--worker-class", CALLER, "-v", "0")
    start_simulated(parts)
    experiment = parts.ask("POST", "experiments/", talk(turns=4))
    [run] = parts.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
    while not (parts.folder / LEDGER).exists() or not at_provider(parts, run["id"]):
        time.sleep(0.1)
    parts.stop("redis")
    gone = time.time()
    parts.wait_for([run["id"]], 120)
    requests = sorted(at_provider(parts, run["id"]).values())
    gaps = [1000 * (later[0] - earlier[1]) for earlier, later in pairwise(requests) if earlier[1] > gone]
    print(
        f"the same with a caller, without Redis   {statistics.median(gaps):.0f} ms, at most {max(gaps):.0f} ms   "
        f"(of {len(gaps)})"
    )


def council(parts: Parts, times: int = 5) -> None:
    """A council of five against its critical path: the slowest answer, the slowest review, the conclusion."""
    seats = {f"member-{number}": {"model": model} for number, model in enumerate(SPEAKERS, 1)}
    ratios = []
    for _ in range(times):
        config = {"question": "How should one telescope be shared by two groups?", "max_turns": 1, "title": False}
        body = {"workflow": "council", "config": config, "cast": {**seats, "chair": {"model": SPEAKERS[-1]}}}
        run, seconds = played(parts, body)
        took = provider_seconds(parts, run)
        stages = ("turn/1/answer/", "turn/1/review/", "turn/1/conclusion")
        path = sum(max(of for key, of in took.items() if key.startswith(stage)) for stage in stages)
        ratios.append(seconds / path)
    ratio = statistics.median(ratios)
    print(f"council wall time / provider's critical path   {ratio:.3f}   (median of {times}; 5 members, 11 requests)")


def played(parts: Parts, body: dict[str, Any]) -> tuple[str, float]:
    """A run that has ended, and the seconds from the request that started it to its end."""
    experiment = parts.ask("POST", "experiments/", body)
    begun = time.time()
    [run] = parts.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
    parts.wait_for([run["id"]], 120)
    return run["id"], ended_at(parts, run["id"]) - begun


def ended_at(parts: Parts, run: str) -> float:
    return datetime.fromisoformat(parts.ask("GET", f"runs/{run}/")["ended"]).timestamp()


def delay(parts: Parts, *, runs: int, viewers: int) -> None:
    seen, _memory = _watched(parts, runs, viewers)
    _print_delay(f"{runs} live runs, {viewers} viewers", seen, viewers)


def capacity(parts: Parts) -> None:
    """Live runs are added until the tokens' p95 age passes 300 ms; 20 viewers take the sample."""
    idle = parts.memory("worker")
    carried, viewers = 0, 20
    for runs in (50, 100, 150, 200):
        seen, memory = _watched(parts, runs, viewers)
        _print_delay(f"{runs} live runs on one worker", seen, viewers)
        if not seen["delays"] or seen["delays"]["p95"] > 300:
            break
        carried = runs
    print(f"live runs one worker carries under 300 ms   {carried}")
    print(f"worker memory   {idle:.0f} MiB idle, {(memory - idle) / runs * 1024:.0f} KiB per live run")


def two_workers(parts: Parts, *, runs: int, viewers: int) -> None:
    """What one worker does not carry in time."""
    parts.start("second-worker", PYTHON, "manage.py", "rqworker", "engine", "-v", "0")
    time.sleep(2 * SETTLE_SECONDS)
    seen, _memory = _watched(parts, runs, viewers)
    _print_delay(f"{runs} live runs on two workers", seen, viewers)


def _watched(parts: Parts, runs: int, viewers: int) -> tuple[Any, float]:
    """What the viewers saw, and the memory of the first worker meanwhile, in MiB."""
    started = parts.start_runs(["stamp-a", "stamp-b"], runs)
    time.sleep(SETTLE_SECONDS + runs / 50)
    seen = parts.watch(started, viewers, WATCH_SECONDS)
    memory = parts.memory("worker")
    parts.stop_runs(started)
    return seen, memory


def stamping(parts: Parts) -> None:
    port = free_port()
    parts.start("stamping", PYTHON, "-m", "benchmarks.stamping", str(port), str(RATE), "400")
    base = f"http://127.0.0.1:{port}/v1"
    for name in ("stamp-a", "stamp-b"):
        parts.manage("add_provider", "--name", name, "--base-url", base, "--allow-private", "--model", name)
    raise_limit = (
        "from experiments.models import Provider; Provider.objects.update(concurrency=1000, is_simulated=True)"
    )
    parts.manage("shell", "-v0", "-c", raise_limit)


def start_simulated(parts: Parts, *models: str) -> None:
    """A simulated provider with these models, or else with all that are measured; it keeps a LEDGER."""
    port = free_port()
    served = ("--ledger", str(parts.folder / LEDGER))
    parts.start("simulated", PYTHON, "-m", "experiments.gateway.simulated", "--port", str(port), *served)
    for _ in range(100):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models")
            break
        except OSError:
            time.sleep(0.1)
    base = f"http://127.0.0.1:{port}/v1"
    named = ("--model", *(models or (*SPEAKERS, *TOOLS)))
    parts.manage("add_provider", "--name", "measured", "--base-url", base, "--allow-private", *named)


def provider_seconds(parts: Parts, run: str) -> dict[str, float]:
    """How long the provider took for each step of a run, by the step's key."""
    return {key: ended - received for key, (received, ended) in at_provider(parts, run).items()}


def at_provider(parts: Parts, run: str) -> dict[str, tuple[float, float]]:
    """When the provider received the request of each step of a run, and when it had answered, in unix seconds."""
    steps = {call["id"]: call["step"] for call in parts.ask("GET", f"runs/{run}/calls/")["results"]}
    rows = [json.loads(line) for line in (parts.folder / LEDGER).read_text().splitlines()]
    known = [row for row in rows if row["request_id"] in steps]
    return {steps[row["request_id"]]: (row["received"], row["ended"]) for row in known}


def _print_delay(what: str, seen: Any, viewers: int) -> None:
    at = seen["delays"]
    ages = f"p50 {at['p50']} ms, p95 {at['p95']} ms, p99 {at['p99']} ms" if at else "nothing arrived"
    share = seen["tokens"] / (viewers * RATE * WATCH_SECONDS)
    print(f"chunk to viewer, {what}   {ages}   ({share:.0%} of the tokens at {RATE}/s per run, {seen['gaps']} gaps)")


if __name__ == "__main__":
    main()
