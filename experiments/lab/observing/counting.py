"""What this process counts, sent to Redis every two seconds, where it is added to what all others have counted.

A counter in Redis only rises, whichever process on whichever machine adds to it, and whoever is asked tells the same.
Each batch is numbered, so that one whose arrival is unknown can be sent again. A process that is killed takes at most
two seconds of counts with it. When Redis itself has lost everything, counters begin anew, which Prometheus notices.
"""

import atexit
import json
import logging
import os
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from accounts.logs import HOST
from experiments.lab.observing.families import Family

logger = logging.getLogger(__name__)

Reader = Callable[[], dict[tuple[str, ...], float]]

SECONDS = 2.0
SILENT_SECONDS = 15  # after which a process counts as gone
BATCH_SECONDS = 86_400  # for which the number of a process's last batch is remembered
TOTALS, PROCESSES, PROCESS, BATCH = (f"arena:metrics:{name}" for name in ("totals", "processes", "process", "batch"))
SUM = "sum"  # what of a histogram a field is, besides the number of its bucket
# KEYS: totals, the number of this process's last batch. ARGV: this one's number, then fields and what to add to them.
ADD = """
local last = redis.call('GET', KEYS[2])
if last and tonumber(last) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'EX', {seconds})
for i = 2, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
""".replace("{seconds}", str(BATCH_SECONDS))


class Counts:
    """Those of one process. `add` and `observe` may be called by every thread, and wait for nothing."""

    def __init__(self, redis: Callable[[], Any]) -> None:
        self._redis = redis
        self._id = uuid4().hex
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._grown: Counter[str] = Counter()
        self._batch: dict[str, float] = {}  # sent, or about to be; empty once Redis has it
        self._number = 0
        self._gauges: dict[Family, Reader] = {}
        self._thread: threading.Thread | None = None

    def add(self, family: Family, *labels: str, by: float = 1.0) -> None:
        with self._lock:
            self._grown[_field(family, labels)] += by  # type: ignore[assignment]
        self.begin()

    def observe(self, family: Family, value: float, *labels: str) -> None:
        bucket = bisect_left(family.bounds, value)
        with self._lock:
            self._grown[_field(family, (*labels, str(bucket)))] += 1
            self._grown[_field(family, (*labels, SUM))] += value  # type: ignore[assignment]
        self.begin()

    def gauge(self, family: Family, read: Reader) -> None:
        """From now on this process tells what `read` gives, by labels. Another thread calls it, and waits for it."""
        self._gauges[family] = read
        self.begin()

    def begin(self) -> None:
        if self._thread is None:
            with self._lock:
                if self._thread is not None:
                    return
                self._thread = threading.Thread(target=self._flush_forever, name="counts", daemon=True)
            self._thread.start()
            atexit.register(self.end)

    def flush(self) -> bool:
        """Whether Redis has everything that was counted before. What it has not is sent again."""
        with self._sending:
            try:
                if self._batch:
                    self._send()
                with self._lock:
                    self._batch, self._grown = dict(self._grown), Counter()
                    self._number += 1
                if self._batch:
                    self._send()
                self._tell()
            except (RedisError, OSError):
                return False  # the job queue and the channel layer have logged it already
            return True

    def end(self) -> None:
        """Send what is left, and take leave."""
        if self.flush():
            with suppress(RedisError, OSError):
                self._redis().delete(f"{PROCESS}:{self._id}")

    def _send(self) -> None:
        pairs = [text for field, value in self._batch.items() for text in (field, repr(value))]
        self._redis().eval(ADD, 2, TOTALS, f"{BATCH}:{self._id}", self._number, *pairs)
        self._batch = {}

    def _tell(self) -> None:
        """That this process is there, and how its gauges stand."""
        found = {family: read() for family, read in list(self._gauges.items())}
        gauges = {_field(family, labels): value for family, told in found.items() for labels, value in told.items()}
        told = json.dumps({"host": HOST, "pid": os.getpid(), "at": time.time(), "gauges": gauges})
        pipeline = self._redis().pipeline()
        pipeline.set(f"{PROCESS}:{self._id}", told, ex=SILENT_SECONDS)
        pipeline.sadd(PROCESSES, self._id)
        pipeline.execute()

    def _flush_forever(self) -> None:
        pause = threading.Event()
        while not pause.wait(SECONDS):
            try:
                self.flush()
            except Exception:  # whatever a gauge stumbles over, the others are still told
                logger.exception("what was counted could not be sent")


def connect() -> Any:
    """Redis, which answers soon or not at all: nobody waits for figures."""
    global _connection
    if _connection is None:
        _connection = Redis.from_url(
            settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2, decode_responses=True
        )
    return _connection


def field_of(text: str) -> tuple[str, tuple[str, ...]]:
    """The name of a family and the labels, as `add` was told; of a histogram with its bucket or `sum` behind them."""
    name, *labels = json.loads(text)
    return name, tuple(labels)


def _field(family: Family, labels: tuple[str, ...]) -> str:
    return json.dumps([family.name, *labels], ensure_ascii=False)


_connection: Any = None
_counts = Counts(connect)
add, observe, gauge, flush, begin = _counts.add, _counts.observe, _counts.gauge, _counts.flush, _counts.begin
