"""A problem is proved before anybody solves it: what is asked, run, mended once, and when the cycle is void."""

import json
from functools import partial

from experiments.workflows.base.steps import Outcome
from tests.experiments import contests
from tests.experiments.cycles import BAD_KEY, GARBAGE, NO_SANDBOX, OFFLINE, SANDBOX_FAILED, but, one_cycle, problem, ran

PROBLEM, REPAIR = "cycle/1/problem", "cycle/1/problem/repair"
CHECKS = ["reference", "reference-again", "constant", "echo", "mutant-1", "mutant-2", "mutant-3", "mutant-4"]
HERE, AGAIN = "cycle/1/check", "cycle/1/check/repair"


def random_one(replies, **config):
    """One cycle of a contest in which nobody sets a second problem."""
    return one_cycle(but(replies), setters="random", **config)


def test_a_problem_is_run_with_the_limits_of_the_contest_and_programs_that_should_fail_until_they_do():
    play = one_cycle(test_seconds=3, test_megabytes=128)

    assert [step.key for step in play.steps if step.key.startswith(HERE)] == [f"{HERE}/{name}" for name in CHECKS]
    for name in CHECKS:
        step = play.step(f"{HERE}/{name}")
        assert step.memory == 128 << 20, name
        is_reference = name.startswith("reference")
        assert (step.seconds, step.until_failure) == ((3, False) if is_reference else (1, True))
        assert (step.code == contests.REFERENCE.strip()) is is_reference


def test_a_reference_that_fails_its_own_tests_is_mended_once():
    for verdicts, reason in (
        (["passed", "failed"], 'does not pass test 2: it gives "something else", and 0 is expected'),
        (["passed"] * 9 + ["timeout"], "does not pass test h5: it takes too long"),
        (["memory"], "does not pass test 1: it takes too much memory"),
        (["output_limit"], "does not pass test 1: it prints too much"),
        (["error"], "does not pass test 1: ValueError: no"),
        (["not_run"], "does not pass test 1: it was not run"),
    ):
        play = one_cycle(but({f"{HERE}/reference*": partial(ran, verdicts=verdicts)}))

        told = play.told(REPAIR)
        assert reason in told
        assert json.dumps(problem(1)) in told, "what it had answered"
        assert play.step(REPAIR).purpose == "problem"
        assert play.found("message_superseded") == [{"message": PROBLEM}]
        assert play.step(f"{AGAIN}/reference").code == contests.REFERENCE.strip()
        assert len(play.found("problem_set")) == len(play.found("cycle_rated")) == 1
        [first, second] = [data["parsed"] for data in play.found("message_parsed") if "checks" in data["parsed"]]
        assert any(reason in sentence for sentence in first["wrong"])
        assert second["wrong"] == []


def test_after_one_repair_in_vain_or_with_a_setter_that_cannot_be_asked_the_cycle_is_void():
    seat = random_one({}).found("cycle_begun")[0]["setter"]
    complaint = "SyntaxError: invalid syntax (line 3)"
    unrunnable = {f"{HERE}/reference*": lambda step: ran(step, complaint=complaint)}
    failing = {**unrunnable, "cycle/1/check/*": lambda step: ran(step, ["failed"])}
    play = random_one(failing)

    assert f"The reference solution cannot be run: {complaint}" in play.told(REPAIR)
    assert len(play.asked("problem")) == 2
    [void] = play.found("cycle_void")
    assert (void["turn"], void["setter"]) == (1, seat)
    assert void["reason"].startswith("The reference solution does not pass test 1")
    assert (play.asked("solution"), play.found("cycle_rated"), play.found("turn_completed")) == ([], [], [])
    assert play.end.reason == "completed"

    for key in (PROBLEM, REPAIR):
        for failure in (OFFLINE, BAD_KEY):
            [void] = random_one({PROBLEM: GARBAGE, key: failure}, coders=4).found("cycle_void")
            assert void["reason"] == f"The setter gave no problem. {failure.error}"


def test_a_reference_has_to_be_deterministic():
    for again, comparison, is_refused in (
        (lambda step: with_value(step, 99), "exact", True),
        (lambda step: ran(step, ["passed", "timeout"]), "exact", True),
        (lambda step: with_value(step, [2, 1]), "exact", True),
        (lambda step: with_value(step, [2, 1]), "unordered", False),
    ):
        both = {f"{HERE}/reference": lambda step: with_value(step, [1, 2]), f"{HERE}/reference-again": again}
        play = one_cycle(but({PROBLEM: problem(1, comparison=comparison), **both}))
        assert (REPAIR in play.keys) is is_refused, again
        assert not is_refused or "it has to be deterministic" in play.told(REPAIR)


def with_value(step, value):
    found = ran(step).found
    results = [{**result, "value": value} if result["name"] == "4" else result for result in found["results"]]
    return Outcome(found={**found, "results": results})


def test_tests_that_a_trivial_program_or_every_mutant_passes_are_too_weak_and_mutants_may_be_missing():
    for name in ("constant", "echo"):
        play = one_cycle(but({f"{HERE}/{name}": ran}))
        assert "a program that knows nothing of the problem passes them all" in play.told(REPAIR), name
    assert "with errors put into it" in one_cycle(but({f"{HERE}/mutant-*": ran})).told(REPAIR)
    enough = one_cycle(but({f"{HERE}/mutant-{number}": ran for number in (1, 2, 3)}))
    assert REPAIR not in enough.keys, "one mutant that fails is enough"
    assert REPAIR not in one_cycle(but({f"{HERE}/mutant-*": SANDBOX_FAILED})).keys
    assert REPAIR not in one_cycle(but({f"{HERE}/mutant-*": lambda step: ran(step, complaint="SyntaxError: no")})).keys

    plain = contests.problem(reference_solution="def spread(values):\n    return sorted(values)\n")
    play = one_cycle(but({PROBLEM: plain}))
    assert [step.key for step in play.steps if step.key.startswith(f"{HERE}/mutant")] == []
    assert len(play.found("problem_set")) == 1


def test_an_answer_that_is_no_new_problem_is_mended_once_and_reasons_without_end_are_cut():
    play = one_cycle(but({"cycle/2/problem": problem(1)}), cycles=3)

    assert "It repeats an earlier problem, “Task 1”" in play.told("cycle/2/problem/repair")
    assert not any(key.startswith("cycle/2/check/reference") for key in play.keys), "nothing is run for it"
    assert [told["title"] for told in play.found("problem_set")] == ["Task 1", "Task 2", "Task 3"]

    for answer, reason in (
        (GARBAGE, "no JSON object"),
        ("{}", "none of the names"),
        (Outcome(text=json.dumps(problem(1))[:400], finish_reason="length"), "cut short"),
        (contests.problem(test_cases=[]), "test_cases holds 0 tests"),
    ):
        play = one_cycle(but({PROBLEM: answer}))
        assert reason in play.told(REPAIR), answer
        assert play.found("problem_set")
        assert f"{PROBLEM}/parsed" not in play.keys

    play = one_cycle(but({PROBLEM: json.dumps(contests.problem(description="x" * 1_000_000))}))
    assert "longer than" in play.told(REPAIR)
    assert len(play.told(REPAIR)) < 150_000

    tests = [{"input": "[", "expected_output": "x" * 100} for _number in range(15)]
    play = random_one({PROBLEM: contests.problem(hidden_test_cases=tests), REPAIR: GARBAGE})
    assert len(play.told(REPAIR)) < 30_000
    [void] = play.found("cycle_void")
    assert "no JSON object" in void["reason"], "that of the second answer"
    assert len(void["reason"]) <= 2_000


def test_without_a_sandbox_the_contest_fails_and_says_what_is_missing():
    for name in ("reference", "reference-again", "echo", "mutant-4"):
        play = one_cycle(but({f"{HERE}/{name}": NO_SANDBOX}), cycles=3)

        assert (play.end.reason, play.end.failed) == ("sandbox_unavailable", True)
        assert play.end.message == NO_SANDBOX.error
        assert len(play.asked("problem")) == 1, "it is not the setter's fault"
        assert play.found("cycle_void") == play.found("message_superseded") == []
