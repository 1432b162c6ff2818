"""Models of a debate fail: it is seen who did, others take their place, and the failed ones can be asked again."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments import actions
from experiments.models import ProviderModel, Run
from experiments.refusals import NotWaiting
from experiments.steering import furthering, steering
from experiments.timeline import from_rows, replayed
from tests.experiments.debated import ROUND_1, ROUND_2
from tests.experiments.debating import GOOD, LATER, asked, message, pause, told

pytestmark = pytest.mark.django_db

BUSY = "sim/cooperative:first=0" + LATER


def shown(entries):
    """By their places; how long was waited for an attempt is told once and kept nowhere."""
    return sorted((e.anchor, sorted((k, str(v)) for k, v in e.data.items() if k != "seconds")) for e in entries)


def assert_same_entries(run):
    run = Run.objects.select_related("experiment").get(pk=run.pk)
    assert shown(from_rows(run)) == shown(replayed(run.events.order_by("seq")))


def failures(run):
    return [(event.data["seat"], event.data["kind"]) for event in run.events.filter(type="call_failed")]


def test_b_is_asked_again_alone_and_out_of_order(stage):
    run = stage.say(stage.play(mode="manual", B=[404, ROUND_1["B"], ROUND_2["B"]]), "default")
    assert pause(run).data["error"].startswith("B: ")
    assert "retry_seat" in pause(run).data["actions"]
    run = stage.say(run, "retry_seat", "B")

    assert message(run, "round/1/B/2").flags == ["out_of_order"]
    assert [len(stage.sent(seat)) for seat in "ABC"] == [1, 2, 1]
    assert (pause(run).key, pause(run).data["error"]) == ("round/1/next/2", "")
    run = stage.say(run, "round")
    assert "B1.p1" in told(run, "round/2/A")
    assert_same_entries(run)


def test_when_all_three_fail_the_round_fails_and_resuming_asks_them_all_again_and_for_no_earlier_round(stage, alice):
    second = {seat: [ROUND_1[seat], 404, ROUND_2[seat]] for seat in "ABC"}
    run = stage.play(rounds=2, **second)
    assert (run.state, run.stop_reason, len(failures(run))) == ("failed", "round_failed", 3)
    assert run.error.splitlines()[0].startswith("A: ")
    assert not run.calls.filter(step__key="summary").exists()
    assert_same_entries(run)

    assert actions.resume(run, by=alice)
    run = stage.go_on(run)
    assert (run.state, run.stop_reason) == ("completed", "concluded")
    assert [len(stage.sent(seat)) for seat in "ABC"] == [3, 3, 3]
    assert run.messages.filter(turn=1).count() == 3
    assert "A2.p1" in told(run, "round/2/B")
    assert_same_entries(run)


def test_another_model_of_the_pool_answers_for_one_that_is_rate_limited_and_it_is_said(stage):
    experiment = stage.experiment(B=BUSY, pool=("sim/competitive:first=0" + LATER, "sim/neutral:first=0"))
    slug = stage.scripted.model("x/spare", ROUND_1["B"], label="The Spare")
    experiment.participants.filter(seat="pool-2").update(model=ProviderModel.objects.get(slug=slug))
    run = stage.go_on(stage.begin(experiment))

    answered = message(run, "round/1/B/pool-2")
    assert (answered.seat, answered.model, answered.parsed["kind"]) == ("B", "The Spare", "points")
    replaced = [event.data for event in run.events.filter(type="seat_replaced").order_by("seq")]
    assert [(r["seat"], r["by"], r["reason"]) for r in replaced] == [
        ("B", "pool-1", "rate_limited"),
        ("B", "pool-2", "rate_limited"),
    ]
    assert [(r["failed_model"], r["model"]) for r in replaced] == [
        (BUSY, "sim/competitive:first=0" + LATER),
        ("sim/competitive:first=0" + LATER, "The Spare"),
    ]
    assert "B1.p1" in told(run, "round/1/C")
    assert run.calls.filter(step__key="round/1/B").count() == 1, "it is not waited for a minute"
    assert_same_entries(run)


def test_a_summary_that_failed_is_no_completed_debate_and_is_asked_again(stage, alice):
    run = stage.play(summarizer=[404, *GOOD["summarizer"]], limits={"seconds": 600})
    assert (run.state, run.stop_reason) == ("failed", "summary_failed")
    assert not Run.objects.filter(state=Run.State.COMPLETED).exists()
    assert_same_entries(run)
    with pytest.raises(NotWaiting):
        steering.say(run, by=alice, key="summary/next", action="summarize")
    then = timezone.now() - timedelta(days=2)
    Run.objects.filter(pk=run.pk).update(started=then, ended=then + timedelta(seconds=5))

    actions.resume(Run.objects.get(pk=run.pk), by=alice)
    run = stage.go_on(run)
    assert run.waited_seconds > timedelta(days=1).total_seconds(), "rest is no play, and counts towards no limit"
    assert (run.state, message(run, "summary").parsed["kind"]) == ("completed", "actions")
    assert [len(stage.sent(seat)) for seat in "ABC"] == [1, 1, 1]
    assert_same_entries(run)


def test_at_a_limit_it_stops_cleanly_and_what_there_is_can_be_summed_up(stage, alice):
    """The limit of tokens has room for the prompts of A and B, and not for that of C, which holds what they said."""
    run = stage.play(refine=False, limits={"tokens": 800}, rounds=2)
    assert (run.state, run.stop_reason, asked(run)) == ("stopped", "limit_tokens", ["round/1/A", "round/1/B"])
    assert run.events.get(type="experiment_stopped").data["refused"]["key"] == "round/1/C"
    furthering.lift(run, by=alice, limits={"tokens": 100_000}, skip=True)
    run = stage.go_on(run)

    assert (run.state, asked(run)) == ("completed", ["round/1/A", "round/1/B", "summary"])
    assert "Debater C gave no answer in round 1 (limit)." in told(run, "summary")
    assert run.events.filter(type="step_skipped", data__seat="C").count() == 1
    assert_same_entries(run)


def test_in_manual_mode_the_person_decides_after_the_limit_and_may_ask_the_skipped_one(stage, alice):
    run = stage.say(stage.play(mode="manual", refine=False, limits={"tokens": 800}), "default")
    furthering.lift(run, by=alice, limits={}, skip=True)
    run = stage.go_on(run)

    assert (pause(run).key, "retry_seat" in pause(run).data["actions"]) == ("round/1/next", True)
    run = stage.say(run, "retry_seat", "C")
    assert message(run, "round/1/C/2").parsed["speaker"] == "C"
    assert_same_entries(run)


def test_going_on_without_an_answer_that_was_tried_once(stage, alice):
    run = stage.play(limits={"tokens": 1})
    refused = run.events.filter(type="experiment_stopped").latest("seq").data["refused"]
    run.steps.get_or_create(key=refused["key"], defaults={"kind": "ask", "purpose": refused["purpose"]})

    furthering.lift(run, by=alice, limits={}, skip=True)

    assert run.steps.get(key=refused["key"]).state == "failed"
