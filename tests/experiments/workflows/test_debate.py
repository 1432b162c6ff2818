"""The rule of play of a debate, followed step by step without a model."""

import pytest

from experiments.workflows.steps import STOPPED, Ask, End, Record
from tests.cases import each_case
from tests.experiments.debated import (
    REQUEST,
    answering,
    asked,
    brief,
    calls,
    failed,
    keys,
    parsed,
    play,
    points,
    spoken,
    step,
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


def test_a_debate_of_one_round_takes_these_steps():
    steps, end = play()

    assert (keys(steps), end) == (ONE_ROUND, None)
    offer = steps[-1]
    assert (offer.is_offer, offer.reason, offer.actions) == (True, "concluded", ("summarize", "round"))


def test_two_rounds_are_spoken_in_strict_order_and_summed_up_once():
    steps, _end = play(rounds=2)

    assert (spoken(steps, 1), spoken(steps, 2)) == (["A", "B", "C"], ["A", "B", "C"])
    assert step(steps, "summary").turn == 3
    assert steps[-1].actions == ("summarize",), "there is no third round"


def test_turns_stages_purposes_and_roles_are_those_of_the_parts():
    steps, _end = play(rounds=2)

    asks = {each.key: (each.turn, each.purpose, each.role) for each in steps if isinstance(each, Ask)}
    assert asks["refine"] == (0, "refinement", "refiner")
    assert asks["round/2/B"] == (2, "reply", "debater")
    assert asks["summary"] == (3, "summary", "summarizer")
    assert step(steps, "round/1/stage/C").data == {"turn": 1, "stage": "C", "number": 3, "of": 3}
    assert [each.data["turn"] for each in steps if isinstance(each, Record) and each.kind == "turn_completed"] == [1, 2]


def test_the_final_prompt_is_prefilled_from_the_refinement_with_room_for_answers():
    steps, _end = play()

    pause = step(steps, "prompt")
    assert (pause.reason, pause.actions) == ("final_prompt", ("send", "default", "retry", "end"))
    assert pause.default.startswith("**Objective**\n\nShare one telescope fairly")
    assert "- Who pays for the repairs?\n  Answer: " in pause.default


def test_where_nobody_is_asked_the_final_prompt_leaves_out_the_questions():
    steps, _end = play()

    final = step(steps, "prompt/final").data["text"]
    assert final.startswith("**Objective**\n\nShare one telescope fairly")
    assert "Who pays for the repairs?" not in final
    assert step(steps, "prompt").default.startswith(final)


def test_without_a_refiner_the_request_is_the_final_prompt_unless_a_person_changes_it():
    steps, _end = play(refine=False)

    pause = step(steps, "prompt")
    assert (keys(steps)[:3], pause.default) == (["request", "prompt", "prompt/final"], REQUEST)
    assert "retry" not in pause.actions


def test_a_person_has_the_last_word_on_the_final_prompt():
    steps, _end = play(says={"prompt": ("send", "Share it by lot.\nOr not?")})

    assert step(steps, "prompt/final").data == {
        "seat": "person",
        "text": "Share it by lot.\nOr not?",
        "parsed": {"kind": "final_prompt"},
    }
    assert "Share it by lot.\nOr not?" in asked(steps, "round/1/A")
    assert "clear nights" not in asked(steps, "round/1/A")


def test_a_refinement_can_be_asked_for_again():
    steps, _end = play(answering(refine__2=brief(objective="Another objective.")), {"prompt": "retry"})

    assert keys(steps)[5:9] == ["refine/superseded", "refine/2", "refine/2/parsed", "prompt/2"]
    assert "Another objective." in step(steps, "prompt/2").default


def test_when_the_refiner_fails_the_request_can_be_sent_and_it_is_said_why():
    steps, _end = play(answering(refine=failed()), {"prompt": "default"})

    pause = step(steps, "prompt")
    assert (pause.default, pause.error) == (REQUEST, "The provider is overloaded.")
    assert step(steps, "prompt/final").data["text"] == REQUEST


def test_an_automatic_debate_whose_refiner_fails_ends_and_can_be_resumed():
    steps, end = play(answering(refine=failed()))

    assert (keys(steps)[-1], end.reason, end.failed) == ("prompt", "refine_failed", True)


def test_a_refinement_that_cannot_be_read_is_shown_and_the_request_stands():
    steps, _end = play(answering(refine="I would rather talk.", refine__repair="No."))

    assert parsed(steps, "refine")["parsed"]["kind"] == "unread"
    assert step(steps, "prompt").default == REQUEST
    assert "could not be read" in step(steps, "prompt").error


@pytest.mark.parametrize("key", ["prompt", "round/1/next"])
def test_it_ends_from_every_pause(key):
    steps, end = play(says={key: "end"})

    assert (keys(steps)[-1], end) == (key, STOPPED)


def test_a_failed_debater_is_recorded_and_the_next_one_sees_only_those_who_spoke():
    steps, _end = play(answering(round__1__B=failed()))

    assert "round/1/completed" in keys(steps)
    assert "Perspective 1 of A" in asked(steps, "round/1/C")
    assert "B1" not in asked(steps, "round/1/C")
    assert step(steps, "round/1/next").error == "B: The provider is overloaded."
    assert "Debater B gave no answer in round 1 (overloaded)." in asked(steps, "summary")


def test_a_failed_debater_is_asked_again_alone_and_out_of_order():
    says = {"round/1/next": ("retry_seat", "B"), "round/1/next/2": "summarize"}
    steps, _end = play(answering(round__1__B=failed(), round__1__B__2=points("B", 3, 2)), says)

    assert "retry_seat" in step(steps, "round/1/next").actions
    assert calls(steps)[-3:] == ["round/1/C", "round/1/B/2", "summary"]
    assert parsed(steps, "round/1/B/2")["flags"] == ["out_of_order"]
    assert "C1.p1" in asked(steps, "round/1/B/2"), "who speaks last hears all"
    assert "B1.p1: Perspective 1 of B" in asked(steps, "summary")
    assert "retry_seat" not in step(steps, "round/1/next/2").actions


def test_the_last_debater_who_is_asked_again_is_in_order():
    steps, _end = play(answering(round__1__C=failed()), {"round/1/next": ("retry_seat", "C")})

    assert parsed(steps, "round/1/C/2")["flags"] == []


@each_case("seat", ["A", "D", "refiner", ""])
def test_only_who_failed_can_be_asked_again(seat):
    steps, _end = play(answering(round__1__B=failed()), {"round/1/next": ("retry_seat", seat)})

    assert repr(seat) in step(steps, "round/1/next/2").error
    assert calls(steps)[-1] == "summary"


def test_an_unread_answer_is_asked_for_again_and_takes_the_place_of_the_first():
    unread = {"round__1__B": "I think so.", "round__1__B__repair": "Still prose."}
    steps, _end = play(answering(**unread), {"round/1/next": ("retry_seat", "B")})

    assert step(steps, "round/1/B/superseded").data == {"message": "round/1/B"}
    assert "I think so." not in asked(steps, "summary")


def test_a_round_in_which_all_fail_is_a_failed_round_without_a_summary():
    steps, end = play(answering(**{f"round__1__{seat}": failed() for seat in "ABC"}))

    assert (end.reason, end.failed) == ("round_failed", True)
    assert end.message.splitlines()[0] == "A: The provider is overloaded."
    assert "round/1/completed" not in keys(steps)
    assert calls(steps)[-1] == "round/1/C"


def test_a_summary_that_fails_fails_the_run():
    _steps, end = play(answering(summary=failed()))

    assert end == End("summary_failed", failed=True, message="The provider is overloaded.")


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_addendum_of_blanks_is_none(text):
    steps, _end = play(says={"round/1/next": ("round", text)})

    assert "addendum" not in keys(steps)
    assert spoken(steps, 2) == ["A", "B", "C"]


def test_without_a_second_round_the_summary_has_the_addendum():
    steps, _end = play(says={"round/1/next": ("summarize", "  There are only ten clear nights.\n")})

    assert step(steps, "addendum").data["text"] == "There are only ten clear nights."
    assert step(steps, "addendum").turn == 2
    assert "There are only ten clear nights." in asked(steps, "summary")


def test_in_two_rounds_the_addendum_stays_what_it_was_when_the_second_began():
    steps, _end = play(
        says={"round/1/next": ("round", "Ten nights."), "round/2/next": ("summarize", "Twelve nights, after all.")}
    )

    for key in ("round/2/A", "round/2/B", "round/2/C", "summary"):
        assert "Ten nights." in asked(steps, key)
    assert not any("Twelve nights" in asked(steps, key) for key in calls(steps))


def test_an_automatic_debate_adds_what_was_planned():
    steps, _end = play(rounds=2, addendum=" Ten nights. ")

    assert step(steps, "addendum").data["text"] == "Ten nights."
    assert "Ten nights." not in asked(steps, "round/1/C")
    assert "Ten nights." in asked(steps, "round/2/A")
