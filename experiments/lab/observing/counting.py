"""The figures that `/metrics` tells, and what this process counts of them. A test compares docs/operating.md with them.

Counts are sent to Redis every two seconds, where they are added to what all other processes have counted: a counter in
Redis only rises, whichever process on whichever machine adds to it. Each batch has a number, so that one whose arrival
is unknown can be sent again. A process that is killed takes at most two seconds of counts with it. When Redis has lost
everything, counters begin anew, which Prometheus notices.

No label holds an id, or what people wrote: each has as many values as the catalogue, the workflows or the addresses.
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
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from uuid import uuid4

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from accounts.logs import HOST

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


CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
SHORT_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Family:
    """name: as Prometheus reads it, a counter's with `_total`. bounds: upper ends of a histogram's buckets."""

    name: str
    words: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def kind(self) -> Literal["counter", "gauge", "histogram"]:
        return "histogram" if self.bounds else "counter" if self.name.endswith("_total") else "gauge"


FAMILIES: list[Family] = []


def _family(name: str, words: str, *labels: str, bounds: tuple[float, ...] = ()) -> Family:
    FAMILIES.append(Family(f"arena_{name}", words, labels, bounds))
    return FAMILIES[-1]


# Counted where it happens, added up over all processes.
CALLS = _family("calls_total", "Calls of models that have ended.", "provider", "model", "outcome")
CALL_ERRORS = _family("call_errors_total", "Calls that failed.", "provider", "kind")
FIRST_TOKEN = _family(
    "call_first_token_seconds", "From sending a call to its first word.", "provider", bounds=CALL_SECONDS
)
CALL_LENGTH = _family("call_duration_seconds", "From sending a call to its end.", "provider", bounds=CALL_SECONDS)
TOKENS = _family("tokens_total", "Tokens read and written.", "provider", "model", "direction")
COST = _family("cost_dollars_total", "What calls cost, where that is known.", "provider", "model")
UNPRICED = _family("calls_unpriced_total", "Ended calls of which nobody knows what they cost.", "provider", "model")
RUNS_STARTED = _family("runs_started_total", "Runs that were begun.", "workflow")
RUNS_ENDED = _family("runs_ended_total", "Runs that have ended.", "workflow", "state")
TAKEOVERS = _family("lease_takeovers_total", "Runs taken over from a worker that was not heard of any more.")
SWEEPS = _family("sweeps_total", "Looks for runs that nobody drives.", "outcome")
SWEPT = _family("sweep_found_runs_total", "Runs that such a look has found.")
EXECUTIONS = _family("sandbox_executions_total", "Programs that the sandbox was asked to run.", "outcome")
EXECUTION_LENGTH = _family("sandbox_execution_seconds", "How long a program took with its tests.", bounds=SHORT_SECONDS)
WEBHOOKS = _family("webhook_attempts_total", "Attempts to tell a webhook.", "outcome")
HTTP_REQUESTS = _family("http_requests_total", "Requests that were answered.", "route", "method", "status")
HTTP_SECONDS = _family("http_request_duration_seconds", "How long an answer took.", "route", bounds=SHORT_SECONDS)
COUNTED = tuple(FAMILIES)

# Told by each process as it is now: those of all processes are added up.
VIEWERS = _family("websocket_viewers", "Open WebSockets of people who watch a run.")
DRIVEN = _family("runs_driven", "Runs that the workers drive, as they say themselves.")
PAUSED = _family(
    "provider_models_paused",
    "Models that workers ask nothing for a while, as their provider limits calls.",
    "provider",
)
OF_PROCESSES = (VIEWERS, DRIVEN, PAUSED)

# Read from the database and Redis on request.
DATABASE_UP = _family("database_up", "1 when the database answers.")
REDIS_UP = _family("redis_up", "1 when Redis answers.")
RUNS = _family("runs", "Runs that have not ended.", "workflow", "state")
OLDEST = _family("oldest_queued_run_seconds", "For how long the oldest queued run waits; 0 for none.")
LEASES_EXPIRED = _family("leases_expired", "Runs whose worker is silent, and that nobody took.")
IN_FLIGHT = _family("calls_in_flight", "Calls that are under way.", "provider")
QUEUE_DEPTH = _family("queue_depth", "Pieces of work that wait for a worker.", "queue")
QUEUED_JOBS = _family("queue_bells", "Jobs in Redis that no worker has taken.", "queue")
WORKERS = _family("workers", "Workers that were heard of within a minute.", "queue")
DISK_FREE = _family("data_disk_free_bytes", "Room left where the data directory is.")
BACKUP = _family(
    "last_backup_timestamp_seconds",
    "When the last backup was taken, as Unix time; absent when there has been none.",
)


class Counts:
    """Those of one process. `add` and `observe` may be called by every thread, and wait for nothing."""

    def __init__(self, redis: Callable[[], Any]) -> None:
        self._redis = redis
        self.begin_anew()

    def begin_anew(self) -> None:
        """With nothing counted: what was counted before it was copied is the other process's."""
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
        """Send what is left, and sign this process off."""
        if self.flush():
            with suppress(RedisError, OSError):
                self._redis().delete(f"{PROCESS}:{self._id}")

    def _send(self) -> None:
        pairs = [text for field, value in self._batch.items() for text in (field, repr(value))]
        self._redis().eval(ADD, 2, TOTALS, f"{BATCH}:{self._id}", self._number, *pairs)
        self._batch = {}

    def _tell(self) -> None:
        """That this process is alive, and the values of its gauges."""
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


@cache
def connect() -> Any:
    """Redis, with short timeouts: figures are not worth waiting for."""
    return Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2, decode_responses=True)


def field_of(text: str) -> tuple[str, tuple[str, ...]]:
    """The name of a family and the labels, as `add` was told; of a histogram with its bucket or `sum` behind them."""
    name, *labels = json.loads(text)
    return name, tuple(labels)


def _field(family: Family, labels: tuple[str, ...]) -> str:
    return json.dumps([family.name, *labels], ensure_ascii=False)


_counts = Counts(connect)
os.register_at_fork(after_in_child=_counts.begin_anew)
add, observe, gauge, flush, begin = _counts.add, _counts.observe, _counts.gauge, _counts.flush, _counts.begin
