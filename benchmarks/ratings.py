"""Rating systems side by side in one run: time, memory above what was loaded, and error. `make bench-ratings`.

Each measurement is a process of its own; the contenders take turns, so that a busy minute does not hit one of them
alone. What would take longer than LONGEST_SECONDS is left out, and says so. `--times 2 --longest 120` is a quick look.
"""

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from benchmarks.rating_contenders import CONTENDERS
from benchmarks.rating_leagues import SIZES, league, reference

TASKS = ("fit", "sandwich", "bootstrap 100", "bootstrap 1000", "bayesian bootstrap 1000")
PEERS = {  # a task, ours, against whose task
    "fit": (("choix", "fit"), ("evalica", "fit"), ("genarena", "fit"), ("fastchat", "fit"), ("arena-rank", "fit")),
    "sandwich": (("arena-rank", "sandwich"),),
    "bootstrap 100": (("fastchat", "bootstrap 100"),),
    "bootstrap 1000": (("fastchat", "bootstrap 1000"),),
    "bayesian bootstrap 1000": (("fastchat", "bootstrap 1000"),),
}
TIMES = {"fit": 5, "sandwich": 5}
LONGEST_SECONDS = 600


def main(sizes: list[str], most_times: int, longest: float) -> None:
    for size in sizes or list(SIZES):
        found = {(who, task): _measured(who, task, size, most_times, longest) for who, task in _rows()}
        _tell(size, found)


def _rows() -> list[tuple[str, str]]:
    rows = [("ours", task) for task in TASKS] + [peer for peers in PEERS.values() for peer in peers]
    return list(dict.fromkeys(sorted(rows, key=lambda row: TASKS.index(row[1]))))


def _measured(who: str, task: str, size: str, most_times: int, longest: float) -> dict[str, float] | None:
    """Medians over several processes; None when it took too long or failed."""
    times = min(most_times, TIMES.get(task, 1 if who == "fastchat" else 3))
    command = [sys.executable, "-m", "benchmarks.ratings", "--one", who, task, size]
    found = []
    for number in range(times):
        try:
            watched = ["--memory"] if number == times - 1 else []
            done = subprocess.run([*command, *watched], capture_output=True, check=True, timeout=longest)
        except subprocess.CalledProcessError as error:
            print(f"    {who} {task} failed: {error.stderr.decode().strip().splitlines()[-1:]}")
            return None
        except subprocess.TimeoutExpired:
            print(f"    {who} {task} took longer than {longest:.0f} s")
            return None
        found.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{size}: {who} {task}   {found[-1]['seconds']:.4f} s", file=sys.stderr)
    timed = found[:-1] or found  # being watched costs time
    return {**found[-1], "seconds": statistics.median(one["seconds"] for one in timed)}


def _tell(size: str, found: dict[tuple[str, str], dict[str, float] | None]) -> None:
    print(f"\n{size}\n{'':32}{'seconds':>10}{'peak +MB':>10}{'error, Elo':>12}{'times ours':>12}")
    for task, peers in PEERS.items():
        mine = found["ours", task]
        _line("ours", task, mine, None)
        for peer in peers:
            _line(*peer, found[peer], mine)


def _line(who: str, task: str, row: dict[str, float] | None, mine: dict[str, float] | None) -> None:
    if row is None:
        return
    error = f"{row['error']:12.1e}" if row["error"] >= 0 else " " * 12
    ratio = f"{row['seconds'] / mine['seconds']:12.1f}" if mine else ""
    print(f"  {who + ': ' + task:30}{row['seconds']:10.4f}{row['megabytes']:10.0f}{error}{ratio}")


# --- one measurement, in a process of its own ---


def one(who: str, task: str, size: str, *, is_watched: bool) -> None:
    """The second call in a process: the first one, on a few battles, loads and compiles what is needed."""
    CONTENDERS[who](league(5, 500))[task]()
    played = league(*SIZES[size])
    work = CONTENDERS[who](played)[task]
    memory = Memory()
    with memory if is_watched else nullcontext():
        began = time.perf_counter()
        values = work()
        seconds = time.perf_counter() - began
    is_rating = task == "fit" and values is not None
    error = float(np.abs(_centred(values) - reference(played)).max()) if is_rating else -1.0
    print(json.dumps({"seconds": seconds, "megabytes": memory.above, "error": error}))


def _centred(values: np.ndarray) -> np.ndarray:
    return values - values.mean() + 1000


class Memory:
    """The most memory that this process and its children held, above what they held at first, in MB."""

    def __init__(self) -> None:
        self._first = self._most = 0
        self._is_over = threading.Event()

    def __enter__(self) -> "Memory":
        self._first = self._most = _held()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def above(self) -> float:
        return (self._most - self._first) / 1e6

    def _watch(self) -> None:
        while not self._is_over.wait(0.02):
            self._most = max(self._most, _held())


def _held() -> int:
    """Bytes, shared ones counted once per process that shares them in proportion."""
    return sum(_proportional(pid) for pid in _family())


def _family() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(Path("/proc/self").resolve().name), *(int(pid) for task in tasks for pid in task.read_text().split())]


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=3, metavar=("WHO", "TASK", "SIZE"))
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--times", type=int, default=max(TIMES.values()), help="processes per measurement, at most")
    parser.add_argument("--longest", type=float, default=LONGEST_SECONDS, help="seconds that one may take")
    parser.add_argument("sizes", nargs="*", choices=[*SIZES, []])
    asked = parser.parse_args()
    if asked.one:
        one(*asked.one, is_watched=asked.memory)
    else:
        main(asked.sizes, asked.times, asked.longest)
