"""Nobody's failure is hidden, and none is fatal as long as somebody has answered."""

from datetime import UTC, datetime

import pytest

from experiments import actions
from experiments.gateway.ratelimits import retry_after
from experiments.models import Call, Run
from experiments.refusals import NotOffered
from experiments.steering import steering
from tests.experiments.deliberating import FAST, PLAIN, assert_same_page, calls, counted, fresh, member, offer, told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

DOWN = "sim/neutral:first=0:fail=401"
ONCE = "sim/neutral:first=0:words=30:fail=401:times=1"  # each request fails the first time that it is made


def failures(run, purpose="reply"):
    failed = run.calls.filter(state=Call.State.FAILED, step__purpose=purpose)
    return [(call.step.seat, call.error_kind) for call in failed.select_related("step").order_by("id")]


# --- members ---


@pytest.mark.parametrize(("status", "kind"), [(401, "bad_key"), (402, "out_of_credit"), (404, "unknown_model")])
def test_what_needs_a_person_is_told_and_not_tried_again(convene, status, kind):
    run = convene(*FAST[:2], f"sim/neutral:first=0:fail={status}")

    assert run.state == "completed"
    assert failures(run) == [("member-3", kind)]
    [told_] = [event.data for event in run.events.filter(type="call_failed", data__purpose="reply")]
    assert (told_["seat"], told_["kind"]) == ("member-3", kind)
    assert counted(run)["seats"] == ["member-1", "member-2"]
    assert "retry_seat" in offer(run).data["actions"]
    assert_same_page(run)


@pytest.mark.parametrize("fails", ["error_event", "cut", "reset"])
def test_an_error_in_the_middle_of_a_stream_is_a_failure_and_no_answer(convene, fails):
    run = convene(*FAST[:2], f"sim/neutral:first=0:fail={fails}:after=5:times=1")

    states = [state for key, state in calls(run, "reply") if key == "turn/1/answer/member-3"]
    assert states == ["failed", "completed"], "tried again, because the provider had failed on its side"
    assert run.messages.get(seat="member-3", step__purpose="reply").text
    assert_same_page(run)


def test_a_short_pause_that_the_provider_names_is_kept(convene):
    run = convene(*FAST[:2], "sim/neutral:first=0:words=30:fail=429:times=1:retry_after=1")

    first, second = run.calls.filter(step__key="turn/1/answer/member-3").order_by("attempt")
    assert (first.error_kind, second.state) == ("rate_limited", "completed")
    assert (second.sent - first.sent).total_seconds() >= 1


def test_a_day_is_not_waited_for_where_another_chair_could_conclude(convene):
    run = convene(*FAST, chair="sim/neutral:first=0:fail=429:retry_after=86400", **{"chair-2": FAST[0]})

    assert calls(run, "conclusion") == [("turn/1/conclusion", "failed"), ("turn/1/conclusion/chair-2", "completed")]
    [replaced] = [event.data for event in run.events.filter(type="seat_replaced")]
    assert (replaced["reason"], replaced["by"]) == ("rate_limited", "chair-2")
    assert_same_page(run)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("Sat, 21 Nov 2026 10:00:07 GMT", 7), ("86400", 120), (None, None), ("soon", None)],
)
def test_a_pause_is_read_from_seconds_or_a_date_and_has_an_end(header, seconds):
    headers = {} if header is None else {"retry-after": header}
    assert retry_after(headers, datetime(2026, 11, 21, 10, tzinfo=UTC)) == seconds


def test_a_member_that_only_reasoned_is_given_more_room(convene):
    model = "sim/neutral:first=0:think=native:words=40"
    params = {"member-3": {"max_tokens": 3}}
    run = convene(*FAST[:2], model, params=params)

    first, second = run.calls.filter(step__seat="member-3", step__purpose="reply").order_by("id")
    assert (first.error_kind, first.request["max_tokens"]) == ("empty_answer", 3)
    assert second.request["max_tokens"] > 1000
    assert second.state == Call.State.COMPLETED
    assert counted(run)["seats"] == ["member-1", "member-2", "member-3"]


def test_an_answer_that_was_cut_off_is_marked_and_ranked(convene):
    run = convene(*FAST[:2], "sim/neutral:first=0:fail=length:after=10")

    assert run.messages.get(seat="member-3", step__purpose="reply").finish_reason == "length"
    assert "member-3" in counted(run)["seats"]


def test_an_answer_that_was_cut_off_is_left_out_where_that_is_wanted(convene):
    run = convene(*FAST[:2], "sim/neutral:first=0:fail=length:after=10", truncated="left_out")

    assert counted(run)["seats"] == ["member-1", "member-2"]
    assert run.messages.filter(seat="member-3", step__purpose="reply").exists(), "shown all the same"


def test_of_one_answer_the_chair_concludes_without_a_ranking(convene):
    run = convene(FAST[0], DOWN, DOWN)

    assert run.state == "completed"
    assert (counted(run)["skipped"], counted(run)["best"]) == ("one_answer", ["member-1"])
    assert run.calls.filter(step__purpose="review").count() == 0
    assert run.messages.filter(step__purpose="conclusion").count() == 1
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


def test_without_a_ballot_the_chair_is_told_so_and_concludes(convene, scripted):
    models = [scripted.model(f"s/{n}", member(f"It is {n}.", lambda _answers: "All fine."), **PLAIN) for n in "ab"]
    run = convene(*models)

    assert (counted(run)["skipped"], counted(run)["best"]) == ("no_ballots", [])
    assert "no reviewer gave a ranking" in told(run, "turn/1/conclusion")
    assert run.messages.filter(step__purpose="conclusion").count() == 1
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


def test_a_late_answer_is_shown_and_ranked_when_all_are_ranked_again(convene, take_up):
    run = convene(*FAST[:2], ONCE)
    assert counted(run)["seats"] == ["member-1", "member-2"]

    run = take_up(run, "retry_seat", "member-3")
    late = run.messages.get(seat="member-3", step__purpose="reply")
    assert late.flags == ["late"]
    assert counted(run)["seats"] == ["member-1", "member-2"]
    run = take_up(run, "deliberate")

    assert counted(run)["seats"] == ["member-1", "member-2", "member-3"]
    assert_same_page(run)


# --- chairs ---


def test_another_chair_concludes_and_is_named_as_such(convene):
    run = convene(*FAST, chair=DOWN, **{"chair-2": "sim/cooperative:first=0"})

    conclusion = run.messages.get(step__purpose="conclusion")
    assert (conclusion.seat, conclusion.model) == ("chair", "sim/cooperative:first=0")
    [replaced] = [event.data for event in run.events.filter(type="seat_replaced")]
    assert (replaced["failed_model"], replaced["model"]) == (DOWN, "sim/cooperative:first=0")
    assert replaced["reason"] == "bad_key"
    assert run.messages.filter(seat="chair-2").count() == 0
    assert_same_page(run)


def test_where_no_chair_concludes_the_best_ranked_answer_stands_in(convene, take_up, provider):
    run = convene(*FAST, chair=DOWN, **{"chair-2": DOWN.replace("neutral", "cooperative")})

    [by_rank] = [event.data for event in run.events.filter(type="concluded_by_rank")]
    assert by_rank["seat"] == counted(run)["best"][0]
    assert by_rank["message"] == f"turn/1/answer/{by_rank['seat']}"
    assert by_rank["reason"]
    assert (run.state, run.stop_reason) == ("completed", "your_turn")
    assert run.messages.filter(step__purpose="conclusion").count() == 0
    assert_same_page(run)

    run = take_up(run, "send", "And at sunset?")
    best = run.messages.get(seat=by_rank["seat"], step__purpose="reply", turn=1).text
    assert run.calls.get(step__key="turn/2/answer/member-1").request["messages"][1]["content"] == best


def test_a_chair_that_failed_can_be_asked_again(convene, take_up):
    run = convene(*FAST, chair=ONCE)
    assert run.events.filter(type="concluded_by_rank").count() == 1
    run = take_up(run, "conclude")

    assert [key for key, _state in calls(run, "conclusion")] == ["turn/1/conclusion", "turn/1/conclusion/2"]
    assert_same_page(run)


def test_without_chair_and_ranking_the_run_fails_and_can_be_resumed(convene, alice, drive, scripted):
    models = [scripted.model(f"s/{n}", member(f"It is {n}.", lambda _answers: "All fine."), **PLAIN) for n in "ab"]
    run = convene(*models, chair=ONCE)
    assert (run.state, run.stop_reason) == ("failed", "no_conclusion")

    actions.resume(run, by=alice)
    drive()
    run = fresh(run)
    assert (run.state, run.messages.filter(step__purpose="conclusion").count()) == ("completed", 1)
    assert run.calls.filter(step__purpose__in=["reply", "review", "repair"]).count() == 6
    assert_same_page(run)


def test_a_conclusion_that_was_cut_off_is_marked_and_can_be_drawn_again(convene, take_up):
    run = convene(*FAST, chair="sim/neutral:first=0:fail=length:after=12:times=1")
    assert run.messages.get(step__purpose="conclusion").finish_reason == "length"
    run = take_up(run, "conclude")

    last = run.messages.get(step__purpose="conclusion", superseded=False)
    assert last.step.key == "turn/1/conclusion/2"


# --- stops and limits ---


def test_a_council_has_no_mode(convene, alice):
    run = convene(*FAST)
    steering.say(run, by=alice, key=offer(run).key, action="conclude")
    with pytest.raises(NotOffered):
        steering.set_mode(fresh(run), by=alice, mode="manual")
    assert Run.objects.get(pk=run.pk).state == "queued"
