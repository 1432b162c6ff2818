"""A council can go on differently from any of its questions, and pays for nothing twice."""

import pytest

from experiments.models import Run
from experiments.refusals import NotOffered
from experiments.steering import branching
from tests.experiments.deliberating import FAST, assert_same_page, counted, fresh, offer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.fixture
def branch(alice, drive):
    def go_on(message, text=None):
        child = branching.branch(message, by=alice, text=text)
        drive()
        return fresh(child)

    return go_on


def asked(run, key):
    return [one["content"] for one in run.calls.get(step__key=key).request["messages"]]


def test_another_first_question_begins_anew(convene, branch):
    run = convene(*FAST)
    child = branch(run.messages.get(seat="person"), "Why is the sea blue?")

    assert (child.state, child.origin) == ("completed", Run.Origin.BRANCH)
    assert asked(child, "turn/1/answer/member-1") == ["Why is the sea blue?"]
    assert child.calls.filter(step__purpose="reply").count() == 3
    assert child.messages.filter(seat="person").get().text == "Why is the sea blue?"
    assert_same_page(child)


def test_another_second_question_keeps_the_first_with_its_ballots(convene, take_up, branch):
    run = take_up(take_up(convene(*FAST), "send", "And at sunset?"), "send", "And on Mars?")
    child = branch(run.messages.get(seat="person", turn=2), "And at night?")

    assert [m.text for m in child.messages.filter(seat="person").order_by("seq")] == [
        "Why is the sky blue?",
        "And at night?",
    ]
    concluded = run.messages.get(turn=1, step__purpose="conclusion").text
    assert asked(child, "turn/2/answer/member-1") == ["Why is the sky blue?", concluded, "And at night?"]
    assert child.calls.filter(step__turn=1).count() == 0, "nothing is paid twice"
    assert child.ballots.filter(turn=1).count() == 3
    assert counted(child, 1) == counted(run, 1)
    assert offer(child).key == "turn/2/next"
    assert_same_page(child)
    assert fresh(run).messages.filter(seat="person").count() == 3


def test_the_same_question_is_answered_anew_by_members_who_remember_the_same(convene, take_up, branch):
    run = take_up(convene(*FAST), "send", "And at sunset?")
    child = branch(run.messages.get(seat="person", turn=2))

    assert asked(child, "turn/2/answer/member-1") == asked(run, "turn/2/answer/member-1")
    assert child.calls.filter(step__turn=1).count() == 0
    assert child.calls.filter(step__purpose="reply").count() == 3
    assert_same_page(child)


def test_a_branch_keeps_what_was_done_again_before_it(convene, take_up, branch):
    run = take_up(take_up(convene(*FAST), "deliberate"), "send", "And at sunset?")
    child = branch(run.messages.get(seat="person", turn=2), "And at night?")

    assert child.ballots.filter(turn=1, count=2, superseded=False).count() == 3
    assert [m.superseded for m in child.messages.filter(turn=1, step__purpose="conclusion").order_by("seq")] == [
        True,
        False,
    ]
    concluded = run.messages.get(turn=1, step__purpose="conclusion", superseded=False).text
    assert asked(child, "turn/2/answer/member-1")[1] == concluded
    assert_same_page(child)


def test_what_was_said_side_by_side_is_no_place_to_branch_from(convene, alice):
    run = convene(*FAST)
    for message in run.messages.exclude(seat="person"):
        with pytest.raises(NotOffered):
            branching.branch(message, by=alice, text="It is the air.")
