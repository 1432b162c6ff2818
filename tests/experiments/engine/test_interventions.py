"""What an operator does to one side reaches only that side, and a branch pays only for what is new."""

import pytest

from accounts.errors import Forbidden, Invalid
from experiments.models import Run
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.workflows.arena import RUBRIC
from experiments.workflows.judging import services as judging
from tests.experiments.engine.talks import assert_same_page, everything, fresh, sent
from tests.fixtures import ARENA, add_model
from tests.making import maker


@maker
def assisted(provider, alice, start, drive, /, friend="sim/neutral:first=0", **config):
    """Plays an arena run with a friend in the cast."""
    models = {"A": "sim/cooperative:first=0", "B": "sim/competitive:first=0", "friend": friend}
    cast = {seat: {"model": add_model(model).slug} for seat, model in models.items()}
    run = start(actions.create(owner=alice, workflow="arena", config={**ARENA, **config}, cast=cast))
    drive()
    return fresh(run)


def plan(kind, text, side="B", turn=1):
    return {"kind": kind, "side": side, "turn": turn, "text": text}


def asked(run, key):
    return "\n".join(m["content"] for m in run.calls.get(step__key=key).request["messages"])


def test_a_note_reaches_only_its_side_and_stays_in_its_memory_and_a_friend_is_asked_in_private(assisted):
    question = "How do I answer this?"
    planned = [plan("note", "Ask for the big hall."), plan("friend", question, side="A", turn=2)]
    run = assisted(interventions=planned)

    readers = ("turn/1/B", "turn/2/B", "turn/1/judge", "turn/1/A", "turn/2/A", "turn/2/judge")
    assert [key for key in readers if "Ask for the big hall." in asked(run, key)] == list(readers[:3])
    unseen = assisted(interventions=[plan("note", "Bluff.")], judge_sees_interventions=False)
    assert "Bluff." not in asked(unseen, "turn/1/judge")

    [told] = [event.data for event in run.events.filter(type="intervention", data__kind="friend")]
    assert (told["seat"], told["question"], told["model"]) == ("A", question, "sim/neutral:first=0")
    assert told["text"]
    assert (told["text"] in asked(run, "turn/2/A"), told["text"] in asked(run, "turn/2/B")) == (True, False)
    assert run.calls.get(step__key="turn/2/A/planned/1/answer").step.seat == "friend"
    assert {message.seat for message in run.messages.all()} == {"A", "B"}


def test_an_altered_message_is_what_the_other_side_reads_and_the_judge_if_set_and_the_original_is_kept(assisted):
    for sees in ("filtered", "original", "both"):
        run = assisted(judge_sees=sees, interventions=[plan("alter", "I want none of it.")])
        message = run.messages.get(turn=1, seat="A")
        prompt = asked(run, "turn/1/judge").split("This turn, number")[1]
        assert (message.text in prompt, message.raw_text in prompt) == (sees != "original", sees != "filtered"), sees

    altered = run.messages.get(turn=1, seat="A")
    assert altered.text == "I want none of it."
    assert (altered.operator["kind"], altered.operator["by"]) == ("altered", "alice")
    filtered = run.events.filter(type="message_filtered").order_by("seq").first().data
    assert altered.operator["original"] == filtered["text"] != altered.text
    assert "I want none of it." in asked(run, "turn/1/B")
    assert altered.raw_text in asked(run, "turn/2/A"), "its speaker remembers what it said"
    assert run.events.filter(type="message_altered").count() == 1


def test_an_intervention_that_is_not_possible_says_so_and_the_run_goes_on(assisted):
    for friend, planned, why in (
        ("sim/neutral:fail=401", plan("friend", "Help?"), "no answer"),
        ("sim/neutral:first=0", plan("alter", "Nothing.", side="A"), "no message yet"),
    ):
        run = assisted(friend=friend, interventions=[planned])
        [told] = [event.data for event in run.events.filter(type="intervention")]
        assert (run.state, why in told["missed"]) == ("completed", True), why


THINKS = "sim/cooperative:first=0:think=native"


def prompt(provider, run, turn):
    """The bytes that reached the provider."""
    return sent(provider, run, f"turn/{turn}/judge")[0]["content"]


def saw(run, turn=1):
    return [judgment.saw for judgment in run.judgments.filter(turn=turn).order_by("subject")]


def test_a_judge_reads_the_reasoning_of_this_turn_and_of_earlier_ones_unless_told_otherwise(play, provider):
    shown, hidden = play(THINKS), play(THINKS, judge_sees_reasoning=False)

    for turn in (1, 2):
        thought = shown.messages.get(turn=turn, seat="A").reasoning
        assert thought
        assert thought in prompt(provider, shown, 2)
        assert hidden.messages.get(turn=turn, seat="A").reasoning not in prompt(provider, hidden, 2)
    assert saw(shown) == [{"messages": "original", "reasoning": r} for r in ("shown", "none")]
    assert saw(hidden) == [{"messages": "original", "reasoning": "off"}] * 2
    versions = {run: run.steps.get(key="turn/1/judge").prompt_version for run in (shown, hidden)}
    assert versions[hidden] == RUBRIC.version != versions[shown]
    assert_same_page(shown)


def test_a_run_stored_before_these_settings_goes_on_as_before(arena, play, provider):
    experiment = arena(a=THINKS, max_turns=1)
    for name in ("judge_sees_reasoning", "judge_seconds"):
        del experiment.config[name]
    experiment.config["judge_sees"] = "filtered"
    experiment.save()
    run = play(experiment=experiment)

    message = run.messages.get(seat="A")
    assert message.text in prompt(provider, run, 1)
    assert message.reasoning not in prompt(provider, run, 1)
    assert run.config["judge_seconds"] is None
    assert run.steps.get(key="turn/1/judge").prompt_version == RUBRIC.version


@pytest.mark.databases
def test_judging_again_and_a_branch_show_what_the_first_judge_saw_unless_told_otherwise_and_keep_the_first_scores(
    play, provider, alice, drive
):
    run = play(THINKS)
    first = list(run.judgments.values())
    same = judging.judge_again(run, by=alice, rubric="Only count the bids.")
    other = judging.judge_again(run, by=alice, judge_sees="filtered", judge_sees_reasoning=False)
    child = branching.branch(run.messages.get(turn=2, seat="A"), by=alice, text="I keep all of it.")
    drive()

    same = fresh(same)
    assert (same.state, same.experiment.workflow, same.parent) == ("completed", "judging", run)
    assert (same.judgments.count(), list(run.judgments.values())) == (4, first)
    assert "Only count the bids." in same.calls.first().request["messages"][0]["content"]
    versions = {call.step.prompt_version for call in same.calls.select_related("step")}
    assert versions.isdisjoint({call.step.prompt_version for call in run.calls.select_related("step")})

    thought = run.messages.get(turn=1, seat="A").reasoning
    assert thought in prompt(provider, same, 2)
    assert thought not in prompt(provider, other, 2)
    assert saw(same) == saw(child) == saw(run)
    assert saw(child, 2)[0] == {"messages": "original", "reasoning": "none"}, "nobody thought the new words"
    assert saw(other) == [{"messages": "filtered", "reasoning": "off"}] * 2


def texts(run):
    return [(m.turn, m.seat, m.raw_text, m.text) for m in run.messages.order_by("seq")]


@pytest.mark.databases
def test_a_branch_pays_only_for_what_is_new_and_an_edited_message_is_read_says_so_and_is_edited_again(
    played, branch, provider, alice
):
    parent = played(max_turns=2)
    message = parent.messages.get(turn=2, seat="A")
    before, asked = everything(parent), len(provider.ledger())
    child = branch(message)

    assert (child.state, child.origin, child.parent, child.branched_from) == ("completed", "branch", parent, message)
    assert texts(child)[:3] == texts(parent)[:3]
    assert [(turn, seat) for turn, seat, *_texts in texts(child)] == [(t, s) for t in (1, 2) for s in "AB"]
    assert child.judgments.filter(turn=1).count() == 2
    keys = set(child.calls.values_list("step__key", flat=True))
    assert not any(key.startswith(("turn/1", "turn/2/A")) for key in keys)
    assert len(provider.ledger()) - asked == child.calls.count()
    assert everything(Run.objects.get(pk=parent.pk)) == before
    numbers = list(child.events.order_by("seq").values_list("seq", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))

    child = branch(message, "I give you everything.")

    edited = child.messages.get(turn=2, seat="A")
    assert edited.raw_text == "I give you everything."
    assert edited.operator == {"kind": "edited", "by": "alice", "original": message.raw_text}
    reply = child.calls.get(step__key="turn/2/B").request["messages"]
    assert any("I give you everything." in item["content"] for item in reply)
    assert child.steps.filter(key="turn/2/A/filter", calls__isnull=False).exists(), "the filter reads it anew"
    assert parent.messages.get(turn=2, seat="A").raw_text == message.raw_text
    assert_same_page(child)

    second = branch(edited, "I give you half.")
    assert [texts(run)[2][2] for run in (child, second)] == ["I give you everything.", "I give you half."]
    assert texts(second)[:2] == texts(parent)[:2]
    assert (second.parent, second.parent.parent) == (child, parent)
    reply = second.calls.get(step__key="turn/2/B").request["messages"]
    assert any("I give you half." in item["content"] for item in reply)

    for text in ("", "  \n", "\x00", "\ud800"):
        with pytest.raises(Invalid):
            branching.branch(message, by=alice, text=text)
    parent.experiment.participants.get(seat="A").model.provider.models.update(is_active=False)
    with pytest.raises(Forbidden, match="are not available"):
        branching.branch(message, by=alice)
    assert Run.objects.count() == 4


def test_a_live_run_can_be_branched_while_it_waits(play, drive, alice, branch):
    run = play(mode="manual")
    steering.say(run, by=alice, key="turn/1/A/prompt", action="send", text="Be bold.")
    drive()
    child = branch(run.messages.get())

    run.refresh_from_db()
    assert (run.state, child.state) == ("waiting", "waiting")
    assert child.open_pauses[-1].key == "turn/1/B/prompt"
    assert child.steps.get(key="turn/1/A/prompt").data["text"] == "Be bold."
