"""Two machines with two callers and four workers each, one of them cut off for a minute, from the provider, too: that
has at no time more calls than the lab allows it, none is lost, and everything completes.
"""

import itertools
import json
import time

import pytest

from tests.fixtures import wait_until
from tests.reliability.hosts import Lab

pytestmark = [pytest.mark.system, pytest.mark.exhaustive]

MODEL = "sim/cooperative:first=0:tps=25:words=200"  # eight seconds a call
MOST, RUNS, TURNS = 6, 16, 2
CUT_SECONDS = 60.0
CALLS = "SELECT state, count(*), count(DISTINCT step_id) FROM experiments_call GROUP BY 1"
PREPARE = f"""
from django.core.management import call_command
call_command("migrate", verbosity=0)
from accounts.models import User
from experiments.models import Provider
from experiments.runs import actions
call_command("add_provider", name="lab", base_url="http://10.77.0.1:9000/v1", allow_private=True, model=[["{MODEL}"]])
Provider.objects.update(concurrency={MOST})
alice = User.objects.create_user("alice", password="correct horse battery")
config = {{"prompt": "Share.", "max_turns": {TURNS}, "gap_seconds": 0, "filter": False, "judge": False}}
cast = {{seat: {{"model": "{MODEL}"}} for seat in "AB"}}
experiment = actions.create(owner=alice, workflow="arena", config=config, cast=cast)
actions.start(experiment, by=alice, repeats={RUNS})
"""


@pytest.fixture
def lab():
    lab = Lab()
    try:
        yield lab
    finally:
        lab.close()


def calls_at_once(lab):
    """The most that were under way at any moment, as the provider saw them."""
    ended = [json.loads(line) for line in lab.ledger.read_text().splitlines()]
    changes = sorted([(one["ended"], -1) for one in ended] + [(one["received"], 1) for one in ended])
    return max(itertools.accumulate(change for _at, change in changes))


def test_the_limit_holds_while_a_machine_is_cut_off_and_nothing_is_lost(lab):
    prepared = lab.manage(lab.core, "shell", "-c", PREPARE)
    assert prepared.returncode == 0, prepared.stderr
    hosts = lab.plugged("one", 2), lab.plugged("two", 3)
    for host in hosts:
        for _caller in range(2):
            lab.call(host, ARENA_CALLERS="2")
        for _worker in range(4):
            lab.work(host, ARENA_CALLERS="2", ARENA_RUNS_PER_WORKER="4")
    claimed = "SELECT DISTINCT c.host FROM experiments_caller c JOIN experiments_handedcall h ON h.caller_id = c.id"
    wait_until(lambda: len(lab.ask(claimed)) == 2, "calls on both machines")

    lab.pull(hosts[1])
    plugged_in = time.monotonic() + CUT_SECONDS
    wait_until(lambda: time.monotonic() > plugged_in, "a minute")
    lab.plug(hosts[1])
    states = "SELECT state, count(*) FROM experiments_run GROUP BY 1"
    wait_until(lambda: lab.ask(states) == [("completed", RUNS)], "the end", seconds=600)

    calls = {state: numbers for state, *numbers in lab.ask(CALLS)}
    assert calls.keys() <= {"completed", "failed"}, "what was cut off failed, and was asked again"
    assert calls["completed"] == [2 * TURNS * RUNS] * 2
    assert calls_at_once(lab) == MOST
