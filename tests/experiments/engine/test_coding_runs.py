"""Contests that are really played: real requests, a real sandbox, real rows."""

import asyncio
import threading

import pytest
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from experiments.engine import driver, executions
from experiments.engine.driver import Driver
from experiments.engine.run_execution import RunExecution
from experiments.models import Call, Cycle, Run, SandboxHost, Step
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.sandbox.host import hosts
from tests.cases import each_case
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
from tests.experiments.contests import coder, judgment, solution
from tests.experiments.deliberating import fresh
from tests.fixtures import signed_in, wait_until
from tests.parts import stepped_engine

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("hurried")]


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


@each_case(
    ("reason", "kind", "states"),
    [
        ("sandbox_unavailable", "execute", ["failed", "open"]),
        ("internal_error", "ask", ["failed", "failed"]),
        ("pool_too_small", "execute", None),
    ],
)
def test_only_what_the_sandbox_did_not_execute_in_the_last_cycle_is_done_again(alice, woken_runs, reason, kind, states):
    contest = Contest(alice)
    contest.cycle()
    run = contest.run
    Run.objects.filter(pk=run.pk).update(state="failed", stop_reason=reason, error="It could not go on.")
    for turn in (1, 2):
        step = {"key": f"x/{turn}", "purpose": "execution" if kind == "execute" else "solution", "turn": turn}
        Step.objects.create(run=run, kind=kind, state="failed", **step)

    assert actions.resume(fresh(run), by=alice) == bool(states)

    if states:
        assert [step.state for step in run.steps.filter(key__startswith="x/").order_by("turn")] == states
    else:
        assert fresh(run).state == "failed"
        assert "resume-form" not in signed_in(alice).get(run.get_absolute_url()).content.decode()
