"""Who takes part in a contest, whose turn it is to set a problem, and how a problem is proved before it is solved."""

import json
from collections import Counter
from functools import partial

import pytest
from pydantic import ValidationError

from experiments.workflows.base.steps import Outcome
from experiments.workflows.coding.config import Config
from tests.experiments import contests, cycles
from tests.experiments.cycles import BAD_KEY, GARBAGE, LIMITED, OFFLINE, Play, but, cast, one_cycle, problem, ran

EMPTY = Outcome(ok=False, error_kind="empty_answer", error="The answer is empty.")


def void(*turns: int):
    return {f"cycle/{turn}/problem{end}": GARBAGE for turn in turns for end in ("", "/repair")}


def setters(play) -> list[str]:
    return [begun["setter"].removeprefix("coder-") for begun in play.found("cycle_begun")]


def pools(play) -> list[list[str]]:
    return [[seat.removeprefix("coder-") for seat in begun["coders"]] for begun in play.found("cycle_begun")]


def test_everybody_is_asked_for_a_word_at_once_and_with_fewer_than_three_or_a_quorum_needs_no_contest_begins():
    play = Play(cast(4), stop_after=0)

    assert play.open() == [f"health/1/coder-{number}" for number in (1, 2, 3, 4)]
    step = play.step("health/1/coder-1")
    assert (step.purpose, step.is_spoken, step.patience) == ("health", False, 0.0)
    assert step.deadline < Config().call_seconds
    assert step.params["max_tokens"] >= 1000, "room for thoughts"
    for answer in (EMPTY, "429 rate_limit RateLimitError"):
        [checked] = Play(cast(), but({"health/1/coder-2": answer})).found("pool_checked")
        assert [one["state"] for one in checked["checked"]] == ["ok", "ok", "ok"], "thoughts alone are an answer"

    for failure in (LIMITED, OFFLINE):
        failing = but({"health/1/coder-2": failure, "health/1/coder-3": OFFLINE})
        play = Play(cast(4), failing)

        assert (play.end.reason, play.end.failed) == ("pool_too_small", True), failure
        assert "Only 2 of 4 models can take part, and 3 are needed." in play.end.message
        assert f"Coder 2: {failure.error}; Coder 3: {OFFLINE.error}" in play.end.message
        assert {step.key.split("/")[0] for step in play.steps} == {"known", "health"}
        play = Play(cast(5), failing, quorum=3)
        assert "Only 3 of 5 models can take part, and 4 are needed." in play.end.message


def test_one_that_is_rate_limited_is_asked_once_a_cycle_until_it_answers_or_fails_and_not_after_the_last():
    play = Play(cast(4), but({"health/1/coder-3": LIMITED}), cycles=3, setters="random")
    assert pools(play) == [["1", "2", "4"], ["1", "2", "3", "4"], ["1", "2", "3", "4"]], "it answers, and comes back"
    assert [checked["turn"] for checked in play.found("pool_checked")] == [1, 2]
    limited = {f"health/{turn}/coder-3": LIMITED for turn in range(1, 9)}
    play = Play(cast(4), but(limited), cycles=3, setters="random")
    assert [step.key for step in play.asked("health")][4:] == ["health/2/coder-3", "health/3/coder-3"]
    assert pools(play) == [["1", "2", "4"]] * 3
    play = Play(cast(4), but({**limited, "health/2/coder-3": OFFLINE}), cycles=4, setters="random")
    assert [step.key for step in play.asked("health")][4:] == ["health/2/coder-3"]


def test_only_a_model_that_cannot_be_asked_any_more_leaves_and_after_the_cycle():
    gone = Outcome(ok=False, error_kind="unknown_model", error="It is gone.")
    for part, failure, pool in (
        *(("solution/coder-2", failure, ["1", "2", "3", "4"]) for failure in (LIMITED, OFFLINE, EMPTY)),
        *(("solution/coder-2", failure, ["1", "3", "4"]) for failure in (BAD_KEY, gone)),
        ("judge/coder-2/of/coder-1", BAD_KEY, ["1", "3", "4"]),
    ):
        play = Play(cast(4), but({f"cycle/1/{part}": failure}), cycles=2, setters="random")

        assert pools(play) == [["1", "2", "3", "4"], pool]
        asked = [step.key for step in play.asked("judge") if step.seat == "coder-2" and step.turn == 1]
        assert "cycle/1/judge/coder-2/of/coder-3" in asked, "within the cycle the pool stays as it is"


def test_a_pool_that_drops_to_two_ends_the_contest_after_the_cycle_with_every_reason():
    play = Play(cast(3), but({"cycle/1/solution/coder-2": BAD_KEY}), cycles=3)

    assert (play.end.reason, play.end.failed) == ("pool_too_small", True)
    assert "Only 2 of 3 models" in play.end.message
    assert f"Coder 2: {BAD_KEY.error}" in play.end.message
    assert len(play.found("cycle_rated")) == 1, "the cycle itself is played to its end"
    assert len(play.found("cycle_begun")) == 1
    play = Play(cast(3), but({"cycle/1/judge/coder-2/of/coder-1": BAD_KEY}))
    assert (play.end.reason, len(play.asked("health"))) == ("completed", 3), "in the last cycle it does not matter"


def test_setters_take_turns_where_the_cycles_are_a_multiple_of_the_pool_that_is_left_and_it_is_said():
    for count, mode in ((6, "in_turn"), (4, "random")):
        play = Play(cast(3), cycles=count)
        pool = [f"coder-{number}" for number in (1, 2, 3)]
        assert play.found("cycles_planned") == [{"cycles": count, "setters": mode, "pool": pool}]
        in_turn = [str(number % 3 + 1) for number in range(count)]
        assert (setters(play) == in_turn, len(setters(play))) == (mode == "in_turn", count)
    play = Play(cast(4), but({"health/1/coder-4": OFFLINE}), cycles=4)
    assert play.found("cycles_planned")[0]["setters"] == "random"
    play = Play(cast(4), but({"health/1/coder-4": OFFLINE}), cycles=4, setters="in_turn")
    assert setters(play) == ["1", "2", "3", "1"]
    assert setters(Play(cast(4), cycles=6, setters="in_turn")) == ["1", "2", "3", "4", "1", "2"]
    assert setters(Play(cast(4), cycles=2, setters="in_turn")) == ["1", "2"]


def test_at_random_setters_are_drawn_by_the_seed_and_a_void_cycle_counts():
    drawn = {tuple(setters(Play(cast(5, seed=seed), cycles=4, setters="random"))) for seed in range(4)}
    assert len(drawn) > 2
    assert tuple(setters(Play(cast(5, seed=3), cycles=4, setters="random"))) in drawn
    many = Counter(setters(Play(cast(3), cycles=30, setters="random")))
    assert set(many) == {"1", "2", "3"}
    assert min(many.values()) > 3
    play = Play(cast(3), but(void(1)), cycles=2, setters="random")
    assert (len(setters(play)), len(play.found("cycle_rated"))) == (2, 1)


def test_in_turn_a_seat_whose_cycle_was_void_or_that_has_left_has_its_turn_after_the_others():
    play = Play(cast(3), but(void(2)), cycles=3)

    assert setters(play) == ["1", "2", "3", "2"]
    assert [one["turn"] for one in play.found("cycle_rated")] == [1, 3, 4]
    assert [one["turn"] for one in play.found("cycle_void")] == [2]
    assert play.end.reason == "completed"
    play = Play(cast(3), but(void(1, 2, 4, 5)), cycles=3)
    assert setters(play) == ["1", "2", "3", "1", "2"]
    play = Play(cast(3), but(void(*range(1, 7))), cycles=3)
    assert (play.end.reason, len(play.found("cycle_void")), play.found("cycle_rated")) == ("completed", 6, [])

    play = Play(cast(4), but({"cycle/1/solution/coder-2": BAD_KEY}), cycles=4)

    assert setters(play) == ["1", "3", "4", "2"]
    [found] = play.found("cycle_void")
    assert found == {"turn": 4, "setter": "coder-2", "reason": f"The setter takes no part any more. {BAD_KEY.error}"}
    assert "cycle/4/problem" not in play.keys
    assert play.end.reason == "completed"


def test_rules_that_cannot_be_played_are_refused_a_model_has_one_seat_and_a_quorum_needs_enough_judges():
    wrong = [("cycles", 0), ("cycles", 201), ("cycles", 1.5), ("quorum", 0), ("quorum", 20), ("topic", "x" * 2_001)]
    wrong += [("call_seconds", 0), ("test_seconds", 0), ("test_megabytes", 0), ("cycle", 3)]
    for name, value in (*wrong, ("setters", "alphabetical")):
        with pytest.raises(ValidationError, match=name):
            Config(**{name: value})

    assert Config().seats() == Config().seats(["coder-2"]) == ("coder-1", "coder-2", "coder-3")
    assert (Config().seats(["coder-5", "coder-1"])[-1], len(Config().seats(["coder-20"]))) == ("coder-5", 20)
    models = {"coder-1": "a", "coder-2": "b", "coder-3": "a", "coder-4": "a"}
    assert Config().faults_of_cast(models) == {"coder-3": "seated_twice", "coder-4": "seated_twice"}
    others = {"coder-1": "a", "coder-2": "b", "coder-3": "c"}
    assert Config().faults_of_cast(others) == {}
    assert list(Config(quorum=3).faults_of_cast(others).values()) == ["quorum_too_high"]


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
    assert REPAIR not in one_cycle(but({f"{HERE}/mutant-*": cycles.SANDBOX_FAILED})).keys
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
        play = one_cycle(but({f"{HERE}/{name}": cycles.NO_SANDBOX}), cycles=3)

        assert (play.end.reason, play.end.failed) == ("sandbox_unavailable", True)
        assert play.end.message == cycles.NO_SANDBOX.error
        assert len(play.asked("problem")) == 1, "it is not the setter's fault"
        assert play.found("cycle_void") == play.found("message_superseded") == []
