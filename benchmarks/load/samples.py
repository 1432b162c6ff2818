"""What every process of the platform holds, sampled over time: memory, descriptors, seconds of CPU, connections."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import redis

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Held:
    """By one part of the platform, however many processes it has. cpu: seconds since they began."""

    mib: float
    descriptors: int
    cpu: float


@dataclass(frozen=True, slots=True)
class Sample:
    """counts: what Redis and the database say of themselves; a missing one was not answered."""

    at: float
    parts: dict[str, Held]
    counts: dict[str, float]


@dataclass(slots=True)
class Sampler:
    """Takes a sample every so many seconds, until `end`."""

    pids: Callable[[], dict[str, list[int]]]
    redis_socket: Path
    database: str
    seconds: float
    samples: list[Sample] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._sample_forever, name="sampler", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()

    def take(self) -> Sample:
        parts = {name: held(pids) for name, pids in self.pids().items()}
        sample = Sample(time.monotonic(), parts, {**of_redis(self.redis_socket), **of_database(self.database)})
        self.samples.append(sample)
        return sample

    def _sample_forever(self) -> None:
        while not self._stop.wait(self.seconds):
            self.take()


def held(pids: list[int]) -> Held:
    known = [one for pid in pids if (one := _of_process(pid))]
    return Held(sum(one.mib for one in known), sum(one.descriptors for one in known), sum(one.cpu for one in known))


def of_redis(socket: Path) -> dict[str, float]:
    with redis.Redis(unix_socket_path=str(socket)) as client:
        told = client.info()
    return {"Redis memory, MiB": told["used_memory"] / 2**20, "Redis clients": told["connected_clients"]}


def of_database(url: str) -> dict[str, float]:
    if not url.startswith("postgres"):
        return {}
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        [count] = row.fetchone() or (0,)
    return {"database connections": count - 1}


def _of_process(pid: int) -> Held | None:
    """None for one that has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None
    return Held(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, descriptors, (int(fields[11]) + int(fields[12])) / TICKS)
