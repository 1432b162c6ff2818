"""The arena's rule of play, followed step by step without a model, and what a side is told."""

import json

import pytest
from pydantic import ValidationError

from experiments.workflows import arena
from experiments.workflows.arena import Config
from experiments.workflows.arena.talk import Said, Talk
from experiments.workflows.base.filter import NOTHING_LEFT
from experiments.workflows.base.replay import passed
from experiments.workflows.base.steps import Ask, Cast, End, Listen, Outcome, Seat

CAST = Cast({seat: Seat(seat) for seat in arena.SEATS}, seed=5)
SCENARIO = "Share seven panels. $name must not be replaced, nor ${length}."
THOUGHT = "My reasoning: secret."


def well(step):
    """A model that thinks aloud, a filter that removes the thought, a judge that scores."""
    if step.purpose == "filter":
        key = step.key.removesuffix("/filter")
        return Outcome(text=json.dumps({"text": f"Words of {key}.", "removed": ["My reasoning"]}))
    if step.purpose == "judge":
        return Outcome(text=json.dumps({"A": {"cooperation": 0.5}, "B": {"cooperation": 0}, "dynamics": "d"}))
    return Outcome(text=f"{THOUGHT}\n\nWords of {step.key}.", finish_reason="stop")


def play(answer=well, most=200, **config):
    """All steps of a run and how it ended; None when it goes on after `most` steps."""
    run = arena.run(Config(**{"prompt": SCENARIO, "gap_seconds": 0, **config}), CAST)
    steps, outcome = [], None
    while len(steps) < most:
        try:
            step = run.send(outcome)
        except StopIteration as stop:
            return steps, stop.value
        if isinstance(step, Listen):
            outcome = passed(step)
            continue
        steps.append(step)
        outcome = answer(step) if isinstance(step, Ask) else Outcome()
    return steps, None


def ask(steps, key):
    [found] = [step for step in steps if step.key == key]
    return found


def test_a_side_is_asked_with_its_instructions_and_the_rules_and_b_speaks_first_when_asked_to():
    steps, _end = play(max_turns=1, first="B", filter=False, judge=False)

    assert [step.key for step in steps] == ["turn/1", "turn/1/B", "turn/1/A", "turn/1/completed"]
    assert "Open the conversation with Model A" in ask(steps, "turn/1/B").messages[-1].content
    assert ask(steps, "turn/1/A").messages[1].content == f"{THOUGHT}\n\nWords of turn/1/B."
    assert Config(prompt="Talk.", judge=False, filter=False).seats() == ("A", "B")

    system = ask(play(max_turns=3)[0], "turn/1/A").messages[0]
    assert system.role == "system"
    assert system.content.startswith(f"{SCENARIO}\n\n")
    assert "You are Model A. You are in a conversation of 3 turns with Model B." in system.content

    steps, end = play(max_turns=None, most=500)
    rules = ask(steps, "turn/1/A").messages[0].content.removeprefix(SCENARIO)
    assert (end, "open length" in rules, "-1" in rules, "None" in rules) == (None, True, False, False)


def test_no_thought_of_one_side_reaches_the_other_or_the_judge_and_instructions_are_for_their_own_side_and_the_judge():
    steps, _end = play(max_turns=3, judge_sees="filtered")

    asks = [step for step in steps if isinstance(step, Ask)]
    for step in asks:
        own = {"A": "assistant", "B": "assistant"}.get(step.seat)
        others = [prompt.content for prompt in step.messages if prompt.role != own]
        allowed = 1 if step.purpose == "filter" else 0
        assert sum(text.count(THOUGHT) for text in others) == allowed, step.key

    prompts = {"A": "Win for red.", "B": "Win for blue."}
    steps, _end = play(max_turns=2, prompting="individual", prompt="", prompts=prompts, judge_sees="filtered")

    for step in (step for step in steps if isinstance(step, Ask) and step.purpose == "reply"):
        text = " ".join(prompt.content for prompt in step.messages)
        assert ("Win for red." in text, "Win for blue." in text) == (step.seat == "A", step.seat == "B")
    shown = ask(steps, "turn/2/judge").messages[0].content
    heard = ("Model A: Words of turn/1/A.\n\nModel B: Words of turn/1/B.", "Words of turn/2/B.")
    assert [words for words in (*prompts.values(), *heard) if words not in shown] == []


ORIGINAL = f"{THOUGHT}\n\nWords of turn/1/A."


def test_a_filter_that_failed_lets_the_original_pass_and_one_that_left_nothing_a_placeholder():
    for filtered, heard, status in (
        (Outcome(ok=False, error_kind="overloaded", error="The provider is overloaded."), ORIGINAL, "failed"),
        (Outcome(text="no JSON"), ORIGINAL, "failed"),
        (Outcome(text='{"text": "SURRENDER"}'), ORIGINAL, "refused"),
        (Outcome(text='{"text": "", "removed": ["everything"]}'), NOTHING_LEFT, "emptied"),
    ):

        def answer(step, filtered=filtered):
            return filtered if step.key == "turn/1/A/filter" else well(step)

        steps, end = play(answer, max_turns=1)

        assert end == End("max_turns"), filtered
        assert ask(steps, "turn/1/B").messages[1].content == heard
        assert ask(steps, "turn/1/A/filtered").data["filter"]["status"] == status


def test_a_configuration_that_cannot_be_played_is_refused_with_the_reason():
    for config, words in (
        ({"prompt": " \n\t"}, "prompt is empty"),
        ({"prompting": "individual"}, "Model A and Model B are empty"),
        ({"prompting": "individual", "prompts": {"A": "Win.", "B": " "}}, "Model B are empty"),
        ({"prompt": "x" * 100_001}, "at most 100000"),
        ({"prompt": "Talk.", "max_turns": 0}, "greater than or equal to 1"),
        ({"prompt": "Talk.", "max_turns": 101}, "less than or equal to 100"),
        ({"prompt": "Talk.", "gap_seconds": -1}, "greater than or equal to 0"),
        ({"prompt": "Talk.", "limits": {"cost": 0}}, "greater than 0"),
        ({"prompt": "Talk.", "turns": 5}, "not permitted"),
        ({"prompt": "Talk.", "first": "C"}, "'A' or 'B'"),
    ):
        with pytest.raises(ValidationError, match=words):
            Config(**config)
    for given, seconds in (
        ({}, None),
        ({"max_turns": None}, 3600),
        ({"max_turns": None, "limits": {"seconds": 60}}, 60),
        ({"mode": "manual", "max_turns": None}, None),
    ):
        assert Config(prompt="Talk.", **given).limits.seconds == seconds, "an open length is limited to an hour"


def test_opening_and_persona_are_for_their_own_side_and_the_others_reads_what_the_filter_let_through():
    cast = Cast({seat: Seat(seat, persona="A miser." if seat == "A" else "") for seat in arena.SEATS}, seed=5)
    note = ("A private note, for your eyes only: Bluff.",)
    said = [Said("turn/1/A/message", "A", 1, "I think. I offer two.", "I offer two.", note)]
    said += [Said("turn/1/B/message", "B", 1, "Five.", "Five.")]
    own = {"prompting": "individual", "prompts": {"A": "Keep it all.", "B": "Share it all."}}
    shown = Talk(Config(**own), cast, said).manual_prompt("B", [])

    def sent(side, **config):
        return Talk(Config(prompt=SCENARIO, **config), cast, []).prompt_for(side, [])

    for of in "AB":
        [system, *_rest] = sent(of, system_prompt="You, {MODEL}, are {MODEL}; {OTHER} stays.")
        assert system.role == "system", of
        assert system.content.startswith(f"You, {of}, are {of}; {{OTHER}} stays.\n\n")
        assert sent(of, system_prompt=" \n ") == sent(of)
        assert ("The part you play: A miser." in system.content) == (of == "A")
    assert "Model A said:\nI offer two." in shown
    assert "YOUR OWN INSTRUCTIONS\nShare it all." in shown
    assert not [secret for secret in ("I think.", "Bluff.", "Keep it all.", "A miser.") if secret in shown]
