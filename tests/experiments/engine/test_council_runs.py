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
    calls,
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


DOWN = "sim/neutral:first=0:fail=401"
ONCE = "sim/neutral:first=0:words=30:fail=401:times=1"  # each request fails the first time that it is made


def failures(run, purpose="reply"):
    failed = run.calls.filter(state=Call.State.FAILED, step__purpose=purpose)
    return [(call.step.seat, call.error_kind) for call in failed.select_related("step").order_by("id")]


# --- members ---


def test_what_needs_a_person_is_told_and_not_tried_again(convene):
    run = convene(*FAST[:2], "sim/neutral:first=0:fail=401")

    assert run.state == "completed"
    assert failures(run) == [("member-3", "bad_key")]
    [told_] = [event.data for event in run.events.filter(type="call_failed", data__purpose="reply")]
    assert (told_["seat"], told_["kind"]) == ("member-3", "bad_key")
    assert counted(run)["seats"] == ["member-1", "member-2"]
    assert "retry_seat" in offer(run).data["actions"]
    assert_same_page(run)


def test_a_day_is_not_waited_for_where_another_chair_could_conclude(convene):
    limited = "sim/neutral:first=0:fail=429:retry_after=86400"
    run = convene(*FAST, chair=limited, **{"chair-2": FAST[0]})

    assert calls(run, "conclusion") == [("turn/1/conclusion", "failed"), ("turn/1/conclusion/chair-2", "completed")]
    [replaced] = [event.data for event in run.events.filter(type="seat_replaced")]
    assert (replaced["reason"], replaced["by"]) == ("rate_limited", "chair-2")
    assert (replaced["failed_model"], replaced["model"]) == (limited, FAST[0])
    conclusion = run.messages.get(step__purpose="conclusion")
    assert (conclusion.seat, conclusion.model) == ("chair", FAST[0])
    assert_same_page(run)


def test_without_any_answer_the_run_fails_says_why_and_can_be_resumed(convene, alice, drive):
    run = convene(ONCE, ONCE.replace("neutral", "cooperative"))

    assert (run.state, run.stop_reason) == ("failed", "nobody_answered")
    assert "Member 1: " in run.error
    assert "Member 2: " in run.error
    assert failures(run) == [("member-1", "bad_key"), ("member-2", "bad_key")]
    assert_same_page(run)

    assert actions.resume(fresh(run), by=alice)
    drive()
    run = fresh(run)
    assert [len(run.calls.filter(step__key=f"turn/1/answer/member-{n}")) for n in (1, 2)] == [2, 2]
    assert run.messages.filter(step__purpose="reply").count() == 2
    assert counted(run)["seats"] == ["member-1", "member-2"]
    assert_same_page(run)


# --- reviews ---


def test_an_unreadable_ranking_is_asked_for_once_more_and_then_given_up(convene, scripted):
    def never(answers):
        return "I like them all."

    models = [
        scripted.model("s/never", lambda body: member("It is the air.", never)(body), **PLAIN),
        scripted.model("s/second", member("It is the light.", never), **PLAIN),
        "sim/neutral:first=0",
    ]
    second = scripted.answers["s/second"][0]
    scripted.answers["s/second"] = [
        lambda body: (
            '{"ranking": ["Response B"]}' if "could not be" in body["messages"][-1]["content"] else second(body)
        )
    ]
    run = convene(*models)

    never_, repaired, fine = run.ballots.order_by("reviewer")
    assert never_.order is None
    assert "could not be read" in never_.abstained_reason
    assert never_.call.step.key == "turn/1/review/member-1/repair"
    assert (repaired.reading, len(repaired.order), repaired.flags) == ("repaired", 1, ["partial"])
    assert fine.reading in ("json", "text")
    assert run.calls.filter(step__purpose="repair").count() == 2, "once each"
    assert counted(run)["abstained"] == [{"reviewer": "member-1", "reason": never_.abstained_reason}]
    assert_same_page(run)


def test_a_reviewer_asked_again_takes_its_place_in_the_count(convene, take_up, scripted):
    replies = iter([401, member("", None)])
    ranks = member("It is the air.")

    def fails_once(body):
        if "FINAL RANKING:" in body["messages"][-1]["content"] and next(replies, 0) == 401:
            return 401
        return ranks(body)

    run = convene(*FAST[:2], scripted.model("s/fails", fails_once, **PLAIN))
    assert [one["reviewer"] for one in counted(run)["abstained"]] == ["member-3"]
    assert run.ballots.get(reviewer="member-3").abstained_reason
    run = take_up(run, "retry_seat", "member-3")

    assert counted(run)["abstained"] == []
    assert len(counted(run)["ballots"]) == 3
    assert [(b.count, b.superseded) for b in run.ballots.filter(reviewer="member-3").order_by("id")] == [
        (1, True),
        (1, False),
    ]
    assert run.messages.filter(step__purpose="conclusion").count() == 1, "the chair is asked by a person"
    assert_same_page(run)


# --- chairs ---


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
