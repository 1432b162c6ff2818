"""A worker that is asked to end is in the middle of something, which must not hear of it."""

from datetime import UTC, datetime
from pathlib import Path

from redis import Redis
from rq import Queue

from experiments.engine.workers import SteadyWorker


def test_a_redis_that_is_away_does_not_break_off_what_a_worker_is_at(tmp_path: Path):
    away = Redis(unix_socket_path=str(tmp_path / "nobody.sock"))
    worker = SteadyWorker([Queue("engine", connection=away)], connection=away, prepare_for_work=False)
    worker._state, worker._shutdown_requested_date = "busy", datetime.now(UTC)

    worker._shutdown()  # as the handler of SIGTERM calls it

    assert worker._stop_requested
