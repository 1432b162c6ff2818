"""Runs that go on after an end: what was recorded stands, what was paid for is not paid again, and rest is no play."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments import actions
from experiments.engine import playing
from experiments.engine.budget import Refusal
from experiments.models import Run
from experiments.refusals import NotAllowed
from experiments.steering import branching, furthering
from tests.experiments.deliberating import FAST, calls, counted, fresh, offer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

DOWN = "sim/neutral:first=0:fail=401"


def test_resuming_after_a_failed_summary_asks_for_the_summary_alone(stage, alice):
    run = stage.play(C=DOWN, summarizer=DOWN)
    assert (run.state, run.stop_reason) == ("failed", "summary_failed")

    actions.resume(run, by=alice)
    stage.go_on(run)

    assert [key for key, _state in calls(run, "summary")] == ["summary", "summary"]
    assert [key for key, _state in calls(run, "reply")].count("round/1/C") == 1


def test_resuming_a_council_without_a_conclusion_asks_the_chair_alone(convene, alice, drive):
    run = convene(*FAST, chair=DOWN)
    before = calls(run, "review")

    assert run.steps.get(key="turn/1/by-rank").data["seat"]
    assert actions.resume(run, by=alice) is False  # the best ranked answer stands in: nothing has failed
    assert calls(fresh(run), "review") == before


def test_time_that_passed_after_a_failure_is_no_play(stage, alice):
    run = stage.play(summarizer=DOWN, limits={"seconds": 600})
    then = timezone.now() - timedelta(days=2)
    Run.objects.filter(pk=run.pk).update(started=then, ended=then + timedelta(seconds=5))

    actions.resume(fresh(run), by=alice)

    run = stage.go_on(run)
    assert run.waited_seconds > timedelta(days=1).total_seconds()
    assert run.stop_reason == "summary_failed", "and not its limit of time"


def test_whoever_may_not_experiment_any_more_spends_nothing_on_old_runs(convene, alice):
    run = convene()
    alice.role = "reviewer"

    with pytest.raises(NotAllowed):
        furthering.ask_further(run, by=alice, text="And at sunset?")

    assert fresh(run).state == "completed"
    assert offer(run)


def test_members_who_answer_side_by_side_share_what_the_limit_of_tokens_leaves(convene):
    run = convene(*FAST, limits={"tokens": 6000})

    asked = [call.request["max_tokens"] for call in run.calls.filter(step__purpose="reply")]
    assert len(asked) == len(FAST)
    assert sum(asked) <= 6000


def test_a_limit_of_cost_lets_answers_under_way_come_to_their_end(convene, alice, drive):
    run = convene(*FAST, limits={"cost": 0.0000001})

    assert (run.state, run.stop_reason) == ("stopped", "limit_cost")
    assert not run.calls.filter(state="stopped").exists()


def test_going_on_without_an_answer_that_was_tried_once(stage, alice):
    run = stage.play(limits={"tokens": 1})
    assert run.stop_reason == "limit_tokens"
    refused = run.events.filter(type="experiment_stopped").latest("seq").data["refused"]
    run.steps.get_or_create(key=refused["key"], defaults={"kind": "ask", "purpose": refused["purpose"]})

    furthering.lift(run, by=alice, limits={}, skip=True)

    assert run.steps.get(key=refused["key"]).state == "failed"


def test_branching_from_a_question_leaves_out_those_that_were_asked_ahead(council, start, drive, alice):
    run = start(council(*FAST), 7)
    furthering.ask_further(run, by=alice, text="The second question?")
    furthering.ask_further(run, by=alice, text="The third question?")
    drive()
    second = run.messages.get(seat="person", turn=2)

    child = branching.branch(second, by=alice, text="Another second question?")
    drive()

    asked = list(child.messages.filter(seat="person").order_by("turn").values_list("text", flat=True))
    assert asked == ["Why is the sky blue?", "Another second question?"]
    assert counted(child, 2)["seats"] == counted(run, 2)["seats"]


def test_an_answer_that_failed_for_a_moment_while_a_limit_ended_the_run_is_asked_for_again(
    council, start, drive, alice, monkeypatch
):
    run = start(council("sim/neutral:first=0:fail=429:times=1:retry_after=0", *FAST[1:], limits={"tokens": 100_000}))
    asked = []

    def refuse_the_second(*given, **limits):
        asked.append(1)
        return None if len(asked) == 1 else Refusal("limit_tokens", "The limit of tokens is reached.")

    with monkeypatch.context() as patch:
        patch.setattr(playing, "refuse", refuse_the_second)
        drive()
    assert (fresh(run).state, fresh(run).stop_reason) == ("stopped", "limit_tokens")
    assert [state for _key, state in calls(run, "reply")] == ["failed"]

    furthering.lift(fresh(run), by=alice, limits={})
    drive()

    assert fresh(run).state == "completed"
    assert fresh(run).messages.filter(step__purpose="reply").count() == len(FAST)
