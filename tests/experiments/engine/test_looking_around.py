"""A sweep goes on whatever it meets: what nobody looks for any more would wait for ever."""

import logging
from datetime import UTC, datetime

import pytest
from django.db import InterfaceError, OperationalError
from redis import Redis
from rq import Queue

from experiments.engine.workers import SteadyWorker, look_around
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def raising(error):
    def look():
        raise error

    return look


@each_case(
    "error",
    [
        OperationalError("the server closed the connection"),
        InterfaceError("connection already closed"),  # of Django's errors the one that is no DatabaseError
        OSError("no space left on device"),
        ValueError("a receiver has a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_next_one_looks_whatever_goes_wrong(error):
    looked = []

    look_around(raising(error), lambda: looked.append("next"))

    assert looked == ["next"]


def test_a_bug_is_logged_with_where_it_is_and_a_database_that_is_away_in_a_line(caplog):
    caplog.set_level(logging.WARNING)

    look_around(raising(ValueError("a bug")), raising(OperationalError("away")))

    bug, away = caplog.records
    assert (bug.levelname, bool(bug.exc_info)) == ("ERROR", True)
    assert (away.levelname, away.exc_info) == ("WARNING", None)


def test_a_redis_that_is_away_does_not_break_off_what_a_worker_is_at(tmp_path):
    away = Redis(unix_socket_path=str(tmp_path / "nobody.sock"))
    worker = SteadyWorker([Queue("engine", connection=away)], connection=away, prepare_for_work=False)
    worker._state, worker._shutdown_requested_date = "busy", datetime.now(UTC)

    worker._shutdown()  # as the handler of SIGTERM calls it

    assert worker._stop_requested
