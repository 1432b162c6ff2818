"""A council is convened: its stages are in the rows, and what may follow is offered without anybody waiting for it."""

import asyncio
import threading

import pytest

from experiments import actions
from experiments.councils import rankings
from experiments.engine.driver import Driver
from experiments.models import Call
from experiments.steering import furthering
from tests.experiments.deliberating import (
    FAST,
    PLAIN,
    assert_same_page,
    counted,
    fresh,
    is_review,
    member,
    offer,
    told,
)
from tests.fixtures import wait_until
from tests.parts import stepped_engine

pytestmark = pytest.mark.django_db

DOWN = "sim/neutral:first=0:fail=401"
ONCE = "sim/neutral:first=0:words=30:fail=401:times=1"  # each request fails the first time that it is made


def messages(run):
    return [(m.turn, m.step.purpose, m.seat) for m in run.messages.select_related("step").order_by("seq")]


@pytest.mark.databases
def test_a_question_is_answered_ranked_and_concluded(convene):
    run = convene(*FAST, "sim/refusing:first=0")

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


def test_the_answers_and_then_the_reviews_are_under_way_together(council, start, settings):
    settings.LEASE_SECONDS = 3  # the driver calls `beat` four times within it
    slow = tuple(f"sim/{name}:first=2:tps=60:words=30" for name in ("cooperative", "competitive", "neutral"))
    run = start(council(*slow))
    most = {"reply": 0, "review": 0}

    def look():
        for purpose, before in most.items():
            sent = run.calls.filter(state=Call.State.SENT, step__purpose=purpose).count()
            most[purpose] = max(before, sent)

    Driver(threading.Event(), beat=look).drive(0.5)

    assert most == {"reply": 3, "review": 3}


def test_a_model_may_sit_twice_at_different_temperatures(convene):
    params = {"member-1": {"temperature": 0.1}, "member-2": {"temperature": 1.3}}
    run = convene("sim/neutral:first=0", "sim/neutral:first=0", "sim/cooperative:first=0", params=params)

    asked = {call.step.seat: call.request for call in run.calls.filter(step__purpose="reply").select_related("step")}
    assert asked["member-1"]["model"] == asked["member-2"]["model"]
    assert [asked[seat]["temperature"] for seat in ("member-1", "member-2")] == [0.1, 1.3]
    assert counted(run)["seats"] == ["member-1", "member-2", "member-3"]
    assert len({m.text for m in run.messages.filter(step__purpose="reply")}) == 3, "drawn apart"


def test_a_title_is_never_in_the_way(council, start, alice, scripted):
    may_find = asyncio.Event()

    async def find(_body):
        await may_find.wait()
        return "The sky"

    run = start(council(*FAST, title=scripted.model("scripted/title", find)))
    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: fresh(run).open_offers, "the offer")
        furthering.ask_further(fresh(run), by=alice, text="And at sunset?")
        wait_until(lambda: run.messages.filter(turn=2, step__purpose="conclusion").exists(), "the next conclusion")
        assert run.calls.get(step__purpose="title").state == Call.State.SENT
        may_find.set()
        wait_until(lambda: fresh(run).state == "completed", "the end")
    assert fresh(run).experiment.title == "The sky"
    assert_same_page(run)


def test_a_reviewer_asked_again_takes_its_place_in_the_count(convene, take_up, scripted):
    failures, ranks = [401], member("It is the air.")

    def fails_once(body):
        return failures.pop() if is_review(body) and failures else ranks(body)

    run = convene(*FAST[:2], scripted.model("s/fails", fails_once, **PLAIN))
    assert [one["reviewer"] for one in counted(run)["abstained"]] == ["member-3"]
    assert run.ballots.get(reviewer="member-3").abstained_reason
    run = take_up(run, "retry_seat", "member-3")

    assert counted(run)["abstained"] == []
    assert len(counted(run)["ballots"]) == 3
    of_member_3 = run.ballots.filter(reviewer="member-3").order_by("id")
    assert list(of_member_3.values_list("count", "superseded")) == [(1, True), (1, False)]
    assert run.messages.filter(step__purpose="conclusion").count() == 1, "the chair is asked by a person"
    assert_same_page(run)


def test_where_no_chair_concludes_the_best_ranked_answer_stands_in(convene, take_up, alice):
    run = convene(*FAST, chair=DOWN, **{"chair-2": DOWN.replace("neutral", "cooperative")})

    [by_rank] = [event.data for event in run.events.filter(type="concluded_by_rank")]
    assert by_rank["seat"] == counted(run)["best"][0]
    assert by_rank["message"] == f"turn/1/answer/{by_rank['seat']}"
    assert by_rank["reason"]
    assert (run.state, run.stop_reason) == ("completed", "your_turn")
    assert run.messages.filter(step__purpose="conclusion").count() == 0
    assert actions.resume(run, by=alice) is False, "nothing has failed"
    assert_same_page(run)

    run = take_up(run, "send", "And at sunset?")
    best = run.messages.get(seat=by_rank["seat"], step__purpose="reply", turn=1).text
    assert run.calls.get(step__key="turn/2/answer/member-1").request["messages"][1]["content"] == best


def test_without_chair_and_ranking_the_run_fails_and_can_be_resumed(convene, alice, drive, scripted):
    models = [scripted.model(f"s/{n}", member(f"It is {n}.", lambda _answers: "All fine."), **PLAIN) for n in "ab"]
    run = convene(*models, chair=ONCE)
    assert (run.state, run.stop_reason) == ("failed", "no_conclusion")
    assert (counted(run)["skipped"], counted(run)["best"]) == ("no_ballots", [])

    actions.resume(run, by=alice)
    drive()
    run = fresh(run)
    assert (run.state, run.messages.filter(step__purpose="conclusion").count()) == ("completed", 1)
    assert "no reviewer gave a ranking" in told(run, "turn/1/conclusion")
    assert run.calls.filter(step__purpose__in=["reply", "review", "repair"]).count() == 6
    assert_same_page(run)
