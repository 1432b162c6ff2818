"""A council is convened: its stages are in the rows, and what may follow is offered without anybody waiting for it."""

import asyncio
import threading

import pytest

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
    member,
    offer,
    told,
)
from tests.fixtures import wait_until
from tests.parts import stepped_engine

pytestmark = pytest.mark.django_db


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
    ranking = rankings.ranking(streamed)
    assert list(ranking.best) == streamed["best"]
    told_of = {one["reviewer"]: (one["order"], one["offered"]) for one in streamed["ballots"]}
    assert told_of == {one.reviewer: (one.order, list(one.labels.values())) for one in run.ballots.all()}
    words = told(run, "turn/1/conclusion")
    for one in ranking.standings:
        line = next(line for line in words.splitlines() if f". Member {one.seat[-1]} (answer" in line)
        assert f"mean rank {one.mean_rank.value:.2f}" in line
        assert f"Borda {one.borda.value:.2f}" in line
        assert f"named on {one.votes} ballot" in line


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


# --- what members say and how they rank ---


def test_a_reviewer_who_ranks_its_own_answer_first_prefers_itself(convene, scripted):
    texts = ["It is the air.", "It is the light.", "It is both."]

    def first(own):
        return [own, *(text for text in texts if text != own)]

    models = [scripted.model(f"s/{number}", member(own, first(own)), **PLAIN) for number, own in enumerate(texts)]
    run = convene(*models, own_answers="included")

    assert counted(run)["own_answers"] == "included"
    assert run.ballots.get(reviewer="member-3").order[0] == ["member-3"], "kept visible"
    standings = {one.seat: one for one in rankings.ranking(counted(run)).standings}
    assert standings["member-3"].self_preference.value == -2.0, "it puts itself first, the others put it last"

    run = convene(*models)
    assert all(ballot.reviewer not in ballot.labels.values() for ballot in run.ballots.all())
    assert rankings.ranking(counted(run)).standings[0].self_preference.value is None


def test_reviewers_who_agree_on_nothing_have_no_consensus(convene, scripted):
    texts = ["It is the air.", "It is the light.", "It is both."]
    circle = [[*texts[number:], *texts[:number]] for number in range(3)]
    models = [scripted.model(f"s/{n}", member(text, circle[n]), **PLAIN) for n, text in enumerate(texts)]
    run = convene(*models, own_answers="included")

    ranking = rankings.ranking(counted(run))
    assert ranking.kendalls_w.value == pytest.approx(0)
    assert set(ranking.best) == {"member-1", "member-2", "member-3"}


# --- titles ---


def test_a_title_takes_the_place_of_the_first_words(convene):
    run = convene(title=True)

    title = run.events.get(type="titled").data["title"]
    assert fresh(run).experiment.title == title != "Why is the sky blue?"
    assert run.calls.get(step__purpose="title").step.seat == "title"
    assert_same_page(run)


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
    assert_same_page(run)
