"""The arena's rule of play, followed step by step without a model."""

import json

import pytest
from pydantic import ValidationError

from experiments.engine.score import passed
from experiments.workflows import arena
from experiments.workflows.arena import Config
from experiments.workflows.filter import NOTHING_LEFT
from experiments.workflows.steps import Ask, Cast, End, Listen, Outcome, Record, Seat
from tests.cases import each_case

CAST = Cast({seat: Seat(seat) for seat in arena.SEATS}, seed=5)
SCENARIO = "Share seven panels. $name must not be replaced, nor ${length}."
FAILED = Outcome(ok=False, error_kind="overloaded", error="The provider is overloaded.")
THOUGHT = "My reasoning: secret."


def said(step):
    return f"{THOUGHT}\n\nWords of {step.key}."


def well(step):
    """A model that thinks aloud, a filter that removes the thought, a judge that scores."""
    if step.purpose == "filter":
        key = step.key.removesuffix("/filter")
        return Outcome(text=json.dumps({"text": f"Words of {key}.", "removed": ["My reasoning"]}))
    if step.purpose == "judge":
        return Outcome(text=json.dumps({"A": {"cooperation": 0.5}, "B": {"cooperation": 0}, "dynamics": "d"}))
    return Outcome(text=said(step), finish_reason="stop")


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


def record(steps, key):
    return ask(steps, key).data


TURN_1 = [
    "turn/1",
    "turn/1/A",
    "turn/1/A/filter",
    "turn/1/A/filtered",
    "turn/1/B",
    "turn/1/B/filter",
    "turn/1/B/filtered",
    "turn/1/judge/started",
    "turn/1/judge",
    "turn/1/judge/completed",
    "turn/1/completed",
]


def test_a_turn_is_a_speaks_b_speaks_each_filtered_then_the_judge():
    steps, end = play(max_turns=2)

    assert [step.key for step in steps] == TURN_1 + [key.replace("/1", "/2") for key in TURN_1]
    assert end == End("max_turns")


def test_side_b_speaks_first_when_asked_to():
    steps, _end = play(max_turns=1, first="B", filter=False, judge=False)

    assert [step.key for step in steps] == ["turn/1", "turn/1/B", "turn/1/A", "turn/1/completed"]
    assert "Open the conversation with Model A" in ask(steps, "turn/1/B").messages[-1].content


def test_without_filter_and_judge_nobody_else_is_asked():
    steps, _end = play(max_turns=3, filter=False, judge=False)

    assert {step.seat for step in steps if isinstance(step, Ask)} == {"A", "B"}


def test_keys_are_unique_and_turns_are_numbered():
    steps, _end = play(max_turns=100, most=2000)

    assert len({step.key for step in steps}) == len(steps) == 1100
    assert {step.turn for step in steps} == set(range(1, 101))


def test_a_side_is_asked_with_its_instructions_as_written_and_the_rules():
    system = ask(play(max_turns=3)[0], "turn/1/A").messages[0]

    assert system.role == "system"
    assert system.content.startswith(f"{SCENARIO}\n\n")
    assert "You are Model A. You are in a conversation of 3 turns with Model B." in system.content


def test_a_side_sees_its_own_words_raw_and_the_others_filtered():
    steps, _end = play(max_turns=2)

    roles = [(prompt.role, prompt.content) for prompt in ask(steps, "turn/2/A").messages[1:]]
    assert roles == [
        ("assistant", f"{THOUGHT}\n\nWords of turn/1/A."),
        ("user", "Words of turn/1/B."),
        ("user", "You are Model A. Answer the last message of Model B and carry the conversation on."),
    ]


def test_side_b_hears_what_side_a_said_in_the_same_turn():
    heard = [(prompt.role, prompt.content) for prompt in ask(play(max_turns=1)[0], "turn/1/B").messages[1:-1]]

    assert heard == [("user", "Words of turn/1/A.")]


def test_no_thought_of_one_side_reaches_the_other_the_judge_or_its_own_filters_context():
    steps, _end = play(max_turns=3, judge_sees="filtered")

    asks = [step for step in steps if isinstance(step, Ask)]
    for step in asks:
        own = {"A": "assistant", "B": "assistant"}.get(step.seat)
        others = [prompt.content for prompt in step.messages if prompt.role != own]
        allowed = 1 if step.purpose == "filter" else 0
        assert sum(text.count(THOUGHT) for text in others) == allowed, step.key


def test_without_a_filter_the_words_pass_as_they_are():
    steps, _end = play(max_turns=1, filter=False)

    assert ask(steps, "turn/1/B").messages[1].content == f"{THOUGHT}\n\nWords of turn/1/A."


def test_the_first_to_speak_opens_and_nobody_else_does():
    steps, _end = play(max_turns=2)

    opening = [
        step.key for step in steps if isinstance(step, Ask) and "Open the conversation" in step.messages[-1].content
    ]
    assert opening == ["turn/1/A"]


def test_individual_instructions_are_for_their_own_side_alone():
    steps, _end = play(
        max_turns=2, prompting="individual", prompt="", prompts={"A": "Win for red.", "B": "Win for blue."}
    )

    for step in (step for step in steps if isinstance(step, Ask) and step.purpose == "reply"):
        text = " ".join(prompt.content for prompt in step.messages)
        assert ("Win for red." in text, "Win for blue." in text) == (step.seat == "A", step.seat == "B")


def test_the_judge_is_shown_both_instructions_and_what_each_side_saw():
    prompts = {"A": "Win for red.", "B": "Win for blue."}
    steps, _end = play(max_turns=2, prompting="individual", prompts=prompts, judge_sees="filtered")

    shown = ask(steps, "turn/2/judge").messages[0].content
    assert "Win for red." in shown
    assert "Win for blue." in shown
    assert "Model A: Words of turn/1/A.\n\nModel B: Words of turn/1/B." in shown
    assert "Words of turn/2/B." in shown


def test_an_open_length_has_no_minus_one_and_no_none_in_its_rules():
    steps, end = play(max_turns=None, most=500)

    rules = ask(steps, "turn/1/A").messages[0].content.removeprefix(SCENARIO)
    assert end is None
    assert "open length" in rules
    assert "-1" not in rules
    assert "None" not in rules


def test_an_open_length_is_limited_to_an_hour_unless_another_limit_is_set():
    assert Config(prompt="Talk.", max_turns=None).limits.seconds == 3600
    assert Config(prompt="Talk.", max_turns=None, limits={"seconds": 60}).limits.seconds == 60
    assert Config(prompt="Talk.").limits.seconds is None


def test_a_reply_that_failed_ends_the_run_as_failed():
    steps, end = play(lambda step: FAILED if step.key == "turn/2/B" else well(step))

    assert steps[-1].key == "turn/2/B"
    assert (end.failed, end.reason) == (True, "overloaded")
    assert "Model B gave no answer in turn 2" in end.message


def test_the_words_of_an_error_are_never_spoken():
    steps, _end = play(lambda step: FAILED if step.key == "turn/1/B" else well(step))

    assert not any(
        FAILED.error in prompt.content for step in steps if isinstance(step, Ask) for prompt in step.messages
    )


@each_case("broken", [FAILED, Outcome(text="no JSON"), Outcome(text='{"A": {}}'), Outcome(text="")])
def test_a_judge_that_failed_does_not_end_the_run(broken):
    steps, end = play(lambda step: broken if step.key == "turn/1/judge" else well(step), max_turns=2)

    assert end == End("max_turns")
    first, second = (record(steps, f"turn/{turn}/judge/completed")["judgments"] for turn in (1, 2))
    assert [(j["scores"], bool(j["unscored_reason"])) for j in first] == [(None, True), (None, True)]
    assert [j["scores"] for j in second] == [{"cooperation": 0.5}, {"cooperation": 0.0}]


@each_case("broken", [FAILED, Outcome(text="no JSON"), Outcome(text='{"text": "SURRENDER"}')])
def test_a_filter_that_failed_lets_the_original_pass(broken):
    steps, end = play(lambda step: broken if step.key == "turn/1/A/filter" else well(step), max_turns=1)

    assert end == End("max_turns")
    assert ask(steps, "turn/1/B").messages[1].content == f"{THOUGHT}\n\nWords of turn/1/A."
    assert record(steps, "turn/1/A/filtered")["filter"]["status"] in {"failed", "refused"}


def test_a_filter_that_left_nothing_passes_a_placeholder_instead_of_an_empty_message():
    empty = Outcome(text='{"text": "", "removed": ["everything"]}')
    steps, _end = play(lambda step: empty if step.key == "turn/1/A/filter" else well(step), max_turns=1)

    assert ask(steps, "turn/1/B").messages[1].content == NOTHING_LEFT
    assert record(steps, "turn/1/A/filtered")["filter"]["status"] == "emptied"


def test_a_filtered_record_names_the_message_and_the_call_it_rests_on():
    filtered = ask(play(max_turns=1)[0], "turn/1/A/filtered")

    assert (filtered.data["message"], filtered.source) == ("turn/1/A", "turn/1/A/filter")
    assert filtered.data["text"] == "Words of turn/1/A."


def test_the_gap_comes_before_each_turn_but_the_first():
    steps, _end = play(max_turns=3, gap_seconds=2.5)

    delays = {step.key: step.delay for step in steps if isinstance(step, Ask) and step.delay}
    assert delays == {"turn/2/A": 2.5, "turn/3/A": 2.5}


def test_the_same_run_asks_the_same_questions_again():
    assert play(max_turns=3) == play(max_turns=3)


def test_only_asks_and_records_come_out():
    assert {type(step) for step in play(max_turns=2)[0]} == {Ask, Record}


@each_case(
    ("config", "words"),
    [
        ({}, "prompt is empty"),
        ({"prompt": ""}, "prompt is empty"),
        ({"prompt": " \n\t"}, "prompt is empty"),
        ({"prompting": "individual"}, "Model A and Model B are empty"),
        ({"prompting": "individual", "prompts": {"A": "Win.", "B": " "}}, "Model B are empty"),
        ({"prompt": "x" * 100_001}, "at most 100000"),
        ({"prompt": "Talk.", "max_turns": 0}, "greater than or equal to 1"),
        ({"prompt": "Talk.", "max_turns": 101}, "less than or equal to 100"),
        ({"prompt": "Talk.", "max_turns": "x"}, "valid integer"),
        ({"prompt": "Talk.", "gap_seconds": -1}, "greater than or equal to 0"),
        ({"prompt": "Talk.", "limits": {"cost": 0}}, "greater than 0"),
        ({"prompt": "Talk.", "limits": {"money": 1}}, "not permitted"),
        ({"prompt": "Talk.", "turns": 5}, "not permitted"),
        ({"prompt": "Talk.", "first": "C"}, "'A' or 'B'"),
    ],
)
def test_a_configuration_that_cannot_be_played_is_refused_with_the_reason(config, words):
    with pytest.raises(ValidationError, match=words):
        Config(**config)


def test_the_seats_follow_from_what_is_switched_on():
    assert Config(prompt="Talk.").seats() == ("A", "B", "judge", "filter")
    assert Config(prompt="Talk.", judge=False, filter=False).seats() == ("A", "B")
