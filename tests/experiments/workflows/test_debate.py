"""The rule of play of a debate, followed step by step without a model."""

import pytest
from pydantic import ValidationError

from experiments.workflows import debate
from experiments.workflows.base.steps import STOPPED, Ask, Listen, Outcome
from tests.experiments import debated
from tests.experiments.debated import answering, asked, calls, failed, keys, parsed, play, rate_limited, step, well


def test_two_rounds_are_summed_up_once_and_at_each_pause_but_the_last_it_may_be_ended():
    steps, _end = play(rounds=2)

    assert steps[-1].actions == ("summarize",), "there is no third round"
    assert play(rounds=2)[0] == steps, "two plays of the same seed ask the same"
    steps, _end = play(rounds=2, says={"round/1/next": ("round", " \n\t ")})
    assert "addendum" not in keys(steps), "nothing was added"
    pauses = [each for each in steps if isinstance(each, Listen) and not each.is_offer]
    assert [pause.key for pause in pauses] == ["prompt", "round/1/next", "round/2/next"]
    assert all(pause.may_pass and "default" in pause.actions for pause in pauses)
    for pause in pauses[:2]:
        ended, end = play(rounds=2, says={pause.key: "end"})
        assert (keys(ended)[-1], end) == (pause.key, STOPPED)


def test_without_a_refinement_and_where_it_fails_or_cannot_be_read_the_request_stands_until_it_is_asked_for_again():
    steps, _end = play(refine=False)
    pause = step(steps, "prompt")
    assert (keys(steps)[:3], pause.default) == (["request", "prompt", "prompt/final"], debated.REQUEST)
    assert "retry" not in pause.actions

    steps, _end = play(answering(refine=failed()), {"prompt": "default"})

    pause = step(steps, "prompt")
    assert (pause.default, pause.error) == (debated.REQUEST, "The provider is overloaded.")
    assert step(steps, "prompt/final").data["text"] == debated.REQUEST
    steps, end = play(answering(refine=failed()))
    assert (keys(steps)[-1], end.reason, end.failed) == ("prompt", "refine_failed", True), "where nobody is asked"

    steps, _end = play(answering(refine="I would rather talk.", refine__repair="No."))
    assert (parsed(steps, "refine")["parsed"]["kind"], step(steps, "prompt").default) == ("unread", debated.REQUEST)
    assert "could not be read" in step(steps, "prompt").error
    steps, _end = play(answering(refine__2=debated.brief(objective="Another objective.")), {"prompt": "retry"})
    assert keys(steps)[5:9] == ["refine/superseded", "refine/2", "refine/2/parsed", "prompt/2"]
    assert "Another objective." in step(steps, "prompt/2").default


def test_a_failed_debater_is_recorded_and_alone_asked_again_out_of_order_unless_it_was_the_last():
    for seat in ("A", "D", "refiner", ""):
        steps, _end = play(answering(round__1__B=failed()), {"round/1/next": ("retry_seat", seat)})
        assert repr(seat) in step(steps, "round/1/next/2").error

    assert "round/1/completed" in keys(steps)
    assert "Perspective 1 of A" in asked(steps, "round/1/C")
    assert "B1" not in asked(steps, "round/1/C")
    assert step(steps, "round/1/next").error == "B: The provider is overloaded."
    assert "Debater B gave no answer in round 1 (overloaded)." in asked(steps, "summary")
    assert not any("The provider is overloaded." in asked(steps, key) for key in calls(steps)), "told to no model"

    says = {"round/1/next": ("retry_seat", "B"), "round/1/next/2": "summarize"}
    steps, _end = play(answering(round__1__B=failed(), round__1__B__2=debated.points("B", 3, 2)), says)

    assert "retry_seat" in step(steps, "round/1/next").actions
    assert calls(steps)[-3:] == ["round/1/C", "round/1/B/2", "summary"]
    assert parsed(steps, "round/1/B/2")["flags"] == ["out_of_order"]
    assert "C1.p1" in asked(steps, "round/1/B/2"), "who speaks last hears all"
    assert "B1.p1: Perspective 1 of B" in asked(steps, "summary")
    assert "retry_seat" not in step(steps, "round/1/next/2").actions

    steps, _end = play(answering(round__1__C=failed()), {"round/1/next": ("retry_seat", "C")})
    assert parsed(steps, "round/1/C/2")["flags"] == []

    says = {"round/1/next": ("retry_seat", "B"), "round/1/next/2": ("retry_seat", "C")}
    unread = {"round__1__C": "prose", "round__1__C__repair": "prose"}
    steps, _end = play(answering(round__1__B=failed(), **unread), says)
    draws = {key: step(steps, key).draw for key in ("round/1/B", "round/1/B/2", "round/1/C", "round/1/C/2")}
    assert draws["round/1/B"] == draws["round/1/B/2"]
    assert draws["round/1/C"] != draws["round/1/C/2"]


def test_a_rate_limited_model_is_replaced_by_the_next_of_the_pool_and_a_failure_names_those_tried():
    seated = debated.cast("model one", "model two")
    steps, _end = play(rate_limited("refine", "round/1/B", "round/1/B/pool-1", "summary"), seated=seated)

    first, second = step(steps, "round/1/B/instead").data, step(steps, "round/1/B/instead/2").data
    assert (first["by"], first["key"], first["reason"]) == ("pool-1", "round/1/B/pool-1", "rate_limited")
    assert (second["by"], second["instead_of"]) == ("pool-2", "pool-1")
    answered = step(steps, "round/1/B/pool-2")
    assert (answered.seat, answered.played_by, answered.patience) == ("B", "pool-2", 5)
    assert parsed(steps, "round/1/B/pool-2")["parsed"]["speaker"] == "B"
    assert {"refine/pool-1/parsed", "summary/pool-1/parsed"} <= set(keys(steps))
    assert {each.patience for each in play()[0] if isinstance(each, Ask)} == {None}, "waited for, where nobody else is"
    assert "B1.p1" in asked(steps, "round/1/C")

    limited = {f"round/1/B{end}" for end in ("", "/pool-1", "/pool-2")}
    steps, _end = play(rate_limited(*limited), seated=debated.cast("model one", "model two"))
    error = step(steps, "round/1/next").error
    assert error.startswith("B: Every model that was tried is rate-limited: B, model one, model two.")

    outcomes = {"round/1/B": debated.RATE_LIMITED, "round/1/B/pool-1": failed()}
    steps, _end = play(lambda ask: outcomes.get(ask.key) or well(ask), seated=debated.cast("one", "two"))
    assert "round/1/B/pool-2" not in keys(steps), "another failure ends the attempt"
    assert step(steps, "round/1/next").error == "B: B: rate-limited. one: The provider is overloaded."


def test_the_repair_is_asked_of_whoever_gave_the_answer_and_one_that_stays_unread_makes_place_for_another():
    outcomes = {"round/1/B": debated.RATE_LIMITED, "round/1/B/pool-1": Outcome(text="prose")}
    steps, _end = play(lambda ask: outcomes.get(ask.key) or well(ask), seated=debated.cast("one"))
    repair = step(steps, "round/1/B/pool-1/repair")
    assert (repair.seat, repair.played_by, repair.purpose, repair.role) == ("B", "pool-1", "repair", "debater")
    assert "holds no JSON object" in asked(steps, repair.key)
    read = step(steps, "round/1/B/pool-1/parsed")
    assert (read.source, read.data["flags"]) == (repair.key, ["repaired"])

    unread = {"round__1__B": "I think so.", "round__1__B__repair": "Still prose."}
    steps, _end = play(answering(**unread), {"round/1/next": ("retry_seat", "B")})
    assert step(steps, "round/1/B/superseded").data == {"message": "round/1/B"}
    assert "I think so." not in asked(steps, "summary")


def test_a_context_that_was_too_long_is_offered_to_be_shortened():
    too_long = failed("context_exceeded", "The prompt is too long.")
    said = [{"id": f"p{n}", "contents": f"{n} " + "long " * 200} for n in (1, 2, 3)]
    long = debated.points("A", new_perspectives=said)
    answer = answering(round__1__A=long, round__1__C=too_long)
    steps, _end = play(answer, {"round/1/next": ("retry_short", "C")})

    pause = step(steps, "round/1/next")
    assert "retry_short" in pause.actions
    assert "Ask again with a shortened context" in pause.error
    whole, short = asked(steps, "round/1/C"), asked(steps, "round/1/C/2")
    assert len(short) < len(whole) - 2000
    assert "A1.p3: 3 long" in short
    assert parsed(steps, "round/1/C/2")["parsed"]["kind"] == "points"
    steps, _end = play(answering(round__1__C=failed()))
    assert "retry_short" not in step(steps, "round/1/next").actions
    steps, _end = play(answering(summary=failed("context_exceeded", "Too long.")))
    assert (calls(steps)[-2:], keys(steps)[-1]) == (["summary", "summary/2"], "summary/next/2"), "by itself"


def test_what_cannot_be_played_is_refused():
    for config in ({"prompt": " \n"}, {"prompt": "x" * 100_001}, {"rounds": 0}, {"rounds": 3}, {"max_tokens": 9000}):
        with pytest.raises(ValidationError):
            debate.Config(**{"prompt": debated.REQUEST, **config})
