"""Going on differently from a message: the parent stays as it is, and nothing that was paid for is paid again."""

import pytest

from accounts.errors import Forbidden, Invalid
from experiments.models import Call, Event, Judgment, Message, Run, Step
from experiments.runs.steering import branching, steering
from tests.experiments.pages.painted import assert_same_page


@pytest.fixture
def parent(arena, start, drive):
    run = start(arena(max_turns=2))
    drive()
    run.refresh_from_db()
    return run


def everything(run):
    """Every row of a run, to compare before and after."""
    return [
        list(model.objects.filter(run=run).order_by("pk").values()) for model in (Step, Call, Message, Judgment, Event)
    ]


def texts(run):
    return [(m.turn, m.seat, m.raw_text, m.text) for m in run.messages.order_by("seq")]


@pytest.mark.databases
def test_a_branch_shares_what_came_before_and_pays_only_for_what_is_new(parent, branch, provider):
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


def test_an_edited_message_is_read_by_the_other_side_says_that_it_was_edited_and_is_edited_again(parent, branch):
    message = parent.messages.get(turn=2, seat="A")
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


def test_what_cannot_be_branched_is_refused(played, alice):
    parent = played(max_turns=1, judge=False, filter=False)
    message = parent.messages.first()
    for text in ("", "  \n", "\x00", "\ud800"):
        with pytest.raises(Invalid):
            branching.branch(message, by=alice, text=text)
    parent.experiment.participants.get(seat="A").model.provider.models.update(is_active=False)
    with pytest.raises(Forbidden, match="are not available"):
        branching.branch(message, by=alice)
    assert Run.objects.count() == 1


def test_a_live_run_can_be_branched_while_it_waits(arena, start, drive, alice, branch):
    run = start(arena(mode="manual", max_turns=2))
    drive()
    steering.say(run, by=alice, key="turn/1/A/prompt", action="send", text="Be bold.")
    drive()
    child = branch(run.messages.get())

    run.refresh_from_db()
    assert (run.state, child.state) == ("waiting", "waiting")
    assert child.open_pauses[-1].key == "turn/1/B/prompt"
    assert child.steps.get(key="turn/1/A/prompt").data["text"] == "Be bold."
