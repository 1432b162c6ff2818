"""Contests that are really played, and their executions: each is run by one worker at a time, and told once."""

import asyncio
import json
import threading
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import connections
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from experiments.engine import driver, executions
from experiments.engine.driver import Driver
from experiments.engine.recording import Lease
from experiments.engine.run_execution import RunExecution
from experiments.models import Call, Cycle, Execution, Run, SandboxHost, Step
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.sandbox.backends import backend_named
from experiments.sandbox.host import hosts, worker
from experiments.workflows.base.steps import Execute
from tests.experiments import contests
from tests.experiments.contest_rows import Contest
from tests.experiments.contesting import (
    ORDERED,
    as_expected,
    asked,
    assert_told_once,
    begun,
    models,
    played,
    quick,
    sandbox_as_played,
    verdicts,
)
from tests.experiments.contests import coder, judgment, sandbox_at_work, solution
from tests.experiments.deliberating import fresh
from tests.fixtures import signed_in, wait_until
from tests.parts import stepped_engine
from tests.rivals import at_once


def test_a_driver_hears_of_executions_that_have_ended_and_need_not_look_for_them(alice, start, scripted, monkeypatch):
    monkeypatch.setattr(driver, "LOOK_SECONDS", 3600)
    monkeypatch.setattr(executions.wakeups, "wake", lambda channel, about="": Driver.current._wake(channel, about))
    run = begun(alice, start, models(scripted, None, None, None))
    with sandbox_as_played():
        Driver(threading.Event()).drive(0.1)

    run = fresh(run)
    assert run.state == "completed"
    assert (run.ended - run.started).total_seconds() < 600


@pytest.mark.system
def test_a_contest_is_set_solved_executed_judged_and_rated(alice, start, scripted):
    kinds = [coder(judgment=judgment(8)), coder(solution=solution(contests.WRONG), judgment=judgment(5)), coder()]
    run = played(alice, start, models(scripted, *kinds), health_check=True)

    assert (run.state, run.stop_reason, run.error) == ("completed", "completed", "")
    cycle = run.cycles.get()
    assert (cycle.state, cycle.setter, cycle.title, cycle.turn) == ("rated", "coder-1", "Spread of readings", 1)
    assert cycle.contestants == [[f"coder-{number}", f"maker/model-{number}"] for number in (1, 2, 3)]
    assert cycle.found["votes"] == {
        "coder-1": {"coder-2": 5, "coder-3": 7},
        "coder-2": {"coder-1": 8, "coder-3": 7},
        "coder-3": {"coder-1": 8, "coder-2": 5},
    }
    assert cycle.found["means"] == {"coder-1": 6, "coder-2": 7.5, "coder-3": 6.5}
    assert cycle.found["passed"] == {"coder-1": 1, "coder-2": 0.7, "coder-3": 1}
    assert verdicts(run, "cycle/1/execution/coder-2").count("failed") == 3
    assert list(Cycle.objects.counted()) == [cycle]
    assert run.calls.count() == 3 + 1 + 3 + 6
    assert run.calls.filter(state="completed").count() == 13
    problem = run.messages.get(step__purpose="problem")
    assert [check["passed"] for check in problem.parsed["checks"]][:2] == [10, 10]
    assert all(check["passed"] < 10 for check in problem.parsed["checks"][2:])
    assert not run.executions.exclude(state="done", is_unsafe=False).exists()
    judged = run.judgments.get(subject="coder-2", judge_seat="coder-3")
    assert (judged.judge, judged.scores["overall"], judged.rationale) == ("maker/model-3", 7, "Right. Short. Clear.")
    assert_told_once(run)
    with pytest.raises(Invalid, match="cannot be branched"):
        branching.branch(problem, by=alice)


def test_solutions_of_odd_characters_are_executed_and_judged(alice, start, drive, scripted):
    """Half a surrogate, NUL and a byte order mark, as JSON can write them."""
    returns = [f"def ordered(values):\n    return sorted(values) or '{odd}'\n" for odd in ("\ud800", "\x00")]
    kinds = [quick(solution=solution(code)) for code in (*returns, "\ufeff" + ORDERED)]
    with sandbox_as_played():
        run = begun(alice, start, models(scripted, *kinds))
        drive()
    assert fresh(run).state == "completed"
    assert run.cycles.get().found["passed"] == {f"coder-{number}": 1 for number in (1, 2, 3)}
    assert len(run.cycles.get().found["means"]) == 3


def test_a_problem_of_an_earlier_contest_is_not_taken_again(alice, start, drive, scripted):
    slugs = models(scripted, None, None, None)
    with sandbox_as_played():
        begun(alice, start, slugs)
        drive()
        again = begun(alice, start, slugs)
        drive()

    assert [cycle.state for cycle in again.cycles.all()] == ["void", "void"]
    assert "It repeats an earlier problem" in again.cycles.order_by("turn").first().reason
    assert "Queue by height" in asked(scripted, "problem")[-1]["messages"][0]["content"]


def test_a_contest_that_is_paused_waits_between_two_questions_and_goes_on(alice, start, drive, scripted, monkeypatch):
    """Also where its driver has not looked since, as it would ask the next question."""
    is_paused, notice = asyncio.Event(), RunExecution.notice

    async def answer(body):
        await is_paused.wait()
        return quick()(body)

    slugs = models(scripted, answer, None, None)
    with sandbox_as_played():
        run = begun(alice, start, slugs)
        with monkeypatch.context() as without_looks, stepped_engine.driving(threading.Event()):
            without_looks.setattr(RunExecution, "notice", lambda one, held: notice(one, held._replace(is_held=False)))
            wait_until(lambda: run.calls.filter(state=Call.State.SENT).exists(), "the problem to be under way")
            assert steering.pause(run, by=alice)
            is_paused.set()
            wait_until(lambda: fresh(run).state == "waiting", "the pause")
        waiting = fresh(run)
        assert waiting.lease_until is None
        assert waiting.cycles.get().title == "Queue by height", "what was under way is brought to its end"
        assert asked(scripted, "solution") == []
        assert steering.release(waiting, by=alice)
        drive()

    assert (fresh(run).state, run.judgments.count()) == ("completed", 6)
    assert (len(asked(scripted, "problem")), len(asked(scripted, "solution"))) == (1, 3)
    assert_told_once(run)


def test_a_contest_starts_only_where_some_machine_can_keep_code_apart(alice, start, scripted, settings):
    settings.SANDBOX_BACKEND = "off"
    host, slugs = hosts.check(is_fresh=True), models(scripted, None, None, None)
    assert not host.is_sufficient
    with pytest.raises(Forbidden) as refused:
        begun(alice, start, slugs)
    assert host.refusal in str(refused.value)
    assert (Run.objects.count(), scripted.received) == (0, [])

    SandboxHost.objects.create(name="other", backend="bubblewrap", is_sufficient=True, checked=timezone.now())
    assert begun(alice, start, slugs).state == "queued"


def test_a_sandbox_that_is_gone_at_one_solution_is_missing_for_that_one_alone(alice, start, scripted, drive, settings):
    """The others are executed and judged, and nothing of it is done again when the run is resumed, where it can be."""
    lost = "cycle/1/execution/coder-2"
    run = begun(alice, start, models(scripted, None, None, None))
    with sandbox_as_played(lambda execution: "It is gone." if execution.step.key == lost else as_expected(execution)):
        drive()
    failed = fresh(run)
    judged = run.judgments.count()
    assert (failed.state, failed.stop_reason, failed.error) == ("failed", "sandbox_unavailable", "It is gone.")
    assert run.judgments.filter(subject="coder-2").count() == 0
    assert run.cycles.get().state == "open"

    settings.SANDBOX_BACKEND = "off"
    hosts.check(is_fresh=True)
    with pytest.raises(Forbidden):
        actions.resume(failed, by=alice)
    SandboxHost.objects.create(name="other", backend="bubblewrap", is_sufficient=True, checked=timezone.now())
    received = len(scripted.received)
    with sandbox_as_played():
        assert actions.resume(failed, by=alice)
        drive()
    assert (fresh(run).state, run.cycles.get().state, run.judgments.count()) == ("completed", "rated", 6)
    assert len(scripted.received) - received == 6 - judged
    assert run.executions.filter(state="done").count() == 4 + 3
    assert run.calls.count() == len(scripted.received) == 1 + 3 + 6


def test_only_what_the_sandbox_did_not_execute_in_the_last_cycle_is_done_again(alice, woken_runs):
    for reason, kind, states in (
        ("sandbox_unavailable", "execute", ["failed", "open"]),
        ("internal_error", "ask", ["failed", "failed"]),
        ("pool_too_small", "execute", None),
    ):
        contest = Contest(alice)
        contest.cycle()
        run = contest.run
        Run.objects.filter(pk=run.pk).update(state="failed", stop_reason=reason, error="It could not go on.")
        for turn in (1, 2):
            step = {"key": f"x/{turn}", "purpose": "execution" if kind == "execute" else "solution", "turn": turn}
            Step.objects.create(run=run, kind=kind, state="failed", **step)

        assert actions.resume(fresh(run), by=alice) == bool(states), reason
        if states:
            assert [step.state for step in run.steps.filter(key__startswith="x/").order_by("turn")] == states
    assert fresh(run).state == "failed"
    assert "resume-form" not in signed_in(alice).get(run.get_absolute_url()).content.decode()


pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("hurried")]

RIGHT = "def f(number):\n    return number + 1\n"
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
    slugs = models(
        scripted, None, quick(solution=solution("def ordered(values):\n    while True:\n        pass\n")), None
    )
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
