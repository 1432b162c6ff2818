"""Executions on their way through the sandbox: each is run by one worker at a time, and told once."""

import json
import threading
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import connections
from django.utils import timezone

from experiments.engine import executions
from experiments.engine.driver import Driver
from experiments.engine.recording import Lease
from experiments.models import Execution, Run, SandboxHost
from experiments.runs import actions
from experiments.sandbox.backends import backend_named
from experiments.sandbox.host import hosts, worker
from experiments.workflows.base.steps import Execute
from tests.experiments.contesting import as_expected, assert_told_once, begun, models, quick
from tests.experiments.contests import sandbox_at_work, solution
from tests.experiments.deliberating import fresh
from tests.fixtures import wait_until
from tests.rivals import at_once

pytestmark = pytest.mark.django_db(transaction=True)

RIGHT = "def f(number):\n    return number + 1\n"
FOREVER = "def ordered(values):\n    while True:\n        pass\n"
SLEEPS = "import time\n\ndef f(number):\n    time.sleep(1.5)\n    return number + 1\n"
TESTS = tuple({"name": str(number), "arguments": [number], "expected": number + 1} for number in (1, 2))


@pytest.fixture
def run(alice, start, scripted):
    return begun(alice, start, models(scripted, None, None, None))


def wanted(run, code=RIGHT, key="cycle/1/execution/coder-1", **more) -> Execution:
    """An execution that waits for the sandbox."""
    step = Execute(key=key, seat="coder-1", code=code, entry="f", tests=TESTS, turn=1, **more)
    executions.begin(Lease(run.pk, run.fence, lambda event: None), [step])
    return Execution.objects.get(run=run, step__key=key)


def work():
    worker.run_all(threading.Event())


def expire(*those):
    Execution.objects.filter(pk__in=[one.pk for one in those]).update(lease_until=timezone.now() - timedelta(seconds=1))


def told(run):
    return [event.data for event in run.events.filter(type="solution_executed")]


@pytest.mark.databases
def test_two_workers_never_run_the_same(run):
    waiting = {wanted(run, key=f"cycle/1/execution/{number}").pk for number in range(12)}

    taken = [execution.pk for those in at_once(*[lambda: executions.take(3)] * 12) for execution in those]

    assert len(taken) == len(set(taken))
    taken += [execution.pk for execution in executions.take(20)]
    assert (len(taken), set(taken)) == (12, waiting)
    assert executions.take(20) == []


@pytest.mark.system
def test_a_worker_that_died_leaves_its_execution_to_another_when_its_lease_ends(run):
    wanted(run)
    [dead] = executions.take(1)
    assert wanted(run).pk == dead.pk
    work()
    assert told(run) == [], "it may be alive"
    expire(dead)
    work()

    execution = Execution.objects.get()
    assert (execution.state, execution.claim) == ("done", 2)
    assert executions.settle(dead, as_expected(dead)) is False, "it comes too late"
    assert executions.fail(dead, executions.FAILED, "It died.") is False
    work()
    [event] = told(run)
    assert (event["passed"], event["of"], event["state"], event["is_unsafe"]) == (2, 2, "done", False)
    assert event["execution"] == str(execution.pk)
    assert (Execution.objects.get().state, execution.step.state) == ("done", "done")
    assert fresh(run).last_seq == run.events.count()


def test_code_that_ends_every_worker_is_given_up_with_its_reason(run):
    wanted(run)
    for _worker in range(executions.MOST_CLAIMS):
        expire(*executions.take(1))
    work()

    execution = Execution.objects.get()
    assert (execution.state, execution.step.state, execution.error_kind) == ("failed", "failed", "sandbox_failed")
    assert "died each time" in execution.error
    assert [event["error"] for event in told(run)] == [execution.error]


@pytest.mark.system
def test_a_worker_that_stops_gives_back_what_it_had_not_ended(run):
    execution = wanted(run, SLEEPS, seconds=60)
    stop = threading.Event()
    thread = threading.Thread(target=lambda: (worker.run_all(stop), connections.close_all()))
    thread.start()
    wait_until(lambda: Execution.objects.filter(state="running").exists(), "the execution to be taken")
    stop.set()
    thread.join(60)

    execution.refresh_from_db()
    assert (execution.state, execution.claim, execution.lease_until, execution.results) == ("waiting", 0, None, None)
    assert told(run) == []
    work()
    assert [result["verdict"] for result in Execution.objects.get().results] == ["passed", "passed"]


@pytest.mark.system
def test_what_was_broken_off_and_taken_anew_is_not_settled_by_the_old_box(run, settings):
    """The run ended and was resumed at once, while the first box was still at it: both have the first claim."""
    settings.LEASE_SECONDS = 1
    execution = wanted(run, SLEEPS, seconds=60)
    thread = threading.Thread(target=lambda: (work(), connections.close_all()))
    thread.start()
    wait_until(lambda: Execution.objects.filter(state="running").exists(), "the execution to be taken")
    Execution.objects.update(state="cancelled")
    wait_until(lambda: not thread.is_alive(), "the box to be ended")
    Execution.objects.update(state="waiting", claim=0)
    [again] = executions.take(1)
    assert (again.pk, again.claim, told(run)) == (execution.pk, 1, [])
    assert executions.settle(again, as_expected(again))


@pytest.mark.databases
def test_arguments_come_back_with_their_names_in_order_and_their_numbers_as_they_were(run):
    tests = ({"name": "1", "arguments": [{"b": 1, "a": 2}, 1e16, "é"], "expected": {"z": [], "y": None}},)
    step = Execute("x", "coder-1", "def f(*a): pass", "f", tests, turn=1)
    executions.begin(Lease(run.pk, run.fence, lambda event: None), [step])

    assert json.dumps(Execution.objects.get().tests) == json.dumps(list(tests))


def test_a_machine_without_a_sandbox_leaves_the_work_to_one_that_can_and_else_fails_it_with_the_reason(run, settings):
    settings.SANDBOX_BACKEND = "no such sandbox"
    wanted(run)
    hosts.check()
    other = SandboxHost.objects.create(name="other", backend="bubblewrap", is_sufficient=True, checked=timezone.now())
    work()
    assert Execution.objects.get().state == "waiting"

    other.delete()
    work()
    execution = Execution.objects.get()
    assert (execution.state, execution.error_kind) == ("failed", "sandbox_unavailable")
    assert hosts.is_doubted.is_set()
    hosts.look()
    assert execution.error == hosts.refusal() != ""


@pytest.mark.system
def test_a_want_of_a_moment_is_tried_again_before_anything_fails(run, settings):
    wanted(run)
    settings.SANDBOX_BACKEND = "off"
    over = threading.Timer(1.0, setattr, (settings, "SANDBOX_BACKEND", ""))
    over.start()
    work()
    over.join()

    assert (Execution.objects.get().state, Execution.objects.get().claim) == ("done", 2)


def test_boxes_are_started_ahead_while_a_contest_is_played_and_then_alone(run, settings, monkeypatch):
    standby, bubblewrap = Mock(), backend_named("bubblewrap")
    monkeypatch.setattr(worker, "standby", standby)
    monkeypatch.setattr("experiments.sandbox.sufficient", lambda _name: (bubblewrap, ()))

    def kept():
        worker.keep_boxes()
        return standby.keep.call_args.args

    assert kept() == (settings.SANDBOX_STANDBY, bubblewrap)
    settings.SANDBOX_BACKEND = "off"
    assert kept() == (0,)
    settings.SANDBOX_BACKEND = ""
    Run.objects.update(state="waiting")
    assert kept() == (0,), "it waits for people"


def test_what_a_run_that_is_stopped_before_its_next_driver_had_waiting_is_not_run(run, alice):
    wanted(run)
    actions.stop(run, by=alice)
    work()

    assert Execution.objects.get().state == "cancelled"


@pytest.mark.system
def test_a_contest_that_is_stopped_ends_the_box_of_a_solution_and_hears_no_more_of_it(alice, start, scripted, settings):
    settings.LEASE_SECONDS = 2
    slugs = models(scripted, None, quick(solution=solution(FOREVER)), None)
    run = begun(alice, start, slugs, test_seconds=60)
    driver = threading.Thread(target=lambda: (Driver(threading.Event()).drive(1), connections.close_all()))
    with sandbox_at_work():
        driver.start()
        at_work = run.executions.filter(step__key="cycle/1/execution/coder-2", state="running")
        wait_until(at_work.exists, "the solution to be run")
        assert actions.stop(run, by=alice)
        driver.join(60)
        wait_until(
            lambda: not any(thread.name.startswith("box") for thread in threading.enumerate()), "the box to be ended"
        )

    run = fresh(run)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "manual_stop")
    cancelled = run.executions.get(step__key="cycle/1/execution/coder-2")
    assert (cancelled.state, cancelled.results, cancelled.step.state) == ("cancelled", None, "open")
    assert not run.executions.filter(state__in=["waiting", "running"]).exists()
    assert run.events.order_by("seq").last().type == "experiment_stopped"
    assert_told_once(run)
