"""What a judge is shown of what was said and thought, what is stored of that, and how long a turn waits for it."""

import pytest

from experiments.steering import branching
from experiments.workflows.judge import RUBRICS
from experiments.workflows.prompts import version
from tests.experiments.engine.talks import assert_same_page, fresh, sent

pytestmark = pytest.mark.django_db

THINKS = "sim/cooperative:first=0:think=native"


def prompt(provider, run, turn):
    """The bytes that reached the provider."""
    key = f"turn/{turn}/answer/judge" if run.experiment.workflow == "starchamber" else f"turn/{turn}/judge"
    return sent(provider, run, key)[0]["content"]


def saw(run, turn=1):
    return [judgment.saw for judgment in run.judgments.filter(turn=turn).order_by("subject")]


@pytest.fixture
def arena_run(arena, start, drive):
    def play(**config):
        run = start(arena(a=THINKS, max_turns=2, **config))
        drive()
        return fresh(run)

    return play


def test_a_judge_reads_the_reasoning_of_this_turn_and_of_earlier_ones_unless_told_otherwise(arena_run, provider):
    shown, hidden = arena_run(), arena_run(judge_sees_reasoning=False)

    for turn in (1, 2):
        thought = shown.messages.get(turn=turn, seat="A").reasoning
        assert thought
        assert thought in prompt(provider, shown, 2)
        assert hidden.messages.get(turn=turn, seat="A").reasoning not in prompt(provider, hidden, 2)
    assert saw(shown) == [{"messages": "original", "reasoning": r} for r in ("shown", "none")]
    assert saw(hidden) == [{"messages": "original", "reasoning": "off"}] * 2
    versions = {run: run.steps.get(key="turn/1/judge").prompt_version for run in (shown, hidden)}
    assert versions[hidden] == version("arena_judge", RUBRICS["arena_judge"]) != versions[shown]
    assert_same_page(shown)


def test_a_talk_that_goes_on_in_another_worker_still_shows_the_judge_what_was_thought_before(talk, say, provider):
    run = say(talk(THINKS), "send", "And then?")

    thoughts = [message.reasoning for message in run.messages.filter(seat="model")]
    assert len(set(thoughts)) == 2
    assert all(thought in prompt(provider, run, 2) for thought in thoughts)
    assert saw(run) == [{"messages": "original", "reasoning": "shown"}]


def test_a_run_stored_before_these_settings_goes_on_as_before(arena, start, drive, provider):
    experiment = arena(a=THINKS, max_turns=1)
    for name in ("judge_sees_reasoning", "judge_seconds"):
        del experiment.config[name]
    experiment.config["judge_sees"] = "filtered"
    experiment.save()
    run = start(experiment)
    drive()

    message = run.messages.get(seat="A")
    assert message.text in prompt(provider, run, 1)
    assert message.reasoning not in prompt(provider, run, 1)
    assert fresh(run).config["judge_seconds"] is None
    assert run.steps.get(key="turn/1/judge").prompt_version == version("arena_judge", RUBRICS["arena_judge"])


def test_judging_again_shows_what_the_first_judge_saw_unless_something_else_is_asked_for(
    arena_run, provider, alice, drive
):
    run = arena_run()
    same = branching.judge_again(run, by=alice)
    other = branching.judge_again(run, by=alice, judge_sees="filtered", judge_sees_reasoning=False)
    drive()

    thought = run.messages.get(turn=1, seat="A").reasoning
    assert thought in prompt(provider, same, 2)
    assert thought not in prompt(provider, other, 2)
    assert saw(same) == saw(run)
    assert saw(other) == [{"messages": "filtered", "reasoning": "off"}] * 2


def test_what_the_judge_saw_goes_with_the_scores_into_a_branch(arena_run, alice, drive):
    run = arena_run()
    child = branching.branch(run.messages.get(turn=2, seat="A"), by=alice, text="I keep all of it.")
    drive()

    assert saw(child) == saw(run)
    assert saw(child, 2)[0] == {"messages": "original", "reasoning": "none"}, "nobody thought the new words"
