"""Counters only rise, each thing is counted once, and all processes count together."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import TimeoutError as Late

from experiments.lab.observing import counting
from experiments.lab.observing.counting import Counts
from tests.cases import each_case

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_counted")]
SWEEPS = counting.SWEEPS
FIELD = json.dumps([SWEEPS.name, "done"])


def total(field=FIELD):
    return float(counting.connect().hget(counting.TOTALS, field) or 0)


class Unsure:
    """Redis, whose answer to the first batch is lost on its way: the batch may have arrived, or not."""

    def __init__(self, has_arrived):
        self._has_arrived, self._is_first, self.pipeline = has_arrived, True, counting.connect().pipeline

    def eval(self, *args):
        is_first, self._is_first = self._is_first, False
        told = counting.connect().eval(*args) if self._has_arrived or not is_first else None
        if is_first:
            raise Late
        return told


def test_what_several_processes_count_is_added_up_and_goes_on_after_redis_has_forgotten_it():
    for times in (1, 2, 3):
        counts = Counts(counting.connect)
        for _ in range(times):
            counts.add(SWEEPS, "done")
        assert counts.flush()
    assert total() == 6

    counting.connect().delete(counting.TOTALS, *counting.connect().keys(f"{counting.BATCH}:*"))
    counts.add(SWEEPS, "done")
    counts.flush()
    assert total() == 1


@each_case("has_arrived", [True, False])
def test_a_batch_of_unknown_fate_is_counted_once(has_arrived):
    counting.connect().delete(counting.TOTALS)
    redis = Unsure(has_arrived)
    counts = Counts(lambda: redis)
    counts.add(SWEEPS, "done")
    assert not counts.flush()
    counts.add(SWEEPS, "done")
    assert counts.flush()

    assert total() == 2


def test_threads_lose_no_count():
    counts = Counts(counting.connect)

    def count():
        for _ in range(2000):
            counts.add(SWEEPS, "done")

    with ThreadPoolExecutor(4) as threads:
        counters = [threads.submit(count) for _ in range(4)]
        while not all(one.done() for one in counters):
            counts.flush()
    counts.flush()

    assert total() == 8000


def test_buckets_hold_what_is_not_above_their_end(figures):
    for value in (0.05, 0.050001, 0.2, 1000.0):
        counting.observe(counting.CALL_LENGTH, value, "simulated")
    found = figures()

    assert found["arena_call_duration_seconds_bucket", "simulated", "0.05"] == 1
    assert found["arena_call_duration_seconds_bucket", "simulated", "0.1"] == 2
    assert found["arena_call_duration_seconds_bucket", "simulated", "320.0"] == 3
    assert found["arena_call_duration_seconds_bucket", "simulated", "+Inf"] == 4
    assert found["arena_call_duration_seconds_count", "simulated"] == 4
    assert found["arena_call_duration_seconds_sum", "simulated"] == pytest.approx(1000.300001)


def test_gauges_of_all_processes_are_added_up_and_end_with_them(figures):
    one, two = Counts(counting.connect), Counts(counting.connect)
    one.gauge(counting.VIEWERS, lambda: {(): 3})
    two.gauge(counting.VIEWERS, lambda: {(): 4})
    one.flush()
    two.flush()
    assert figures()["arena_websocket_viewers",] == 7

    one.end()
    assert figures()["arena_websocket_viewers",] == 4
    two.end()
