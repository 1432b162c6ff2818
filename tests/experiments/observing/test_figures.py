"""What was counted is what was played, once each, by all processes together."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from redis.exceptions import TimeoutError as Late

from experiments.engine import leases
from experiments.engine.driver import Driver
from experiments.engine.jobs import driven, sweep
from experiments.lab.observing import counting
from experiments.lab.observing.counting import Counts
from experiments.lab.observing.exposition import exposition
from experiments.models import Call, ProviderModel, Run

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_played_is_counted_call_by_call_with_its_money_where_a_price_is_known_and_failures_by_kind(
    arena, start, drive, figures, scripted, alice
):
    speaks, unknown = scripted.model("scripted/speaks", "canary-reply"), scripted.model("scripted/unknown", "Five.")
    known = ProviderModel.objects.get(slug=speaks)
    known.prices.create(since="2020-01-01T00:00Z", input="0.000001", output="0.000002")
    run = start(arena(speaks, unknown, max_turns=1, prompt="canary-prompt"))
    leases.release(run.pk, leases.claim(run.pk, lambda event: None).fence)
    drive()

    calls, found = Call.objects.filter(run=run), figures()
    counted = {key: value for key, value in found.items() if key[0] == "arena_calls_total"}
    assert sum(counted.values()) == calls.count() > 3
    theirs, scripteds = calls.filter(model=known), calls.filter(model__slug__in=(speaks, unknown))
    assert found["arena_calls_total", "scripted", speaks, "completed"] == theirs.count()
    for direction, column in (("input", "input_tokens"), ("output", "output_tokens")):
        tokens = sum(theirs.values_list(column, flat=True))
        assert found["arena_tokens_total", "scripted", speaks, direction] == tokens > 0
    assert found["arena_call_duration_seconds_count", "scripted"] == scripteds.count()
    seconds = sum(scripteds.values_list("seconds", flat=True))
    assert found["arena_call_duration_seconds_sum", "scripted"] == pytest.approx(seconds)
    assert found["arena_call_first_token_seconds_count", "scripted"] == scripteds.count()
    assert found["arena_runs_started_total", "arena"] == found["arena_runs_ended_total", "arena", "completed"] == 1
    assert found["arena_lease_takeovers_total",] == 0, "a run that was given back is not taken over"
    cost = sum(theirs.values_list("cost", flat=True))
    assert found["arena_cost_dollars_total", "scripted", speaks] == pytest.approx(float(cost))
    assert cost > 0
    assert ("arena_cost_dollars_total", "scripted", unknown) not in found
    assert found["arena_calls_unpriced_total", "scripted", unknown] == 1

    text, content_type = exposition("application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    assert text.endswith(b"# EOF\n")
    for secret in ("canary", alice.username, str(run.pk)):
        assert secret not in text.decode()

    start(arena(scripted.model("scripted/fails", 401), max_turns=1))
    drive()
    found = figures()
    assert found["arena_call_errors_total", "scripted", "bad_key"] == 1
    assert found["arena_calls_total", "scripted", "scripted/fails", "failed"] == 1
    assert found["arena_runs_ended_total", "arena", "failed"] == 1


def test_a_run_that_is_taken_over_and_its_lost_call_are_counted(arena, start, drive, figures):
    run = start(arena(max_turns=1))
    taken = leases.claim(run.pk, lambda event: None)
    step = taken.steps.create(key="turn/1/A", kind="ask", purpose="reply", seat="A", turn=1)
    model = taken.experiment.participants.first().model
    taken.calls.create(step=step, attempt=1, model=model, request={})
    Run.objects.filter(pk=run.pk).update(lease_until="2020-01-01T00:00Z")
    before = figures()
    assert before["arena_leases_expired",] == before["arena_runs", "arena", "running"] == 1
    assert before["arena_calls_in_flight", "simulated"] == 1
    drive()

    found = figures()
    assert found["arena_lease_takeovers_total",] == 1
    assert found["arena_calls_total", "simulated", model.slug, "lost"] == 1
    assert found["arena_call_errors_total", "simulated", "lost"] == 1
    assert found["arena_leases_expired",] == found["arena_runs", "arena", "running"] == 0


def test_what_waits_is_seen_before_anybody_drives_it(arena, start, figures):
    for _ in range(3):
        start(arena(max_turns=1))
    assert sweep() == 3

    found = figures()
    assert found["arena_runs", "arena", "queued"] == found["arena_queue_depth", "engine"] == 3
    assert found["arena_oldest_queued_run_seconds",] >= 0
    assert found["arena_sweeps_total", "done"] == 1
    assert found["arena_sweep_found_runs_total",] == 3


def test_a_process_tells_how_many_runs_it_drives(arena, start):
    for _ in range(2):
        start(arena(max_turns=1))
    assert driven() == {(): 0}
    driver = Driver(Event())
    assert 2 in [driven()[()] for _round in driver.steps(0.5)]
    assert driven() == {(): 0}
    assert driver._executor._loop.is_closed(), "one that is left open stays for as long as the process"


SWEEPS = counting.SWEEPS


def total():
    return float(counting.connect().hget(counting.TOTALS, json.dumps([SWEEPS.name, "done"])) or 0)


@pytest.mark.usefixtures("nothing_counted")
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


@pytest.mark.usefixtures("nothing_counted")
def test_a_batch_of_unknown_fate_is_counted_once():
    for redis in (Unsure(has_arrived=True), Unsure(has_arrived=False)):
        counting.connect().delete(counting.TOTALS)
        counts = Counts(lambda redis=redis: redis)
        counts.add(SWEEPS, "done")
        assert not counts.flush()
        counts.add(SWEEPS, "done")
        assert counts.flush()
        assert total() == 2, redis._has_arrived


@pytest.mark.usefixtures("nothing_counted")
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
