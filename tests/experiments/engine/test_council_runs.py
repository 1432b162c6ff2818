"""Councils are played: their stages are in the rows; they are asked further, stopped, resumed and branched."""

import asyncio
import threading

import pytest

from accounts.errors import AlreadyAnswered, Forbidden, Invalid
from experiments.engine import recording, run_execution
from experiments.engine.reservations import OverLimit
from experiments.engine.verification import verify
from experiments.models import Call, Run
from experiments.runs import actions
from experiments.runs.steering import steering
from experiments.workflows.council.pages import rankings
from tests.experiments.deliberating import FAST, assert_same_page, calls, counted, fresh, member, offer
from tests.fixtures import wait_until
from tests.parts import stepped_engine


def messages(run):
    return [(m.turn, m.step.purpose, m.seat) for m in run.messages.select_related("step").order_by("seq")]


@pytest.mark.databases
def test_a_question_is_answered_ranked_and_concluded_those_asked_at_once_written_ahead_together(convene, monkeypatch):
    written, open_calls = [], recording.open_calls

    def count(lease, begun, accounts=()):
        written.append(len(begun))
        return open_calls(lease, begun, accounts)

    monkeypatch.setattr(recording, "open_calls", count)
    run = convene(*FAST, "sim/refusing:first=0", limits={"tokens": 1_000_000})

    assert sorted(written) == [1, 4, 4]  # the conclusion, the answers, the reviews
    assert dict(verify(Run.objects.filter(pk=run.pk))) == {}
    assert (run.state, run.stop_reason) == ("completed", "your_turn")
    members = [f"member-{number}" for number in (1, 2, 3, 4)]
    assert messages(run)[0] == (1, "message_sent", "person")
    assert sorted(messages(run)[1:5]) == [(1, "reply", seat) for seat in members]
    assert sorted(messages(run)[5:9]) == [(1, "review", seat) for seat in members]
    assert messages(run)[9:] == [(1, "conclusion", "chair")]
    assert run.calls.filter(step__purpose="repair").count() == 0
    assert offer(run).data["actions"] == ["send", "conclude", "deliberate"]
    assert fresh(run).open_pauses == []
    assert_same_page(run)

    [streamed] = [event.data for event in run.events.filter(type="ballots_counted")]
    assert counted(run) == streamed
    assert list(rankings.ranking(streamed).best) == streamed["best"]
    told_of = {one["reviewer"]: (one["order"], one["offered"]) for one in streamed["ballots"]}
    assert told_of == {one.reviewer: (one.order, list(one.labels.values())) for one in run.ballots.all()}


def test_a_title_is_never_in_the_way_and_questions_asked_meanwhile_are_answered_by_the_same_driver(
    council, start, alice, scripted
):
    asked, may_find, says = asyncio.Event(), asyncio.Event(), member("Light scatters.")

    async def answer(body):
        await asked.wait()
        return says(body)

    async def find(_body):
        await may_find.wait()
        return "The sky"

    title, first = scripted.model("scripted/title", find), scripted.model("scripted/first", answer)
    run = start(council(first, *FAST[1:], title=title))
    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: run.calls.filter(step__purpose="reply", state=Call.State.SENT).exists(), "the first answer")
        steering.ask_further(fresh(run), by=alice, text="And at sunset?")
        asked.set()
        wait_until(lambda: fresh(run).open_offers and offer(run).key == "turn/2/next", "the offer")
        steering.ask_further(fresh(run), by=alice, text="And on Mars?")
        wait_until(lambda: run.messages.filter(turn=3, step__purpose="conclusion").exists(), "the next conclusion")
        assert run.calls.get(step__purpose="title").state == Call.State.SENT
        may_find.set()
        wait_until(lambda: fresh(run).state == "completed", "the end")
    assert (fresh(run).experiment.title, offer(run).key, fresh(run).fence) == ("The sky", "turn/3/next", 1)
    assert_same_page(run)


def questions(run):
    return [m.text for m in run.messages.filter(seat="person").order_by("seq")]


def test_what_cannot_be_asked_is_refused(convene, drive, alice):
    run = convene(max_turns=2)
    role, alice.role = alice.role, "reviewer"
    with pytest.raises(Forbidden):
        steering.ask_further(run, by=alice, text="And at sunset?")
    assert fresh(run).state == "completed"
    alice.role = role

    steering.ask_further(run, by=alice, text="And at sunset?")
    for _when in ("while it works", "once it is done"):
        with pytest.raises(Invalid):
            steering.ask_further(fresh(run), by=alice, text="And on Mars?")
        drive()
    assert offer(run).data["actions"] == ["conclude", "deliberate"]


def test_what_is_done_again_takes_the_place_of_the_first_and_the_page_stays_the_same(convene, take_up, alice):
    run = convene(*FAST[:2], "sim/neutral:first=0:fail=401:times=1", title=True)
    key = offer(run).key
    for action, text in (("retry_seat", "member-3"), ("conclude", ""), ("deliberate", ""), ("send", "And at sunset?")):
        run = take_up(run, action, text)
        assert_same_page(run)

    assert (run.state, offer(run).key) == ("completed", "turn/2/next")
    conclusions = run.messages.filter(turn=1, step__purpose="conclusion").order_by("seq")
    assert [m.superseded for m in conclusions] == [True, True, False]
    assert set(run.ballots.filter(turn=1).values_list("count", "superseded")) == {(1, True), (2, False)}
    with pytest.raises(AlreadyAnswered):
        steering.say(run, by=alice, key=key, action="send", text="And on Mars?")


def test_a_council_stopped_in_its_first_stage_asks_nothing_more(council, start, alice, provider):
    slow = tuple(f"sim/{name}:first=0:tps=20:words=2000" for name in ("cooperative", "competitive", "neutral"))
    run = start(council(*slow))
    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: run.calls.exclude(text="").filter(state=Call.State.SENT).count() == 3, "three partial texts")
        actions.stop(run, by=alice)
        wait_until(lambda: fresh(run).is_over, "the end")

    run = fresh(run)
    assert (run.state, run.stop_reason) == ("stopped", "manual_stop")
    assert [state for _key, state in calls(run, "reply")] == ["stopped"] * 3
    assert len(provider.ledger()) == 3
    assert set(run.steps.filter(kind="ask").values_list("purpose", flat=True)) == {"reply"}
    assert all(m.finish_reason == "stopped" and m.text for m in run.messages.filter(step__purpose="reply"))
    assert_same_page(run)


def test_limits_hold_for_members_who_answer_side_by_side_and_let_them_come_to_their_end(convene):
    asked = [call.request["max_tokens"] for call in convene(*FAST, limits={"tokens": 6000}).calls.all()[: len(FAST)]]
    assert sum(asked) <= 6000
    run = convene(*FAST, limits={"cost": 0.0000001})

    assert (run.state, run.stop_reason) == ("stopped", "limit_cost")
    assert not run.calls.filter(state="stopped").exists()


def test_an_answer_that_failed_as_a_limit_ended_the_run_is_asked_for_again(council, start, drive, alice, monkeypatch):
    run = start(council("sim/neutral:first=0:fail=429:times=1:retry_after=0", *FAST[1:], limits={"tokens": 100_000}))
    asked = []

    def refuse_the_second(*given, **limits):
        asked.append(1)
        return None if len(asked) == 1 else OverLimit("limit_tokens", "The limit of tokens is reached.")

    with monkeypatch.context() as patch:
        patch.setattr(run_execution, "refuse", refuse_the_second)
        drive()
    assert (fresh(run).state, fresh(run).stop_reason) == ("stopped", "limit_tokens")
    assert [state for _key, state in calls(run, "reply")] == ["failed"]

    steering.lift(fresh(run), by=alice, limits={})
    drive()
    assert fresh(run).state == "completed"
    assert fresh(run).messages.filter(step__purpose="reply").count() == len(FAST)


def asked(run, key):
    return [one["content"] for one in run.calls.get(step__key=key).request["messages"]]


@pytest.mark.databases
def test_another_question_keeps_those_before_it_and_what_was_done_again(convene, take_up, branch, drive, alice):
    run = take_up(convene(*FAST), "deliberate")
    for text in ("And at sunset?", "And on Mars?"):
        steering.ask_further(run, by=alice, text=text)
    drive()
    with pytest.raises(Invalid):
        branch(run.messages.exclude(seat="person").first(), "It is the air.")
    child = branch(run.messages.get(seat="person", turn=2), "And at night?")

    assert questions(child) == ["Why is the sky blue?", "And at night?"]
    concluded = run.messages.get(turn=1, step__purpose="conclusion", superseded=False).text
    assert asked(child, "turn/2/answer/member-1") == ["Why is the sky blue?", concluded, "And at night?"]
    assert child.calls.filter(step__turn=1).count() == 0, "nothing is paid twice"
    assert child.ballots.filter(turn=1, count=2, superseded=False).count() == 3
    conclusions = child.messages.filter(turn=1, step__purpose="conclusion").order_by("seq")
    assert [m.superseded for m in conclusions] == [True, False]
    assert counted(child, 1) == counted(run, 1)
    assert offer(child).key == "turn/2/next"
    assert_same_page(child)
    assert questions(run) == ["Why is the sky blue?", "And at sunset?", "And on Mars?"]

    anew = branch(run.messages.get(seat="person", turn=1), "Why is the sea blue?")
    assert (anew.origin, questions(anew)) == (Run.Origin.BRANCH, ["Why is the sea blue?"])
    assert asked(anew, "turn/1/answer/member-1") == ["Why is the sea blue?"]
    assert_same_page(anew)
