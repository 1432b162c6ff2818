"""A debate's rule of play where somebody stands in, something is shortened, or more is asked for after the summary."""

import pytest
from pydantic import ValidationError

from experiments.workflows import debate
from experiments.workflows.steps import Ask, Listen, Outcome
from tests.cases import each_case
from tests.experiments.debated import (
    RATE_LIMITED,
    REQUEST,
    actions,
    answering,
    asked,
    calls,
    cast,
    failed,
    keys,
    parsed,
    play,
    points,
    rate_limited,
    spoken,
    step,
    well,
)

ONE_ROUND = [
    "request",
    "stage/refine",
    "refine",
    "refine/parsed",
    "prompt",
    "prompt/final",
    "round/1",
    *(f"round/1/{part}" for seat in "ABC" for part in (f"stage/{seat}", seat, f"{seat}/parsed")),
    "round/1/completed",
    "round/1/next",
    "stage/summary",
    "summary",
    "summary/parsed",
    "summary/next",
]


def test_a_rate_limited_model_is_replaced_by_the_next_of_the_pool():
    seated = cast("model one", "model two")
    steps, _end = play(rate_limited("round/1/B", "round/1/B/pool-1"), seated=seated)

    first, second = step(steps, "round/1/B/instead").data, step(steps, "round/1/B/instead/2").data
    assert (first["by"], first["key"], first["reason"]) == ("pool-1", "round/1/B/pool-1", "rate_limited")
    assert (second["by"], second["instead_of"]) == ("pool-2", "pool-1")
    answered = step(steps, "round/1/B/pool-2")
    assert (answered.seat, answered.played_by, answered.patience) == ("B", "pool-2", 5)
    assert parsed(steps, "round/1/B/pool-2")["parsed"]["speaker"] == "B"
    assert "B1.p1" in asked(steps, "round/1/C")


def test_when_all_are_rate_limited_the_failure_names_the_models_tried():
    limited = {f"round/1/B{end}" for end in ("", "/pool-1", "/pool-2")}
    steps, _end = play(rate_limited(*limited), seated=cast("model one", "model two"))

    error = step(steps, "round/1/next").error
    assert error.startswith("B: Every model that was tried is rate-limited: B, model one, model two.")


def test_another_failure_of_a_model_of_the_pool_ends_the_attempt():
    outcomes = {"round/1/B": RATE_LIMITED, "round/1/B/pool-1": failed()}
    steps, _end = play(lambda ask: outcomes.get(ask.key) or well(ask), seated=cast("one", "two"))

    assert "round/1/B/pool-2" not in keys(steps)
    assert step(steps, "round/1/next").error == "B: B: rate-limited. one: The provider is overloaded."


def test_a_model_is_waited_for_when_nobody_else_could_be_asked():
    steps, _end = play()

    assert {each.patience for each in steps if isinstance(each, Ask)} == {None}


def test_refiner_and_summarizer_are_replaced_like_the_debaters():
    steps, _end = play(rate_limited("refine", "summary"), seated=cast("one"))

    assert {"refine/pool-1/parsed", "summary/pool-1/parsed"} <= set(keys(steps))


def test_the_repair_is_asked_of_whoever_gave_the_answer():
    outcomes = {"round/1/B": RATE_LIMITED, "round/1/B/pool-1": Outcome(text="prose")}
    steps, _end = play(lambda ask: outcomes.get(ask.key) or well(ask), seated=cast("one"))

    repair = step(steps, "round/1/B/pool-1/repair")
    assert (repair.seat, repair.played_by, repair.purpose, repair.role) == ("B", "pool-1", "repair", "debater")


def test_a_context_that_was_too_long_is_offered_to_be_shortened():
    too_long = failed("context_exceeded", "The prompt is too long.")
    long = points("A", new_perspectives=[{"id": f"p{n}", "contents": f"{n} " + "long " * 200} for n in (1, 2, 3)])
    answer = answering(round__1__A=long, round__1__C=too_long)
    steps, _end = play(answer, {"round/1/next": ("retry_short", "C")})

    pause = step(steps, "round/1/next")
    assert "retry_short" in pause.actions
    assert "Ask again with a shortened context" in pause.error
    whole, short = asked(steps, "round/1/C"), asked(steps, "round/1/C/2")
    assert len(short) < len(whole) - 2000
    assert "A1.p3: 3 long" in short
    assert parsed(steps, "round/1/C/2")["parsed"]["kind"] == "points"


def test_shortening_is_not_offered_for_other_failures():
    steps, _end = play(answering(round__1__C=failed()))

    assert "retry_short" not in step(steps, "round/1/next").actions


def test_a_summary_that_was_too_long_is_asked_for_once_more_with_less_before_it():
    steps, _end = play(answering(summary=failed("context_exceeded", "Too long.")))

    assert calls(steps)[-2:] == ["summary", "summary/2"]
    assert keys(steps)[-1] == "summary/next/2"


def test_after_a_limit_what_there_is_is_summed_up():
    steps, _end = play(answering(round__1__C=failed("limit", "A limit was reached.")), rounds=2)

    assert calls(steps)[-1] == "summary"
    assert spoken(steps, 2) == []
    assert "Debater C gave no answer in round 1 (limit)." in asked(steps, "summary")


def test_a_blind_first_round_shows_nobody_the_others_points():
    steps, _end = play(rounds=2, blind=True)

    assert "A1.p1" not in asked(steps, "round/1/C")
    assert "leave counterpoints empty" in asked(steps, "round/1/C")
    assert {"A1.p1", "C1.p3"} <= set(asked(steps, "round/2/A").replace(":", " ").split())


def test_the_second_round_begins_with_another_debater_when_it_rotates():
    steps, _end = play(rounds=2, rotate=True)

    assert (spoken(steps, 1), spoken(steps, 2)) == (["A", "B", "C"], ["B", "C", "A"])
    assert "C2.p1" in asked(steps, "round/2/A")


def test_after_the_summary_a_second_round_can_be_played_and_summed_up():
    says = {"summary/next": ("round", "And who pays?"), "round/2/next": "summarize", "summary/next/2": None}
    steps, _end = play(says=says)

    assert step(steps, "summary/superseded").data == {"message": "summary"}
    assert "And who pays?" in asked(steps, "round/2/B")
    assert [key for key in calls(steps) if key.startswith("summary")] == ["summary", "summary/2"]
    assert (step(steps, "summary").turn, step(steps, "summary/2").turn) == (2, 3)


def test_what_is_added_after_the_summary_joins_what_was_added_before():
    says = {"round/1/next": ("summarize", "Ten nights."), "summary/next": ("round", "And who pays?")}
    steps, _end = play(says=says)

    assert {"Ten nights.", "And who pays?"} <= set(asked(steps, "round/2/A").splitlines())


def test_the_summary_can_be_asked_for_again():
    steps, _end = play(says={"summary/next": "summarize"})

    assert keys(steps)[-4:] == ["stage/summary/2", "summary/2", "summary/2/parsed", "summary/next/2"]


def test_an_attempt_after_a_failure_draws_the_same_and_another_answer_does_not():
    says = {"round/1/next": ("retry_seat", "B"), "round/1/next/2": ("retry_seat", "C")}
    unread = {"round__1__C": "prose", "round__1__C__repair": "prose"}
    steps, _end = play(answering(round__1__B=failed(), **unread), says)

    draws = {key: step(steps, key).draw for key in ("round/1/B", "round/1/B/2", "round/1/C", "round/1/C/2")}
    assert draws["round/1/B"] == draws["round/1/B/2"]
    assert draws["round/1/C"] != draws["round/1/C/2"]


def test_every_pause_may_be_passed_and_offers_what_happens_then():
    steps, _end = play(rounds=2)

    pauses = [each for each in steps if isinstance(each, Listen) and not each.is_offer]
    assert [pause.key for pause in pauses] == ["prompt", "round/1/next", "round/2/next"]
    assert all(pause.may_pass and "default" in pause.actions for pause in pauses)


def test_two_plays_of_the_same_seed_ask_the_same():
    assert play(rounds=2)[0] == play(rounds=2)[0]


@each_case(
    "config",
    [
        {"prompt": " \n"},
        {"rounds": 0},
        {"rounds": 3},
        {"mode": "blind"},
        {"max_tokens": 9000},
        {"prompt": "x" * 100_001},
    ],
    ids=["blank", "no round", "three rounds", "mode", "tokens", "too long"],
)
def test_what_cannot_be_played_is_refused(config):
    with pytest.raises(ValidationError):
        debate.Config(**{"prompt": REQUEST, **config})


def test_the_summary_asks_for_sources_and_names_them_all():
    steps, _end = play(answering(summary=actions("A1.p1", "C1.c2")), rounds=1)

    told = asked(steps, "summary")
    assert all(f"{seat}1.p3: " in told for seat in "ABC")
    assert parsed(steps, "summary")["parsed"]["recommended"][0]["sources"] == ["A1.p1", "C1.c2"]
