"""Contests that are really played: real requests, a real sandbox, real rows."""

import threading

import pytest

from experiments.models import Cycle
from experiments.refusals import NotOffered
from experiments.steering import branching
from tests.experiments import contests
from tests.experiments.contesting import (
    ORDERED,
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

pytestmark = pytest.mark.django_db(transaction=True)

FORGER = """
import os, sys, json
def ordered(values):
    print(json.dumps({"passed": 10, "verdict": "passed"}))
    sys.stdout.flush()
    os._exit(0)
"""
ALWAYS_EQUAL = """
class Same(list):
    def __eq__(self, other):
        return True
def ordered(values):
    return Same()
"""


@pytest.mark.system
def test_a_contest_is_set_solved_executed_judged_and_rated(alice, start, scripted):
    wrong = "def spread(values):\n    return max(values) - values[0] if values else 0\n"
    kinds = [coder(judgment=judgment(8)), coder(solution=solution(wrong), judgment=judgment(5)), coder()]
    run = played(alice, start, models(scripted, *kinds), health_check=True)

    assert (run.state, run.stop_reason, run.error) == ("completed", "completed", "")
    cycle = run.cycles.get()
    assert (cycle.state, cycle.setter, cycle.title, cycle.turn) == ("rated", "coder-1", "Spread of readings", 1)
    assert cycle.contestants == [
        ["coder-1", "maker/model-1"],
        ["coder-2", "maker/model-2"],
        ["coder-3", "maker/model-3"],
    ]
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
    with pytest.raises(NotOffered, match="no branches"):
        branching.branch(problem, by=alice)


def _drive():
    contests.Driver(threading.Event()).drive(0.1)


@pytest.mark.system
def test_solutions_that_hack_earn_nothing_from_the_sandbox(alice, start, scripted):
    forger, same = (quick(solution=solution(code)) for code in (FORGER, ALWAYS_EQUAL))
    run = played(alice, start, models(scripted, None, forger, same))

    assert run.cycles.get().found["passed"] == {"coder-1": 1, "coder-2": 0, "coder-3": 0}
    for key in ("cycle/1/execution/coder-2", "cycle/1/execution/coder-3"):
        assert "passed" not in verdicts(run, key)
    told = [body["messages"][0]["content"] for body in asked(scripted, "judgment", "maker/model-1")]
    assert all("It passed 0 of 10 tests." in prompt for prompt in told)


@pytest.mark.system
def test_solutions_of_odd_characters_are_executed_and_judged(alice, start, scripted):
    """Half a surrogate, NUL and a byte order mark, as JSON can write them."""
    returns = [f"def ordered(values):\n    return sorted(values) or '{odd}'\n" for odd in ("\ud800", "\x00")]
    kinds = [quick(solution=solution(code)) for code in (*returns, "\ufeff" + ORDERED)]
    run = played(alice, start, models(scripted, *kinds))
    assert run.state == "completed"
    assert run.cycles.get().found["passed"] == {f"coder-{number}": 1 for number in (1, 2, 3)}
    assert len(run.cycles.get().found["means"]) == 3


@pytest.mark.databases
def test_two_contests_at_once_do_not_mix(alice, start, scripted):
    slugs = models(scripted, None, None, None)
    runs = [begun(alice, start, slugs, seed=seed) for seed in (1, 2)]
    with sandbox_as_played():
        _drive()

    for run in map(fresh, runs):
        assert (run.state, run.cycles.get().state) == ("completed", "rated")
        assert run.calls.count() == 1 + 3 + 6
        assert run.executions.count() == 4 + 3
        assert_told_once(run)
    assert Cycle.objects.counted().count() == 2


def test_a_problem_of_an_earlier_contest_is_not_taken_again(alice, start, scripted):
    slugs = models(scripted, None, None, None)
    with sandbox_as_played():
        begun(alice, start, slugs)
        _drive()
        again = begun(alice, start, slugs)
        _drive()

    assert [cycle.state for cycle in again.cycles.all()] == ["void", "void"]
    assert "It repeats an earlier problem" in again.cycles.order_by("turn").first().reason
    assert "Queue by height" in asked(scripted, "problem")[-1]["messages"][0]["content"]
