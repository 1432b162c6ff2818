"""A council that is asked more: the next question, and what is asked again."""

import datetime
import threading

import pytest

from experiments import actions
from experiments.engine.driver import Driver
from experiments.models import Call, Run
from experiments.refusals import NotOffered, NotWaiting, SaidAlready
from experiments.steering import furthering, steering
from tests.experiments.deliberating import (
    FAST,
    assert_same_page,
    calls,
    fresh,
    member,
    offer,
)
from tests.fixtures import wait_until

A_MONTH = datetime.timedelta(days=30)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def test_a_further_question_comes_with_what_was_concluded(convene, take_up):
    run = take_up(convene(), "send", "And at sunset?")

    assert (run.state, offer(run).turn) == ("completed", 2)
    first = run.messages.get(turn=1, step__purpose="conclusion").text
    asked = run.calls.get(step__key="turn/2/answer/member-2").request["messages"]
    assert [one["content"] for one in asked] == ["Why is the sky blue?", first, "And at sunset?"]
    assert [one["role"] for one in asked] == ["user", "assistant", "user"]
    assert run.ballots.filter(turn=2).count() == 3
    assert_same_page(run)


def test_a_question_may_follow_weeks_later(convene, alice, drive):
    run = convene(limits={"seconds": 60})
    Run.objects.filter(pk=run.pk).update(
        started=run.started - A_MONTH, ended=run.ended - A_MONTH, waited_seconds=run.waited_seconds
    )
    furthering.ask_further(fresh(run), by=alice, text="And at sunset?")
    drive()

    assert fresh(run).state == "completed", "weeks of rest are no play"
    assert fresh(run).waited_seconds >= A_MONTH.total_seconds()


def test_two_tabs_that_ask_while_the_council_works_are_both_heard_in_order(council, start, drive, alice):
    run = start(council(*FAST))
    furthering.ask_further(run, by=alice, text="And at sunset?")
    furthering.ask_further(run, by=alice, text="And on Mars?")
    drive()

    questions = [m.text for m in run.messages.filter(seat="person").order_by("seq")]
    assert questions == ["Why is the sky blue?", "And at sunset?", "And on Mars?"]
    assert (fresh(run).state, offer(run).key) == ("completed", "turn/3/next")
    assert run.messages.filter(step__purpose="conclusion").count() == 3
    assert_same_page(run)


def test_two_tabs_that_ask_once_it_is_done_are_both_heard_in_order(convene, drive, alice):
    run = convene()
    furthering.ask_further(run, by=alice, text="And at sunset?")
    furthering.ask_further(run, by=alice, text="And on Mars?")
    drive()

    assert [m.text for m in run.messages.filter(seat="person").order_by("seq")][1:] == [
        "And at sunset?",
        "And on Mars?",
    ]
    assert_same_page(run)


def test_a_question_asked_while_it_is_driven_is_answered_by_the_same_driver(
    council, start, alice, scripted, transactional_db
):
    asked, says = threading.Event(), member("Light scatters.")
    first = scripted.model("scripted/first", lambda body: asked.wait(60) and says(body))
    run = start(council(first, *FAST[1:]))
    driver = threading.Thread(target=lambda: Driver(threading.Event()).drive(0.3))
    driver.start()
    try:
        wait_until(lambda: run.calls.filter(state=Call.State.SENT).exists(), "the first answer to be under way")
        furthering.ask_further(fresh(run), by=alice, text="And at sunset?")
    finally:
        asked.set()
        driver.join()

    assert (fresh(run).state, offer(run).key, fresh(run).fence) == ("completed", "turn/2/next", 1)
    assert_same_page(run)


def test_the_same_offer_is_taken_up_once(convene, alice):
    run = convene()
    key = offer(run).key
    steering.say(run, by=alice, key=key, action="conclude")
    with pytest.raises(SaidAlready):
        steering.say(run, by=alice, key=key, action="send", text="And at sunset?")


@pytest.mark.parametrize("text", ["", " \n", "a\x00b"])
def test_nothing_cannot_be_asked(convene, alice, text):
    run = convene()
    with pytest.raises(NotOffered):
        furthering.ask_further(run, by=alice, text=text)
    assert fresh(run).state == "completed"


def test_after_the_last_question_nothing_more_can_be_asked(council, start, drive, alice):
    run = start(council(*FAST, max_turns=2))
    furthering.ask_further(run, by=alice, text="And at sunset?")
    with pytest.raises(NotOffered):
        furthering.ask_further(run, by=alice, text="And on Mars?")
    drive()
    with pytest.raises(NotOffered):
        furthering.ask_further(fresh(run), by=alice, text="And on Mars?")

    assert offer(run).data["actions"] == ["conclude", "deliberate"]


def test_a_stopped_council_is_asked_nothing(council, start, alice):
    run = start(council(*FAST))
    actions.stop(run, by=alice)
    with pytest.raises(NotWaiting):
        furthering.ask_further(fresh(run), by=alice, text="And at sunset?")


# --- once more ---


def test_a_conclusion_drawn_again_takes_the_place_of_the_first(convene, take_up):
    run = take_up(convene(), "conclude")

    conclusions = run.messages.filter(step__purpose="conclusion").order_by("seq")
    assert [m.superseded for m in conclusions] == [True, False]
    assert run.calls.filter(step__purpose="review").count() == 3, "no review is asked for again"
    assert_same_page(run)


def test_answers_ranked_again_replace_the_ballots_and_the_conclusion(convene, take_up):
    run = take_up(convene(), "deliberate")

    assert list(run.ballots.filter(count=1).values_list("superseded", flat=True)) == [True] * 3
    assert list(run.ballots.filter(count=2).values_list("superseded", flat=True)) == [False] * 3
    assert [step.data["count"] for step in run.steps.filter(purpose="ballots_counted").order_by("id")] == [1, 2]
    assert [m.superseded for m in run.messages.filter(step__purpose="conclusion").order_by("seq")] == [True, False]
    assert run.steps.filter(purpose="turn_completed").count() == 1
    assert calls(run, "reply") == [(f"turn/1/answer/member-{number}", "completed") for number in (1, 2, 3)]
    assert_same_page(run)


def test_everything_at_once_still_gives_the_same_page(convene, take_up):
    run = convene(*FAST[:2], "sim/neutral:first=0:fail=401:times=1", title=True)
    for action, text in (("retry_seat", "member-3"), ("conclude", ""), ("deliberate", ""), ("send", "And at sunset?")):
        run = take_up(run, action, text)
        assert_same_page(run)

    assert (run.state, offer(run).key) == ("completed", "turn/2/next")
