"""Three machines: one with the database, Redis and the models, two with the platform. One of these is cut off."""

import contextlib
import itertools
import json
import signal
import subprocess
import sys
import time
from collections import Counter

import psycopg
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.fixtures import wait_until
from tests.making import maker
from tests.reliability.hosts import PORT, ROOT, Lab

pytestmark = [pytest.mark.system, pytest.mark.exhaustive]


PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from accounts.models import User
User.objects.create_user("alice", password="correct horse battery", role="admin")
call_command("add_provider", name="lab", base_url="http://10.77.0.1:9000/v1", allow_private=True, model=[MODELS])
call_command("create_token", "alice")
"""
CHANGE = """
import time
from accounts.models import User
from django.db import transaction
with transaction.atomic():
    User.objects.filter(username="alice").update(last_name="away")
    print("changed", flush=True)
    time.sleep(600)
"""
SLOW = "sim/cooperative:first=0:tps=25:words=100"
MODELS = [SLOW, "sim/judge:first=0", "sim/filter:first=0"]
ARENA = {"prompt": "Share seven solar panels between two villages.", "max_turns": 2, "gap_seconds": 0}
CAST = {"A": SLOW, "B": SLOW, "judge": "sim/judge:first=0", "filter": "sim/filter:first=0"}
EXPERIMENT = {"workflow": "arena", "config": ARENA, "cast": {seat: {"model": CAST[seat]} for seat in CAST}}
TIMEOUT = 80  # of a viewer that hears nothing


@pytest.fixture(scope="module")
def lab():
    with Lab() as lab:
        yield lab


@pytest.fixture(scope="module")
def token(lab):
    told = lab.manage(lab.core, "shell", "-c", PREPARE.replace("MODELS", repr(MODELS)))
    assert told.returncode == 0, told.stderr
    return told.stdout.split()[-1]


@pytest.fixture(scope="module")
def machines(lab, token):
    """The second one drives two runs at most."""
    one, two = lab.plugged("one", 2), lab.plugged("two", 3)
    lab.work(two, ARENA_RUNS_PER_WORKER="2")
    lab.work(one)
    lab.serve(one)
    lab.serve(two)
    return one, two


@maker
def begin(lab, token, machines, /, host, repeats):
    with host.here(), lab.client(host, token) as api:
        made = api.post("experiments/", json=EXPERIMENT)
        assert made.status_code == 201, made.text
        started = api.post(f"experiments/{made.json()['id']}/start/", json={"repeats": repeats})
        assert started.status_code == 201, started.text
        return [run["id"] for run in started.json()["runs"]]


class Viewer:
    """Somebody who watches a run from a machine, and comes back where the connection is cut."""

    def __init__(self, host, run, token):
        self.host, self.run, self.seen, self.ended = host, run, [], False
        self._headers, self._sockets = {"Authorization": f"Bearer {token}"}, contextlib.ExitStack()
        self.open()

    def open(self):
        address = f"ws://{self.host.address}:{PORT}/ws/runs/{self.run}/?after={len(self.seen)}"
        with self.host.here():
            opened = connect(address, additional_headers=self._headers, open_timeout=TIMEOUT)
            self.socket = self._sockets.enter_context(opened)

    def watch(self):
        """To the end of the run."""
        while not self.ended:
            try:
                envelope = json.loads(self.socket.recv(TIMEOUT))
            except (ConnectionClosed, TimeoutError):
                self.open()
                continue
            if envelope["type"] != "message_stream":
                self.seen.append(envelope["seq"])
                self.ended = envelope["type"] == "experiment_stopped"
        self._sockets.close()


def drives(lab, host, runs):
    return all(f"run={run} claimed" in lab.log(host) for run in runs)


def speaks(lab, run):
    return lab.ask("SELECT 1 FROM experiments_call WHERE run_id = %s AND state = 'sent' AND length(text) > 20", run)


def test_the_runs_of_a_machine_that_is_cut_off_go_on_elsewhere_each_step_once(lab, token, machines, begin):
    one, two = machines
    [worker_of_one, _web] = one.processes
    worker_of_one.send_signal(signal.SIGSTOP)
    of_two = begin(one, repeats=2)
    wait_until(lambda: drives(lab, two, of_two), "the second machine to take both")
    worker_of_one.send_signal(signal.SIGCONT)
    [of_one] = begin(two, repeats=1)
    wait_until(lambda: drives(lab, one, [of_one]), "the first machine to take the third")
    viewers = [Viewer(host, run, token) for run in of_two for host in machines]
    wait_until(lambda: all(speaks(lab, run) for run in of_two), "words on the second machine")

    lab.pull(two)
    wait_until(lambda: drives(lab, one, of_two), "the first machine to take over")
    asked = lab.ask("SELECT id FROM experiments_call WHERE state = 'sent'")
    assert asked
    lab.plug(two)
    for viewer in viewers:
        viewer.watch()
    wait_until(
        lambda: lab.ask("SELECT state, count(*) FROM experiments_run GROUP BY 1") == [("completed", 3)], "the end"
    )

    assert_once(lab)
    assert lab.ask("SELECT fence FROM experiments_run WHERE id = ANY(%s::uuid[])", of_two) == [(2,), (2,)]
    for viewer in viewers:
        [(last,)] = lab.ask("SELECT last_seq FROM experiments_run WHERE id = %s", viewer.run)
        assert viewer.seen == list(range(1, last + 1))


def test_a_machine_that_is_gone_in_the_middle_of_a_change_holds_up_nobody_for_long(lab, token):
    gone = lab.plugged("gone", 5)
    command = [sys.executable, str(ROOT / "manage.py"), "shell", "--no-imports", "-c", CHANGE]
    changing = gone.start(*command, env=lab.environment("gone"), stdout=subprocess.PIPE)
    assert changing.stdout.readline() == b"changed\n"
    lab.pull(gone)
    changing.kill()

    change = "UPDATE accounts_user SET last_name = 'there' WHERE username = 'alice' RETURNING last_name"
    with psycopg.connect(lab.socket, options="-c lock_timeout=90s") as connection:
        assert connection.execute(change).fetchall() == [("there",)]


def assert_once(lab):
    """Every step has one outcome and one completed call; what else was asked is marked as lost; the provider knows of
    nothing that we do not know of, and no message is there twice.
    """
    calls = lab.ask("SELECT id::text, state, step_id FROM experiments_call")
    completed = Counter(step for _id, state, step in calls if state == "completed")
    assert {state for _id, state, _step in calls} <= {"completed", "lost"}
    assert set(completed.values()) == {1}
    assert set(completed) == {step for _id, _state, step in calls}
    asked = [json.loads(line)["request_id"] for line in lab.ledger.read_text().splitlines()]
    assert len(asked) == len(set(asked))
    assert set(asked) <= {call for call, _state, _step in calls}
    assert {call for call, state, _step in calls if state == "completed"} <= set(asked)
    said = lab.ask("SELECT run_id, turn, seat, count(*) FROM experiments_message GROUP BY 1, 2, 3")
    assert all(times == 1 for *_place, times in said)
    numbers = lab.ask("SELECT run_id, count(*), max(seq) FROM experiments_event GROUP BY run_id")
    assert all(count == highest for _run, count, highest in numbers)


MODEL = "sim/cooperative:first=0:tps=25:words=200"  # eight seconds a call
MOST, RUNS, TURNS = 6, 16, 2
CUT_SECONDS = 60.0
BEGUN = f"""
from experiments.models import Provider
from experiments.runs import actions
Provider.objects.update(concurrency={MOST})
alice = User.objects.get()
config = {{"prompt": "Share.", "max_turns": {TURNS}, "gap_seconds": 0, "filter": False, "judge": False}}
cast = {{seat: {{"model": "{MODEL}"}} for seat in "AB"}}
actions.start(actions.create(owner=alice, workflow="arena", config=config, cast=cast), by=alice, repeats={RUNS})
"""
CALLS = "SELECT state, count(*), count(DISTINCT step_id) FROM experiments_call GROUP BY 1"


def calls_at_once(lab):
    """The most that were under way at any moment, as the provider saw them."""
    ended = [json.loads(line) for line in lab.ledger.read_text().splitlines()]
    changes = sorted([(one["ended"], -1) for one in ended] + [(one["received"], 1) for one in ended])
    return max(itertools.accumulate(change for _at, change in changes))


def test_the_limit_holds_while_a_machine_with_callers_is_cut_off_for_a_minute_and_nothing_is_lost():
    """Two machines with two callers and four workers each; the one is cut off from the provider, too."""
    with Lab() as lab:
        prepared = lab.manage(lab.core, "shell", "-c", PREPARE.replace("MODELS", repr([MODEL])) + BEGUN)
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
