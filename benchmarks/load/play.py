"""One load: so many live runs, each streaming all the time, so many viewers, for so long."""

import contextlib
import json
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.load.samples import Sample, Sampler
from benchmarks.load.scene import Scene, rows
from benchmarks.parts import PYTHON, ROOT

SECONDS_PER_ANSWER = 8
QUIET_SECONDS = 90


@dataclass(frozen=True, slots=True)
class Order:
    """turns: of each run, in the place of which another one begins when it has ended. asks: API requests a second."""

    runs: int
    viewers: int
    rate: float
    seconds: float
    turns: int = 12
    sleepers: int = 1
    processes: int = 2
    asks: float = 0
    sample_seconds: float = 5.0


@dataclass(slots=True)
class Outcome:
    """before, after: with nobody there, before the first viewer came and after the last one had left."""

    order: Order
    seen: dict[str, Any]
    rows: dict[str, Any]
    asked: dict[str, Any]
    before: Sample
    samples: list[Sample]
    after: Sample
    seconds: float


@dataclass(slots=True)
class Crowds:
    """The processes with the viewers, and which run each slot has."""

    here: Scene
    order: Order
    slots: dict[int, str] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    _processes: list[Any] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        for number in range(self.order.processes):
            call = [PYTHON, "-m", "benchmarks.load.viewers"]
            process = subprocess.Popen(call, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.here.processes[f"viewers-{number + 1}"] = process
            self._processes.append(process)
            slots = [at % self.order.runs for at in range(number, self.order.viewers, self.order.processes)]
            sleepers = self.order.sleepers if number == 0 else 0
            self._tell(
                process, {"port": self.here.port, "token": self.here.token, "slots": slots, "sleepers": sleepers}
            )
            thread = threading.Thread(target=self._listen, args=(process,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def show(self, runs: dict[int, str]) -> None:
        self.slots |= runs
        for process in self._processes:
            self._tell(process, {"runs": {str(slot): run for slot, run in runs.items()}})

    def take_ended(self) -> list[int]:
        """The slots whose run has ended before the eyes of a process with viewers of it."""
        with self._lock:
            taken, self.ended = self.ended, []
        return taken

    def end(self) -> dict[str, Any]:
        for process in self._processes:
            self._tell(process, {"end": True})
        for thread in self._threads:
            thread.join(300)
        for name in [name for name in self.here.processes if name.startswith("viewers")]:
            self.here.stop(name)
        return added(self.results)

    def _tell(self, process: Any, what: dict[str, Any]) -> None:
        process.stdin.write(json.dumps(what) + "\n")
        process.stdin.flush()

    def _listen(self, process: Any) -> None:
        for text in process.stdout:
            said = json.loads(text)
            if "seen" in said:
                self.results.append(said["seen"])
                return
            with self._lock:
                self.ended += [slot for slot, run in self.slots.items() if run == said["ended"]]


def added(results: list[dict[str, Any]]) -> dict[str, Any]:
    """What all processes have seen together."""
    ages: Counter[int] = Counter()
    sums: dict[str, Counter[str]] = {"counts": Counter(), "closes": Counter()}
    records: dict[str, Counter[str]] = {}
    for result in results:
        ages.update({int(age): count for age, count in result["ages"].items()})
        for name, counter in sums.items():
            counter.update(result[name])
        for run, digests in result["records"].items():
            records.setdefault(run, Counter()).update(digests)
    sleepers = [code for result in results for code in result["sleepers"]]
    return {"ages": ages, **sums, "records": records, "sleepers": sleepers}


def play(here: Scene, order: Order) -> Outcome:
    here.stamping(order.rate, int(order.rate * SECONDS_PER_ANSWER))
    here.prepare(order.turns)
    sampler = Sampler(here.pids, here.redis_socket, here.environment["DATABASE_URL"], order.sample_seconds)
    _warm_up(here, order)
    before = sampler.take()
    crowds = Crowds(here, order)
    crowds.start()
    crowds.show(dict(enumerate(here.begin(order.runs))))
    asking = _start_asking(here, order)
    sampler.start()
    begun = time.monotonic()
    while time.monotonic() - begun < order.seconds:
        time.sleep(0.2)
        _replace(here, crowds, crowds.take_ended())
    seconds = time.monotonic() - begun
    sampler.end()
    asked = _asked(asking)
    _stop_all(here, crowds)
    seen = crowds.end()
    here.wait_for(list(crowds.slots.values()), QUIET_SECONDS)
    time.sleep(3)
    samples, after = list(sampler.samples), sampler.take()
    return Outcome(order, seen, rows(here), asked, before, samples, after, seconds)


def _warm_up(here: Scene, order: Order) -> None:
    """One run to its end before one viewer: what is opened once is open then."""
    crowds = Crowds(here, replace(order, runs=1, viewers=1, processes=1, sleepers=0))
    crowds.start()
    [run] = here.begin(1)
    crowds.show({0: run})
    time.sleep(3)
    here.ask("POST", f"runs/{run}/stop/")
    here.wait_for([run], QUIET_SECONDS)
    crowds.end()
    time.sleep(3)


def _replace(here: Scene, crowds: Crowds, slots: list[int]) -> None:
    """Each slot once, although several processes have seen its run end."""
    fresh = {slot for slot in slots if here.ask("GET", f"runs/{crowds.slots[slot]}/")["ended"]}
    if fresh:
        crowds.show(dict(zip(sorted(fresh), here.begin(len(fresh)), strict=True)))


def _stop_all(here: Scene, crowds: Crowds) -> None:
    """Every viewer of a run sees its end, or is found wanting."""
    for run in crowds.slots.values():
        with contextlib.suppress(OSError):  # it has ended by itself
            here.ask("POST", f"runs/{run}/stop/")
    here.wait_for(list(crowds.slots.values()), QUIET_SECONDS)
    time.sleep(5)


def _start_asking(here: Scene, order: Order) -> Any:
    if not order.asks:
        return None
    call = [PYTHON, "-m", "benchmarks.load.asking"]
    process = subprocess.Popen(call, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    here.processes["asking"] = process
    told = {"port": here.port, "token": here.token, "rate": order.asks, "seconds": order.seconds}
    process.stdin.write(json.dumps(told) + "\n")
    process.stdin.close()
    return process


def _asked(process: Any) -> dict[str, Any]:
    return json.loads(process.stdout.read()) if process else {}
