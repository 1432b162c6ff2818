"""Who takes part in a contest, and whose turn it is to set a problem."""

from collections import Counter

import pytest
from pydantic import ValidationError

from experiments.workflows.base.steps import Outcome
from experiments.workflows.coding.config import Config
from tests.experiments.cycles import BAD_KEY, GARBAGE, LIMITED, OFFLINE, Play, but, cast

EMPTY = Outcome(ok=False, error_kind="empty_answer", error="The answer is empty.")
VOID = {"cycle/{}/problem": GARBAGE, "cycle/{}/problem/repair": GARBAGE}


def void(*turns: int):
    return {key.format(turn): answer for turn in turns for key, answer in VOID.items()}


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


GONE = Outcome(ok=False, error_kind="unknown_model", error="It is gone.")


def test_only_a_model_that_cannot_be_asked_any_more_leaves_and_after_the_cycle():
    for part, failure, pool in (
        *(("solution/coder-2", failure, ["1", "2", "3", "4"]) for failure in (LIMITED, OFFLINE, EMPTY)),
        *(("solution/coder-2", failure, ["1", "3", "4"]) for failure in (BAD_KEY, GONE)),
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
    for cycles, mode in ((6, "in_turn"), (4, "random")):
        play = Play(cast(3), cycles=cycles)
        pool = [f"coder-{number}" for number in (1, 2, 3)]
        assert play.found("cycles_planned") == [{"cycles": cycles, "setters": mode, "pool": pool}]
        in_turn = [str(number % 3 + 1) for number in range(cycles)]
        assert (setters(play) == in_turn, len(setters(play))) == (mode == "in_turn", cycles)
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
