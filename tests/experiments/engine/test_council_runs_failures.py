"""Nobody's failure is hidden, and none is fatal as long as somebody has answered."""

import pytest

from experiments import actions
from experiments.models import Call
from tests.experiments.deliberating import FAST, PLAIN, assert_same_page, calls, counted, fresh, member, offer, told

pytestmark = pytest.mark.django_db

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
