"""The platform is asked to end while models speak, and started again, as at every update."""

import contextlib
import sqlite3

import httpx
import pytest

from tests.arenasite.platforms import manage, with_tables
from tests.fixtures import wait_until
from tests.parts.simulated import running

pytestmark = pytest.mark.system


RUNS, TURNS = 3, 2
MODEL = "sim/cooperative:first=0:tps=40:words=80"
PREPARE = """
from django.core.management import call_command
from accounts.models import User
User.objects.create_user("alice", password="correct horse battery", role="admin")
call_command("add_provider", name="lab", base_url=BASE, allow_private=True, model=[[MODEL]])
call_command("create_token", "alice")
"""
CONFIG = {"prompt": "Share seven panels.", "max_turns": TURNS, "gap_seconds": 0, "filter": False, "judge": False}
EXPERIMENT = {"workflow": "arena", "config": CONFIG, "cast": {seat: {"model": MODEL} for seat in "AB"}}
CALLS = "SELECT id, step_id, state, attempt FROM experiments_call"
SAID = "SELECT id, raw_text FROM experiments_message"
STATES = "SELECT state, lease_until IS NULL FROM experiments_run"


@pytest.fixture
def provider():
    """It goes on while the platform is away."""
    with running() as provider:
        yield provider


@pytest.fixture
def started(start, provider, tmp_path):
    """A platform with runs that nobody drives yet, and how it is started."""
    data = tmp_path / "data"
    prepare = PREPARE.replace("BASE", repr(provider.base_url)).replace("MODEL", repr(MODEL))
    with_tables(data)
    told = manage("shell", "-v0", "-c", prepare, ARENA_DATA=str(data))
    assert told.returncode == 0, told.stderr
    platform = start("--workers", "1", data=data, ARENA_DRAIN_SECONDS="120").wait_until_ready()
    headers = {"Authorization": f"Bearer {told.stdout.split()[-1]}"}
    with httpx.Client(base_url=f"http://localhost:{platform.port}/api/", headers=headers, timeout=120) as api:
        made = api.post("experiments/", json=EXPERIMENT)
        assert made.status_code == 201, made.text
        assert api.post(f"experiments/{made.json()['id']}/start/", json={"repeats": RUNS}).status_code == 201
    return platform


def test_an_update_in_the_middle_of_answers_repeats_nothing_and_loses_nothing(started, start, provider):
    wait_until(lambda: _speaking(provider) == RUNS, "all runs to speak")

    code = started.end()

    assert code == 0
    assert started.all_pids() == []
    assert started.output.endswith("Stopping …\nStopped.\n")
    assert {row["outcome"] for row in provider.ledger()} == {"finished"}, "what was under way is heard out"
    assert _rows(started, STATES) == [("queued", 1)] * RUNS
    said = _rows(started, SAID)
    assert len(said) == len(provider.ledger())

    again = start("--workers", "1", data=started.data).wait_until_ready()
    wait_until(lambda: _rows(again, STATES) == [("completed", 1)] * RUNS, "all runs to complete")

    calls = _rows(again, CALLS)
    assert sorted(row["request_id"].replace("-", "") for row in provider.ledger()) == sorted(one[0] for one in calls)
    assert len({step for _, step, *_ in calls}) == len(calls) == RUNS * TURNS * 2
    assert {tuple(outcome) for _, _, *outcome in calls} == {("completed", 1)}
    assert set(said) <= set(_rows(again, SAID))


def _speaking(provider):
    return sum(row["outcome"] == "open" and row["tokens_sent"] > 3 for row in provider.ledger())


def _rows(platform, query):
    with contextlib.closing(sqlite3.connect(platform.data / "arena.sqlite3", timeout=60)) as database:
        return database.execute(query).fetchall()
