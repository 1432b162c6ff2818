"""Contests that are really played: real requests, a real sandbox, real rows."""

import threading

import pytest
from django.db import connections
from django.utils import timezone

from experiments import actions
from experiments.models import Cycle, ModelPrice, ProviderModel, Run, SandboxHost, Step
from experiments.refusals import NotAllowed, NotOffered
from experiments.sandboxing import hosts
from experiments.steering import branching, steering
from tests.experiments import contests
from tests.experiments.contest_rows import Contest
from tests.experiments.contesting import (
    ORDERED,
    as_expected,
    asked,
    assert_told_once,
    begun,
    models,
    ordered,
    played,
    quick,
    sandbox_as_played,
    verdicts,
)
from tests.experiments.contests import coder, judgment, play, solution
from tests.experiments.deliberating import fresh
from tests.fixtures import signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("hurried")]

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


GARBAGE = "Let us talk about the weather."


@pytest.fixture
def play_on(alice, start, drive, scripted):
    """Plays a contest of these coders to its end, with a sandbox that is only played."""

    def go(*answers, **config):
        with sandbox_as_played():
            run = begun(alice, start, models(scripted, *answers), **config)
            drive()
        return fresh(run)

    return go


def states(run, key):
    return [call.state for call in run.calls.filter(step__key=key).order_by("attempt")]


# --- solvers ---


def test_a_solver_that_fails_and_one_that_says_nothing_useful_are_unrated_and_not_0(play_on, scripted):
    run = play_on(None, quick(solution=500), quick(solution=GARBAGE), None, None)

    found = run.cycles.get().found
    assert (run.state, run.cycles.get().state) == ("completed", "rated")
    assert set(found["means"]) == {"coder-1", "coder-4", "coder-5"}
    assert found["unrated"]["coder-2"].startswith("It gave no solution. ")
    assert found["unrated"]["coder-3"] == "Its solution could not be read: the answer holds no JSON object."
    assert "coder-2" not in found["passed"]
    assert states(run, "cycle/1/solution/coder-2") == ["failed"] * 4
    assert len(asked(scripted, "solution/repair")) == 1
    said = run.messages.filter(seat="coder-3", step__purpose="solution").order_by("seq")
    assert [(message.raw_text, message.superseded) for message in said] == [(GARBAGE, True), (GARBAGE, False)]
    assert run.judgments.count() == 3 * 4
    assert run.judgments.filter(judge_seat="coder-2").count() == 3, "it judges the others"


# --- judges ---


def test_a_judge_that_is_limited_for_ever_is_left_out_and_the_quorum_decides(play_on):
    run = play_on(quick(judgment=judgment(9)), quick(judgment=429), quick(judgment=judgment(11)), quorum=2)

    cycle = run.cycles.get()
    assert (run.state, cycle.state) == ("completed", "rated")
    assert cycle.found["votes"] == {"coder-1": {}, "coder-2": {"coder-1": 9}, "coder-3": {"coder-1": 9}}
    assert (cycle.found["means"], cycle.found["overall"]) == ({}, None)
    assert cycle.found["unrated"]["coder-2"] == "1 of at least 2 votes were given."
    reasons = {(j.judge_seat, j.subject): j.unscored_reason for j in run.judgments.filter(scores__isnull=True)}
    assert set(reasons) == {
        ("coder-2", "coder-1"),
        ("coder-2", "coder-3"),
        ("coder-3", "coder-1"),
        ("coder-3", "coder-2"),
    }
    assert reasons["coder-3", "coder-1"] == ("Its judgment could not be read: correctness is 11, outside 0 to 10.")
    assert states(run, "cycle/1/judge/coder-2/of/coder-1") == ["failed"] * 4


# --- the pool ---


def test_a_pool_that_drops_to_two_stops_with_every_reason(play_on):
    run = play_on(None, quick(judgment=401), None, cycles=3)

    assert (run.state, run.stop_reason) == ("failed", "pool_too_small")
    assert "Only 2 of 3 models can take part, and 3 are needed. Coder 2: " in run.error
    assert [cycle.state for cycle in run.cycles.all()] == ["rated"]
    assert run.events.order_by("seq").last().data["reason"] == "pool_too_small"


# --- limits ---


@pytest.mark.databases
def test_a_budget_ends_a_contest_before_it_is_passed_and_keeps_what_was_paid_for(
    play_on, alice, charlie, start, scripted, drive
):
    """One that leaves room for the dearest question and four answers, however many are under way at the same time."""
    slugs = models(scripted, None, None, None)
    for model in ProviderModel.objects.filter(slug__in=slugs):
        ModelPrice.objects.create(model=model, since="2026-01-01T00:00Z", input="0.001", output="0.000001")
    with sandbox_as_played():
        unlimited = begun(charlie, start, slugs)
        drive()
        dearest, answer = max(unlimited.calls.values_list("reserved", flat=True)), unlimited.calls.first().cost
        budget = float(dearest + 4 * answer)
        run = begun(alice, start, slugs, limits={"cost": budget})
        drive()

    run = fresh(run)
    assert (run.state, run.stop_reason) == ("stopped", "limit_cost")
    assert 0 < Run.objects.with_totals().get(pk=run.pk).total_cost <= budget
    assert run.messages.exists()
    assert not run.executions.filter(state__in=["waiting", "running"]).exists()
    assert run.events.order_by("seq").last().data["refused"]["key"].startswith("cycle/1/")


# --- people ---


@pytest.mark.system
def test_a_contest_that_is_paused_waits_between_two_questions_and_goes_on(alice, start, drive, scripted):
    held = []

    def pause_meanwhile(_body):
        held.append(steering.pause(run, by=alice))
        connections.close_all()
        return ordered()

    slugs = models(scripted, quick(problem=pause_meanwhile), None, None)
    with sandbox_as_played():
        run = begun(alice, start, slugs)
        drive()
        waiting = fresh(run)
        assert (held, waiting.state, waiting.lease_until) == ([True], "waiting", None)
        assert waiting.cycles.get().title == "Queue by height", "what was under way is brought to its end"
        assert asked(scripted, "solution") == []
        assert steering.release(waiting, by=alice)
        drive()

    assert (fresh(run).state, run.judgments.count()) == ("completed", 6)
    assert (len(asked(scripted, "problem")), len(asked(scripted, "solution"))) == (1, 3)
    assert_told_once(run)


# --- where code cannot be run ---


def test_a_contest_starts_only_where_some_machine_can_keep_code_apart(alice, start, scripted, settings):
    settings.SANDBOX_BACKEND = "off"
    host, slugs = hosts.check(is_fresh=True), models(scripted, None, None, None)
    assert not host.is_sufficient
    with pytest.raises(NotAllowed) as refused:
        begun(alice, start, slugs)
    assert host.refusal in str(refused.value)
    assert (Run.objects.count(), scripted.received) == (0, [])

    SandboxHost.objects.create(name="other", backend="bubblewrap", is_sufficient=True, checked=timezone.now())
    assert begun(alice, start, slugs).state == "queued"


@pytest.mark.system
def test_a_sandbox_that_is_gone_in_the_middle_fails_the_run_and_a_resume_goes_on(
    alice, start, scripted, settings, drive
):
    slugs = models(scripted, None, None, None)
    settings.SANDBOX_BACKEND = "off"
    run = play(begun(alice, start, slugs))

    assert (run.state, run.stop_reason) == ("failed", "sandbox_unavailable")
    assert run.error
    assert not run.executions.filter(state="done").exists()
    assert run.messages.get().parsed is None, "nothing was found out about the problem"
    assert hosts.is_doubted.is_set()
    hosts.look()  # as its worker does
    with pytest.raises(NotAllowed):
        actions.resume(run, by=alice)

    settings.SANDBOX_BACKEND = ""
    hosts.check(is_fresh=True)
    assert actions.resume(run, by=alice)
    run = play(run)
    assert (run.state, run.cycles.get().state) == ("completed", "rated")
    assert run.executions.filter(state="done").count() == 4 + 3
    assert run.messages.get(step__purpose="problem").parsed["wrong"] == []
    assert (len(asked(scripted, "problem")), len(asked(scripted, "solution"))) == (1, 3)


def test_a_sandbox_that_is_gone_at_one_solution_is_missing_for_that_one_alone(alice, start, scripted, drive):
    """The others are executed and judged, and nothing of it is done again when the run is resumed."""
    lost = "cycle/1/execution/coder-2"
    run = begun(alice, start, models(scripted, None, None, None))
    with sandbox_as_played(lambda execution: "It is gone." if execution.step.key == lost else as_expected(execution)):
        drive()
    failed = fresh(run)
    judged = run.judgments.count()
    assert (failed.state, failed.stop_reason, failed.error) == ("failed", "sandbox_unavailable", "It is gone.")
    assert run.judgments.filter(subject="coder-2").count() == 0
    assert run.cycles.get().state == "open"

    received = len(scripted.received)
    with sandbox_as_played():
        assert actions.resume(failed, by=alice)
        drive()
    assert (fresh(run).state, run.cycles.get().state, run.judgments.count()) == ("completed", "rated", 6)
    assert len(scripted.received) - received == 6 - judged
    assert run.executions.filter(state="done").count() == 4 + 3
    assert run.calls.count() == len(scripted.received) == 1 + 3 + 6


# --- what is resumed ---


@pytest.fixture
def failed(alice, quiet_doorbell):
    """A contest of one rated cycle that has ended for some reason."""

    def make(reason):
        contest = Contest(alice)
        contest.cycle()
        Run.objects.filter(pk=contest.run.pk).update(state="failed", stop_reason=reason, error="It could not go on.")
        return Run.objects.get(pk=contest.run.pk)

    return make


def test_with_too_few_models_there_is_nothing_to_resume(failed, alice):
    run = failed("pool_too_small")

    assert not actions.resume(run, by=alice)
    assert Run.objects.get(pk=run.pk).state == "failed"
    assert "resume-form" not in signed_in(alice).get(run.get_absolute_url()).content.decode()


def test_where_the_sandbox_failed_only_the_last_cycle_is_executed_again(failed, alice):
    run = failed("sandbox_unavailable")
    of_first = Step.objects.create(run=run, key="x/1", kind="execute", purpose="execution", turn=1, state="failed")
    of_last = Step.objects.create(run=run, key="x/2", kind="execute", purpose="execution", turn=2, state="failed")

    assert actions.resume(run, by=alice)

    of_first.refresh_from_db()
    of_last.refresh_from_db()
    assert (of_first.state, of_last.state) == ("failed", "open")


def test_after_a_fault_of_ours_nobodys_answer_is_asked_for_again(failed, alice):
    run = failed("internal_error")
    silent = Step.objects.create(
        run=run, key="cycle/2/solution/coder-1", kind="ask", purpose="solution", turn=2, state="failed"
    )

    assert actions.resume(run, by=alice)

    silent.refresh_from_db()
    assert silent.state == "failed"
