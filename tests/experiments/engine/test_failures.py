"""Provider errors never become dialogue, and failed judgments never become scores."""

import pytest

from experiments import actions
from experiments.models import Call, Run
from experiments.workflows import arena as arena_workflow
from experiments.workflows.judge import RANGES
from tests.experiments.pages.test_timeline import assert_same_page

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_rate_limit_is_waited_out_and_both_attempts_show(arena, start, drive):
    run = start(arena(a="sim/cooperative:first=0:fail=429:times=1:retry_after=1", max_turns=1))

    drive()

    run.refresh_from_db()
    attempts = list(run.calls.filter(step__key="turn/1/A").values_list("state", "error_kind"))
    assert run.state == Run.State.COMPLETED
    assert attempts == [(Call.State.FAILED, "rate_limited"), (Call.State.COMPLETED, "")]
    assert run.events.get(type="call_retried").data["attempt"] == 1


def test_a_wrong_key_fails_the_run_and_nothing_is_said(arena, start, drive):
    run = start(arena(a="sim/cooperative:fail=401"))

    drive()

    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.FAILED, "bad_key")
    assert not run.messages.exists()
    assert run.events.filter(type="experiment_error").get().data["message"] == run.error != ""


def test_a_cut_stream_is_marked_as_one_until_the_answer_takes_its_place(arena, start, drive, alice):
    run = start(arena(b="sim/competitive:first=0:fail=cut:after=12:times=2", max_turns=1))

    drive()

    run.refresh_from_db()
    first, last = run.calls.filter(step__key="turn/1/B").order_by("attempt")
    assert run.state == Run.State.FAILED
    assert all(call.text.strip() and call.error_kind == "interrupted" for call in (first, last))
    cut = run.messages.get(seat="B")
    assert (cut.raw_text, cut.finish_reason, cut.flags, cut.call) == (last.text, "interrupted", ["truncated"], last)
    assert_same_page(run)

    assert actions.resume(run, by=alice)
    assert_same_page(run)
    drive()

    answer = run.messages.get(seat="B")
    assert (answer.pk, answer.finish_reason, answer.flags) == (cut.pk, "stop", [])
    assert len(answer.raw_text) > len(cut.raw_text)
    assert_same_page(run)


@pytest.mark.parametrize("garbage", ["broken", "truncated", "prose", "fenced", "range", "missing"])
def test_no_score_is_invented_for_a_judge_that_answers_garbage(arena, start, drive, garbage):
    run = start(arena(judge_model=f"sim/judge:first=0:tps=0:json={garbage}", max_turns=1))

    drive()

    run.refresh_from_db()
    given = run.calls.get(step__key="turn/1/judge").text
    assert run.state == Run.State.COMPLETED
    for judgment in run.judgments.all():
        assert judgment.scores is None or all(
            low <= judgment.scores[name] <= high and f"{judgment.scores[name]:g}" in given
            for name, (low, high) in RANGES.items()
            if name in judgment.scores
        )
        assert set(judgment.scores or {}) == set(RANGES) or judgment.unscored_reason


@pytest.mark.parametrize("garbage", ["broken", "truncated"])
def test_the_original_passes_when_the_filter_answers_garbage(arena, start, drive, garbage):
    run = start(arena(filter_model=f"sim/filter:first=0:tps=0:json={garbage}", max_turns=1))

    drive()

    for message in run.messages.all():
        assert message.text == message.raw_text
        assert message.filter["status"] == "failed"
        assert message.filter["reasoning"]


def test_a_failed_run_resumes_where_it_failed(arena, start, drive, provider, alice):
    run = start(arena(b="sim/competitive:first=0:fail=401:times=1", max_turns=1))
    drive()
    run.refresh_from_db()
    said = [m.raw_text for m in run.messages.all()]

    assert actions.resume(run, by=alice)
    drive()

    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    assert [m.raw_text for m in run.messages.all()][: len(said)] == said
    assert run.calls.filter(step__key="turn/1/A").count() == 1
    assert list(run.calls.filter(step__key="turn/1/B").values_list("attempt", "state")) == [
        (1, Call.State.FAILED),
        (2, Call.State.COMPLETED),
    ]


def test_a_bug_in_a_workflow_fails_its_run_and_no_other(arena, start, drive, monkeypatch):
    broken, sound = start(arena(max_turns=1)), start(arena(max_turns=1), seed=8)
    Run.objects.filter(pk=broken.pk).update(seed=666)

    original = arena_workflow.run

    def play(config, cast):
        if cast.seed == 666:
            raise ZeroDivisionError
        return original(config, cast)

    monkeypatch.setattr(arena_workflow, "run", play)
    drive()

    broken.refresh_from_db()
    sound.refresh_from_db()
    assert (broken.state, broken.stop_reason) == (Run.State.FAILED, "internal_error")
    assert broken.events.filter(type="experiment_error").exists()
    assert sound.state == Run.State.COMPLETED


def test_attempts_that_were_lost_with_their_worker_are_no_failures_of_the_provider(arena, start, drive):
    run = start(arena(a="sim/cooperative:first=0:fail=429:times=1:retry_after=0", max_turns=1))
    step = run.steps.create(key="turn/1/A", kind="ask", purpose="reply", seat="A", turn=1)
    model = run.experiment.participants.get(seat="A").model
    for attempt in range(1, 5):
        run.calls.create(step=step, attempt=attempt, model=model, state=Call.State.LOST, request={})

    drive()

    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    assert list(step.calls.order_by("attempt").values_list("state", flat=True))[4:] == ["failed", "completed"]


def test_whoever_resumes_gives_a_provider_all_its_attempts_again(arena, start, drive, alice):
    run = start(arena(a="sim/cooperative:first=0:fail=429:times=5:retry_after=0", max_turns=1))
    drive()
    run.refresh_from_db()
    assert (run.state, run.calls.count()) == (Run.State.FAILED, 4)

    actions.resume(run, by=alice)
    drive()

    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    assert run.calls.filter(step__key="turn/1/A").count() == 6
