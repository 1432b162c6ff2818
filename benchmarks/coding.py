"""What a box costs, how many of them there are in a second, and what the platform adds to a cycle's own calls."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.engine import SPEAKERS, at_provider, ended_at, played, start_simulated
from benchmarks.parts import PYTHON, Parts, platform
from experiments import sandbox

CODE = "def double(number):\n    return 2 * number\n"
TESTS = [sandbox.Test("1", [21], 42)]
WORKER = "experiments.sandbox.host.worker.SandboxWorker"
BACKENDS = ("bubblewrap", "namespaces")


def main() -> None:
    for backend in BACKENDS:
        boxes(backend)
    with platform() as parts:
        start_simulated(parts)
        parts.start("sandbox", PYTHON, "manage.py", "rqworker", "sandbox", "--worker-class", WORKER, "-v", "0")
        cycle(parts)


def boxes(backend: str, times: int = 40) -> None:
    """One test of a program that does next to nothing, beside the same interpreter without a box; then many at once."""
    if not sandbox.probe(backend).is_sufficient:
        print(f"box, {backend}   not available here: {sandbox.probe(backend).refusal}")
        return
    bare = statistics.median(_timed(_bare) for _ in range(times))
    boxed = statistics.median(_timed(lambda: _boxed(backend)) for _ in range(times))
    print(
        f"one execution, {backend}   {1000 * boxed:.1f} ms, of which {1000 * (boxed - bare):.1f} ms are the box's "
        f"(median of {times}; the bare interpreter takes {1000 * bare:.1f} ms)"
    )
    cores = os.cpu_count() or 1
    begun, count = time.monotonic(), 200
    with ThreadPoolExecutor(cores) as threads:
        list(threads.map(lambda _number: _boxed(backend), range(count)))
    print(f"executions a second, {backend}, {cores} at once   {count / (time.monotonic() - begun):.0f}")


def cycle(parts: Parts, times: int = 5) -> None:
    """A cycle of five models against its critical path: the problem, then the solver whose last judge ends last."""
    cast = {f"coder-{number}": {"model": model} for number, model in enumerate(SPEAKERS, 1)}
    ratios, took, gaps = [], [], []
    for _ in range(times):
        body = {"workflow": "coding", "config": {"cycles": 1, "health_check": False}, "cast": cast}
        run, seconds = played(parts, body)
        times_of = at_provider(parts, run)
        path = critical_path({key: ended - received for key, (received, ended) in times_of.items()})
        ratios.append(seconds / path)
        took.append(seconds)
        ended = ended_at(parts, run)
        gaps.append(between(times_of, ended - seconds, ended))
    ratio = statistics.median(ratios)
    print(
        f"cycle wall time / provider's critical path   {ratio:.3f}   (median of {times}; 5 models, 26 requests, "
        f"{statistics.median(took):.0f} s)"
    )
    medians = (f"{what} {1000 * statistics.median(gap[what] for gap in gaps):.0f} ms" for what in gaps[0])
    print(f"of which the platform's, along the chain that ended last   {', '.join(medians)}")


def between(times: dict[str, tuple[float, float]], begun: float, ended: float) -> dict[str, float]:
    """The seconds that no model wrote in, along the chain that ended last. times: by the key of the step."""

    judge = max((key for key in times if "/judge/" in key), key=lambda key: times[key][1])
    solver = judge.rpartition("/")[2]
    judge_asked, judged = times[judge]
    solver_asked, solved = max(at for key, at in times.items() if f"/solution/{solver}" in key)
    setter_asked, was_set = max(at for key, at in times.items() if "/problem" in key)
    return {
        "start": setter_asked - begun,
        "proof of the problem": solver_asked - was_set,
        "execution of the solution": judge_asked - solved,
        "end": ended - judged,
    }


def critical_path(took: dict[str, float]) -> float:
    """took: the provider's seconds by the key of the step."""
    problem = sum(seconds for key, seconds in took.items() if "/problem" in key)
    chains = []
    for key, seconds in took.items():
        if "/solution/" not in key:
            continue
        judged = [of for other, of in took.items() if "/judge/" in other and other.endswith(f"/of/{key.split('/')[3]}")]
        chains.append(seconds + max(judged, default=0.0))
    return problem + max(chains)


def _boxed(backend: str) -> None:
    found = sandbox.run(CODE, TESTS, entry="double", backend=backend)
    if found.passed != 1:
        raise RuntimeError(f"the box did not do its work: {found.results}")


def _bare() -> None:
    subprocess.run([sys.executable, "-I", "-S", "-c", CODE], check=True, env={})


def _timed(action: Callable[[], None]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
