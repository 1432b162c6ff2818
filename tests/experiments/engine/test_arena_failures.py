"""Whatever a provider answers with, nothing is said that no model said, and no failed judgment becomes a score."""

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from experiments.models import Call, Run
from experiments.runs import actions
from experiments.runs.steering import steering
from experiments.workflows import REGISTRY
from experiments.workflows.arena import WORKFLOW
from experiments.workflows.base.filter import NOTHING_LEFT
from tests.experiments.pages.painted import assert_same_page
from tests.making import maker

QUIET = {"judge": False, "filter": False, "max_turns": 1}
WORDS_OF_ERRORS = ("rate limit", "credentials", "credits", "internal server error", "no such model", "upstream model")


@maker
def resume(drive, alice, /, run):
    assert actions.resume(run, by=alice)
    drive()
    run.refresh_from_db()


def attempts(run, key):
    return list(run.calls.filter(step__key=key).order_by("attempt").values_list("state", flat=True))


def everything_that_models_read(run):
    return json.dumps([call.request["messages"] for call in run.calls.all()]).lower()


def test_what_may_have_cost_much_is_not_asked_again_and_what_was_turned_away_is(play, arena):
    """Some dozens of tokens were written: dollars, or less than a cent."""
    for fail, price, times in (("cut", "0.1", 1), ("cut", "0.000001", 2), ("500", "0.1", 4)):
        speaker = f"sim/competitive:first=0:fail={fail}:words={200 + times}"
        model = arena(b=speaker).participants.get(seat="B").model
        model.prices.all().delete()
        model.prices.create(input=Decimal(0), output=Decimal(price), since=timezone.now() - timedelta(days=1))
        run = play(b=speaker, **QUIET)
        assert (run.state, len(attempts(run, "turn/1/B"))) == ("failed", times), (fail, price)


def test_trouble_that_passes_is_waited_out_and_nobody_reads_of_it(play):
    for fail in ("429:retry_after=1", "503", "reset", "cut", "error_event"):
        run = play(b=f"sim/competitive:first=0:fail={fail}:times=1", **QUIET)
        states = [Call.State.FAILED, Call.State.COMPLETED]
        assert (run.state, attempts(run, "turn/1/B"), run.messages.count()) == ("completed", states, 2), fail
        assert run.events.get(type="call_retried").data["attempt"] == 1
        assert run.messages.get(seat="B").raw_text == run.calls.get(step__key="turn/1/B", attempt=2).text
        assert not any(words in everything_that_models_read(run) for words in WORDS_OF_ERRORS)


def test_a_provider_is_not_asked_again_before_the_time_that_it_has_named(play):
    run = play(a="sim/cooperative:first=0:fail=429:times=1:retry_after=7", **QUIET)

    first, second = run.calls.filter(step__key="turn/1/A").order_by("attempt")
    assert (first.error_kind, second.state) == ("rate_limited", Call.State.COMPLETED)
    assert (second.sent - first.sent).total_seconds() >= 7
    assert (run.calls.get(step__key="turn/1/B").sent - second.sent).total_seconds() < 7, (
        "another model waits for nothing"
    )


def test_trouble_that_needs_a_person_fails_the_run_which_resumes_where_it_failed(play, resume):
    run = play(b="sim/competitive:first=0:fail=402:times=1", **QUIET)

    assert (run.state, run.stop_reason) == ("failed", "out_of_credit")
    assert "Model B gave no answer in turn 1" in run.error
    assert run.events.get(type="experiment_error").data["message"] == run.error
    assert run.events.get(type="call_failed").data["message"]
    [said] = run.messages.all()
    assert said.seat == "A"

    resume(run)
    assert (run.state, run.messages.count(), run.messages.get(seat="A").raw_text) == ("completed", 2, said.raw_text)
    assert attempts(run, "turn/1/A") == [Call.State.COMPLETED]
    assert attempts(run, "turn/1/B") == [Call.State.FAILED, Call.State.COMPLETED]
    assert not any(words in everything_that_models_read(run) for words in WORDS_OF_ERRORS)


def test_a_cut_stream_is_marked_as_one_until_the_answer_takes_its_place(play, resume, alice):
    run = play(b="sim/competitive:first=0:fail=cut:after=12:times=2", max_turns=1)

    first, last = run.calls.filter(step__key="turn/1/B").order_by("attempt")
    assert run.state == Run.State.FAILED
    assert all(call.text.strip() and call.error_kind == "interrupted" for call in (first, last))
    cut = run.messages.get(seat="B")
    assert (cut.raw_text, cut.finish_reason, cut.flags, cut.call) == (last.text, "interrupted", ["truncated"], last)
    assert_same_page(run)

    resume(run)
    answer = run.messages.get(seat="B")
    assert (answer.pk, answer.finish_reason, answer.flags) == (cut.pk, "stop", [])
    assert len(answer.raw_text) > len(cut.raw_text)
    assert_same_page(run)


def test_attempts_lost_with_their_worker_do_not_count_and_whoever_resumes_gives_a_provider_all_of_them_again(
    arena, start, drive, play, resume
):
    run = start(arena(a="sim/cooperative:first=0:fail=429:times=1:retry_after=0", max_turns=1))
    step = run.steps.create(key="turn/1/A", kind="ask", purpose="reply", seat="A", turn=1)
    model = run.experiment.participants.get(seat="A").model
    for attempt in range(1, 5):
        run.calls.create(step=step, attempt=attempt, model=model, state=Call.State.LOST, request={})
    drive()

    run.refresh_from_db()
    assert (run.state, attempts(run, "turn/1/A")[4:]) == (Run.State.COMPLETED, ["failed", "completed"])

    run = play(a="sim/cooperative:first=0:fail=429:times=5:retry_after=0", max_turns=1)
    assert (run.state, run.calls.count()) == (Run.State.FAILED, 4)
    resume(run)
    assert (run.state, len(attempts(run, "turn/1/A"))) == (Run.State.COMPLETED, 6)


def test_a_bug_in_a_workflow_fails_its_run_and_no_other(arena, start, drive, monkeypatch):
    broken, sound = start(arena(max_turns=1)), start(arena(max_turns=1), seed=8)
    Run.objects.filter(pk=broken.pk).update(seed=666)

    def play(config, cast):
        if cast.seed == 666:
            raise ZeroDivisionError
        return WORKFLOW.run(config, cast)

    monkeypatch.setitem(REGISTRY, WORKFLOW.slug, replace(WORKFLOW, run=play))
    drive()

    broken.refresh_from_db()
    sound.refresh_from_db()
    assert (broken.state, broken.stop_reason) == (Run.State.FAILED, "internal_error")
    assert broken.events.filter(type="experiment_error").exists()
    assert sound.state == Run.State.COMPLETED


def test_an_answer_without_words_fails_the_run_and_its_reasoning_is_kept(play):
    for speaker, times, is_kept in (
        ("sim/deceptive:first=0:think=native:fail=length:after=3", 1, True),
        ("sim/cooperative:first=0:fail=empty", 2, False),
    ):
        run = play(speaker, **QUIET)
        assert (run.state, run.stop_reason, run.messages.count()) == ("failed", "empty_answer", 0), speaker
        assert [call.error_kind for call in run.calls.all()] == ["empty_answer"] * times
        call = run.calls.latest("id")
        assert (bool(call.reasoning.strip()), call.text) == (is_kept, "")


def test_after_an_empty_answer_another_seed_is_sent_and_the_same_one_in_a_repeat(play, scripted):
    slip = scripted.model("scripted/slip", "", "Seven.", "", "Seven.")
    runs = [play(slip, **QUIET) for _ in range(2)]

    assert [(run.state, run.messages.get(seat="A").text) for run in runs] == [("completed", "Seven.")] * 2
    seeds = [[body["seed"] for body in scripted.asked(slip)[start : start + 2]] for start in (0, 2)]
    assert seeds[0] == seeds[1]
    assert seeds[0][0] != seeds[0][1]
    asked = runs[0].calls.filter(step__key="turn/1/A").order_by("attempt")
    assert [call.request["seed"] for call in asked] == seeds[0]


def test_a_refusal_and_an_answer_cut_at_its_token_limit_are_recorded_as_such_and_are_no_errors(play, scripted):
    for speaker, reason in (
        ("sim/refusing:first=0", "content_filter"),
        ("sim/cooperative:first=0:fail=length:after=9", "length"),
    ):
        run = play(speaker, speaker, **{**QUIET, "max_turns": 4})
        found = run.messages.filter(finish_reason=reason)
        assert (run.state, found.exists()) == ("completed", True), reason
        assert all(message.text.strip() and message.call.state == Call.State.COMPLETED for message in found)
        assert run.events.filter(type="message_completed", data__finish_reason=reason).count() == found.count()
        assert not run.events.filter(type__in=["call_failed", "call_retried", "experiment_error"]).exists()

    run = play(scripted.model("mute", [{"finish": "content_filter"}]), "sim/neutral:first=0", **QUIET)
    message = run.messages.get(seat="A")
    assert (run.state, message.finish_reason, message.raw_text) == ("completed", "content_filter", "")
    read = run.calls.get(step__key="turn/1/B").request["messages"][1]["content"]
    assert message.text == read == NOTHING_LEFT, "a refusal without a word"


def test_a_reply_without_words_for_the_other_side_is_handled_as_set(play, drive, alice):
    for setting, *ended in (("placeholder", "completed", "max_turns"), ("stop", "stopped", "nothing_to_pass")):
        run = play(when_empty=setting, filter_model="sim/filter:json=empty", max_turns=1)
        assert [run.state, run.stop_reason] == ended

    run = play(when_empty="pause", filter_model="sim/filter:json=empty", max_turns=1)
    assert (run.state, run.open_pauses[0].purpose) == ("waiting", "nothing_to_pass")
    steering.say(run, by=alice, key=run.open_pauses[0].key, action="send", text="It nods.")
    drive()
    message = run.messages.get(seat="A")
    assert (message.text, message.operator["by"]) == ("It nods.", "alice")
