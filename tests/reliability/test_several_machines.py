"""Three machines: one with the database, Redis and the models, two with the platform. One of these is cut off."""

import contextlib
import json
import signal
import subprocess
import sys
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
    lab = Lab()
    try:
        yield lab
    finally:
        lab.close()


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
