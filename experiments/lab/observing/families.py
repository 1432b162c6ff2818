"""Every figure that `/metrics` tells, with its unit and its labels. docs/operating.md is tested against this list.

No label holds an id, or what people wrote: each has as many values as the catalogue, the workflows or the addresses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

CALL_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
SHORT_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Family:
    """name: as Prometheus reads it, a counter's with `_total`. bounds: upper ends of a histogram's buckets."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    words: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


# --- Counted where it happens, added up over all processes ---

CALLS = Family("arena_calls_total", "counter", "Calls of models that have ended.", ("provider", "model", "outcome"))
CALL_ERRORS = Family("arena_call_errors_total", "counter", "Calls that failed.", ("provider", "kind"))
FIRST_TOKEN = Family(
    "arena_call_first_token_seconds", "histogram", "From sending a call to its first word.", ("provider",), CALL_SECONDS
)
CALL_LENGTH = Family(
    "arena_call_duration_seconds", "histogram", "From sending a call to its end.", ("provider",), CALL_SECONDS
)
TOKENS = Family("arena_tokens_total", "counter", "Tokens read and written.", ("provider", "model", "direction"))
COST = Family("arena_cost_dollars_total", "counter", "What calls cost, where that is known.", ("provider", "model"))
UNPRICED = Family(
    "arena_calls_unpriced_total", "counter", "Ended calls of which nobody knows what they cost.", ("provider", "model")
)
RUNS_STARTED = Family("arena_runs_started_total", "counter", "Runs that were begun.", ("workflow",))
RUNS_ENDED = Family("arena_runs_ended_total", "counter", "Runs that have ended.", ("workflow", "state"))
TAKEOVERS = Family(
    "arena_lease_takeovers_total", "counter", "Runs taken over from a worker that was not heard of any more."
)
SWEEPS = Family("arena_sweeps_total", "counter", "Looks for runs that nobody drives.", ("outcome",))
SWEPT = Family("arena_sweep_found_runs_total", "counter", "Runs that such a look has found.")
EXECUTIONS = Family(
    "arena_sandbox_executions_total", "counter", "Programs that the sandbox was asked to run.", ("outcome",)
)
EXECUTION_LENGTH = Family(
    "arena_sandbox_execution_seconds", "histogram", "How long a program took with its tests.", (), SHORT_SECONDS
)
WEBHOOKS = Family("arena_webhook_attempts_total", "counter", "Attempts to tell a webhook.", ("outcome",))
HTTP_REQUESTS = Family(
    "arena_http_requests_total", "counter", "Requests that were answered.", ("route", "method", "status")
)
HTTP_SECONDS = Family(
    "arena_http_request_duration_seconds", "histogram", "How long an answer took.", ("route",), SHORT_SECONDS
)
COUNTED = (
    *(CALLS, CALL_ERRORS, FIRST_TOKEN, CALL_LENGTH, TOKENS, COST, UNPRICED, RUNS_STARTED, RUNS_ENDED, TAKEOVERS),
    *(SWEEPS, SWEPT, EXECUTIONS, EXECUTION_LENGTH, WEBHOOKS, HTTP_REQUESTS, HTTP_SECONDS),
)

# --- Of each process, as it stands: those of all processes are added up ---

VIEWERS = Family("arena_websocket_viewers", "gauge", "Open WebSockets of people who watch a run.")
DRIVEN = Family("arena_runs_driven", "gauge", "Runs that the workers drive, as they say themselves.")
PAUSED = Family(
    "arena_provider_models_paused",
    "gauge",
    "Models that workers ask nothing for a while, as their provider limits calls.",
    ("provider",),
)
OF_PROCESSES = (VIEWERS, DRIVEN, PAUSED)

# --- As it stands in the database and in Redis ---

DATABASE_UP = Family("arena_database_up", "gauge", "1 when the database answers.")
REDIS_UP = Family("arena_redis_up", "gauge", "1 when Redis answers.")
RUNS = Family("arena_runs", "gauge", "Runs that have not ended.", ("workflow", "state"))
OLDEST = Family("arena_oldest_queued_run_seconds", "gauge", "For how long the oldest queued run waits; 0 for none.")
LEASES_EXPIRED = Family("arena_leases_expired", "gauge", "Runs whose worker is silent, and that nobody took.")
IN_FLIGHT = Family("arena_calls_in_flight", "gauge", "Calls that are under way.", ("provider",))
QUEUE_DEPTH = Family("arena_queue_depth", "gauge", "Pieces of work that wait for a worker.", ("queue",))
QUEUED_JOBS = Family("arena_queue_bells", "gauge", "Jobs in Redis that no worker has taken.", ("queue",))
WORKERS = Family("arena_workers", "gauge", "Workers that were heard of within a minute.", ("queue",))
DISK_FREE = Family("arena_data_disk_free_bytes", "gauge", "Room left where the data directory is.")
BACKUP = Family(
    "arena_last_backup_timestamp_seconds",
    "gauge",
    "When the last backup was taken, as Unix time; absent when there has been none.",
)
STANDING = (
    *(DATABASE_UP, REDIS_UP, RUNS, OLDEST, LEASES_EXPIRED, IN_FLIGHT, QUEUE_DEPTH, QUEUED_JOBS, WORKERS, DISK_FREE),
    BACKUP,
)


def every() -> Iterator[Family]:
    yield from (*COUNTED, *OF_PROCESSES, *STANDING)
