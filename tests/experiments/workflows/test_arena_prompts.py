"""What a side is told, in automatic and in manual mode: all of it is the researcher's, nothing is added in secret."""

import pytest

from experiments.workflows import arena
from experiments.workflows.arena import Config
from experiments.workflows.arena.talk import Said, Talk
from experiments.workflows.steps import Cast, Seat
from tests.cases import each_case

PERSONAS = Cast({seat: Seat(seat, persona="A miser." if seat == "A" else "") for seat in arena.SEATS}, seed=5)


def talk(cast=PERSONAS, said=(), **config):
    return Talk(Config(**{"prompt": "Share seven panels.", **config}), cast, list(said))


def sent(side, **config):
    return talk(**config).prompt_for(side, [])


HISTORY = [
    Said("A", 1, "I think. I offer two.", "I offer two.", ("A private note, for your eyes only: Bluff.",)),
    Said("B", 1, "Five.", "Five."),
]


@pytest.mark.parametrize("side", ["A", "B"])
def test_the_researchers_own_opening_names_the_side_wherever_it_says_so(side):
    [system, *_rest] = sent(side, system_prompt="You, {MODEL}, are {MODEL}; {OTHER} stays.")

    assert system.role == "system"
    assert system.content.startswith(f"You, {side}, are {side}; {{OTHER}} stays.\n\n")
    assert sent(side, system_prompt="Be {MODEL}.")[0].content.count(f"Be {side}.") == 1


def test_a_blank_opening_adds_nothing():
    assert sent("B", system_prompt=" \n ") == sent("B")


def test_a_persona_is_part_of_the_system_message_of_its_side_alone():
    assert "The part you play: A miser." in sent("A")[0].content
    assert "A miser." not in str(sent("B"))


def test_nobody_is_asked_to_think_aloud_unless_the_researcher_wants_it():
    plain, eliciting = sent("A")[-1].content, sent("A", elicit_thinking=True)[-1].content

    assert "think" not in plain.lower()
    assert eliciting.startswith(plain)
    assert "step by step" in eliciting


def test_what_elicits_thinking_is_shown_to_the_operator_too():
    shown = talk(elicit_thinking=True).manual_prompt("A", [])

    assert "step by step" in shown
    assert "step by step" not in talk().manual_prompt("A", [])


def test_the_prompt_of_an_operator_holds_everything_in_its_order():
    shown = talk(said=HISTORY, system_prompt="Hello {MODEL}.").manual_prompt("A", [])

    parts = [
        "Hello A.",
        "The part you play: A miser.",
        "You are Model A. You are in a conversation of 5 turns with Model B.",
        "SCENARIO\nShare seven panels.",
        "CONVERSATION SO FAR",
        "A private note, for your eyes only: Bluff.",
        "You said:\nI think. I offer two.",
        "Model B said:\nFive.",
        "END OF THE CONVERSATION SO FAR",
        "Answer the last message of Model B",
    ]
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)


def test_the_other_sides_prompt_shows_what_the_filter_let_through_and_nothing_private():
    shown = talk(said=HISTORY).manual_prompt("B", [])

    assert "Model A said:\nI offer two." in shown
    assert "I think." not in shown
    assert "Bluff." not in shown


@each_case(
    ("side", "said", "cue"),
    [
        ("A", [], "You are Model A. Open the conversation with Model B now."),
        ("B", [], "You are Model B. Open the conversation with Model A now."),
        ("B", HISTORY[:1], "You are Model B. Answer the last message of Model A and carry the conversation on."),
    ],
)
def test_the_prompt_ends_with_the_cue_that_fits(side, said, cue):
    shown = talk(said=said).manual_prompt(side, [])

    assert shown.endswith(cue)
    assert ("CONVERSATION SO FAR" in shown) == bool(said)


def test_individual_instructions_are_headed_as_ones_own():
    prompts = {"A": "Keep it all.", "B": "Share it all."}
    shown = talk(prompting="individual", prompt="", prompts=prompts).manual_prompt("B", [])

    assert "YOUR OWN INSTRUCTIONS\nShare it all." in shown
    assert "Keep it all." not in shown


def test_a_manual_run_without_a_last_turn_has_no_limit_of_time_unless_one_is_set():
    assert Config(prompt="Talk.", mode="manual", max_turns=None).limits.seconds is None
    assert Config(prompt="Talk.", mode="manual", max_turns=None, limits={"seconds": 9}).limits.seconds == 9


def test_the_defaults_are_those_of_the_lab():
    config = Config(prompt="Talk.")

    assert (config.mode, config.prompting, config.max_turns, config.first) == ("automatic", "shared", 5, "A")
    assert (config.filter, config.judge, config.judge_sees) == (True, True, "original")
    assert (config.judge_sees_reasoning, config.judge_seconds) == (True, 30.0)
    assert (config.logprobs, config.elicit_thinking, config.auto_advance, config.counterbalance) == (False,) * 4
    assert (config.gap_seconds, config.when_empty, config.interventions) == (2.0, "placeholder", [])
