"""Many live runs before many viewers, on a whole platform: nothing is lost, and nothing is left over."""

import contextlib
import os
import sqlite3
import time
from dataclasses import replace

import pytest

from benchmarks.load.play import Order, play
from benchmarks.load.scene import Scene, scene
from experiments.engine.partial_text import SAVE_SECONDS
from tests.parts import template_database

pytestmark = pytest.mark.system

ORDER = Order(runs=6, viewers=30, rate=50, seconds=15, turns=2, sleepers=0, processes=1, sample_seconds=2)
SHORT = replace(ORDER, runs=2, viewers=6, seconds=4, turns=1)
COUNT_WRITES = """
CREATE TABLE written (times INTEGER);
INSERT INTO written VALUES (0);
CREATE TRIGGER count_writes AFTER UPDATE OF text ON experiments_call BEGIN UPDATE written SET times = times + 1; END;
"""


def _asks(here: Scene, times: int) -> bool:
    return all("results" in here.ask("GET", "runs/?page_size=5") for _ in range(times))


def _connections(here: Scene) -> int:
    """How often the web server has the database open."""
    [web] = here.pids()["web"]
    found = 0
    for number in os.listdir(f"/proc/{web}/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            found += os.readlink(f"/proc/{web}/fd/{number}").endswith("load.sqlite3")
    return found


@pytest.mark.parametrize("order", [SHORT, pytest.param(ORDER, marks=pytest.mark.exhaustive)], ids=["short", "long"])
def test_viewers_have_what_the_rows_have_text_is_written_at_its_pace_and_everything_is_given_back(order):
    arguments = ["--workers", "1", "--web", "1"]
    with scene(is_postgres=False, arguments=arguments, tables=template_database.migrated()) as here:
        database = sqlite3.connect(here.folder / "load.sqlite3", timeout=60)
        database.executescript(COUNT_WRITES)
        begun = time.monotonic()
        outcome = play(here, order)
        seconds = time.monotonic() - begun
        connections = [_connections(here) for _ in range(2) if _asks(here, 30)]
        [[writes]] = database.execute("SELECT times FROM written")
        database.close()

    records, truth, counts = outcome.seen["records"], outcome.rows["records"], outcome.seen["counts"]
    assert counts["messages"] > 4 * order.viewers
    assert records
    assert {run: set(digests) for run, digests in records.items()} == {run: {truth[run]} for run in records}
    assert sum(digests.total() for digests in records.values()) >= order.viewers
    assert outcome.rows["live"] == 0
    assert outcome.rows["jumps"] == 0, "the numbers of a run's events have no hole"
    assert outcome.rows["unequal"] == 0, "a message is what its call and its event say"
    checkpoints, ends = order.runs * seconds / SAVE_SECONDS, 2 * outcome.rows["calls"]
    assert 0 < writes <= checkpoints + ends, "however many watch"

    assert outcome.seen["closes"] == {}
    assert counts["refused"] == 0
    for name in ("web", "worker"):
        assert outcome.after.parts[name].descriptors <= outcome.before.parts[name].descriptors + 10, name
    assert len(outcome.after.counts) >= 2
    for name, after in outcome.after.counts.items():
        assert after <= outcome.before.counts[name] + 6, name
    assert max(connections) <= 3, "after thirty requests, and after sixty"
