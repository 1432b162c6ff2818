"""However `manage.py up` ends, nothing of it is left."""

import os
import signal
import sqlite3

import pytest

from tests.arenasite.platforms import wait_until

pytestmark = pytest.mark.system


PROCESSES = 8  # the supervisor, Redis, the provider, the web server, two workers, those of reports and of the sandbox


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_within_ten_seconds(start, number):
    platform = start().wait_until_ready()

    code = platform.end(number, seconds=10)

    assert code == 0
    assert platform.all_pids() == []
    assert platform.output.endswith("Stopping …\nStopped.\n")


def test_an_interrupt_from_the_terminal_ends_everything(start):
    platform = start().wait_until_ready()

    os.killpg(platform.process.pid, signal.SIGINT)

    assert platform.process.wait(timeout=40) == 0
    assert platform.all_pids() == []


def test_a_signal_during_the_start_ends_everything(start):
    platform = start()
    wait_until(lambda: platform.pids("redis"))

    code = platform.end(seconds=10)

    assert code == 0
    assert platform.all_pids() == []
    assert "Ready" not in platform.output


def test_a_second_signal_does_not_wait_for_anybody(start):
    platform = start(ARENA_DEMO="1", ARENA_DRAIN_SECONDS="600").wait_until_ready()
    wait_until(lambda: _calls(platform) > 0)
    for pid in platform.pids("worker"):
        os.kill(pid, signal.SIGSTOP)

    platform.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "Stopping" in platform.output)

    assert platform.end() == 0
    assert platform.all_pids() == []


def test_a_frozen_part_is_forced_to_end_in_time(start):
    platform = start().wait_until_ready()
    for part in ("worker", "web"):
        for pid in platform.pids(part):
            os.kill(pid, signal.SIGSTOP)

    assert platform.end(seconds=10) == 0
    assert platform.all_pids() == []


def test_nothing_survives_when_it_is_killed_itself_and_it_starts_again_at_once(start):
    platform = start().wait_until_ready()
    wait_until(lambda: len(platform.all_pids()) == PROCESSES)

    platform.end(signal.SIGKILL)

    again = start(data=platform.data)
    wait_until(lambda: len(set(platform.all_pids()) - {again.process.pid}) == 0, seconds=5)
    again.wait_until_ready()


def _calls(platform) -> int:
    with sqlite3.connect(platform.data / "arena.sqlite3") as database:
        return database.execute("SELECT count(*) FROM experiments_call").fetchone()[0]
