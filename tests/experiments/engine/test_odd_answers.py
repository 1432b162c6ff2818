"""Whatever a provider answers with, nothing is said that no model said, and what is odd about an answer is marked."""

import json

import pytest

from experiments import actions
from experiments.engine import calls
from experiments.gateway.retry import Wait
from experiments.models import Call
from experiments.steering import steering
from experiments.workflows.filter import NOTHING_LEFT
from experiments.workflows.flags import REPEATS_ITSELF, SPEAKS_FOR_OTHER

pytestmark = pytest.mark.django_db(transaction=True)

QUIET = {"judge": False, "filter": False, "max_turns": 1}
WORDS_OF_ERRORS = ("rate limit", "credentials", "credits", "internal server error", "no such model", "upstream model")


@pytest.fixture
def play(arena, start, drive, monkeypatch):
    """Plays an arena run to its end or its first pause; waits before another attempt are cut short."""
    decide = calls.decide

    def hurried(*given, **named):
        verdict = decide(*given, **named)
        return Wait(0.01) if isinstance(verdict, Wait) else verdict

    monkeypatch.setattr(calls, "decide", hurried)

    def run(*speakers, **config):
        begun = start(arena(*speakers, **config))
        drive()
        begun.refresh_from_db()
        return begun

    return run


def everything_that_models_read(run):
    return json.dumps([call.request["messages"] for call in run.calls.all()]).lower()


# --- answers without words ---


def test_reasoning_without_an_answer_fails_the_run_and_is_kept(play):
    run = play("sim/deceptive:first=0:think=native:fail=length:after=3", **QUIET)

    assert (run.state, run.stop_reason, run.messages.count()) == ("failed", "empty_answer", 0)
    call = run.calls.latest("id")
    assert call.reasoning.strip()
    assert call.text == ""
    assert "reasoning but no answer" in run.error or "token limit" in run.error


def test_reasoning_without_an_answer_comes_back_to_the_operator(play, drive, alice):
    run = play("sim/deceptive:first=0:think=native:fail=length:after=3:times=1", mode="manual", **QUIET)
    steering.say(run, by=alice, key="turn/1/A/prompt", action="default")
    drive()
    run.refresh_from_db()

    [pause] = run.open_pauses
    assert (run.state, pause.purpose, run.messages.count()) == ("waiting", "call_failed", 0)
    assert pause.data["error"]


def test_an_empty_stream_is_asked_again_once_and_then_fails(play):
    run = play("sim/cooperative:first=0:fail=empty", **QUIET)

    assert (run.state, run.messages.count()) == ("failed", 0)
    assert [call.error_kind for call in run.calls.order_by("attempt")] == ["empty_answer", "empty_answer"]


def test_after_an_empty_answer_another_seed_is_sent_and_the_same_one_in_a_repeat(play, scripted):
    slip = scripted.model("scripted/slip", "", "Seven.", "", "Seven.")
    runs = [play(slip, **QUIET) for _ in range(2)]

    assert [(run.state, run.messages.get(seat="A").text) for run in runs] == [("completed", "Seven.")] * 2
    seeds = [[body["seed"] for body in scripted.asked(slip)[start : start + 2]] for start in (0, 2)]
    assert seeds[0] == seeds[1]
    assert seeds[0][0] != seeds[0][1]
    asked = runs[0].calls.filter(step__key="turn/1/A").order_by("attempt")
    assert [call.request["seed"] for call in asked] == seeds[0]


# --- refused, cut, repeated ---


def test_a_refusal_is_recorded_as_one_and_is_no_error(play):
    run = play("sim/refusing:first=0", "sim/refusing:first=0", judge=False, filter=False, max_turns=4)

    refused = run.messages.filter(finish_reason="content_filter")
    assert run.state == "completed"
    assert refused.exists()
    assert all(message.call.state == Call.State.COMPLETED for message in refused)
    assert not run.events.filter(type__in=["call_failed", "call_retried", "experiment_error"]).exists()


def test_a_refusal_without_a_word_is_read_as_the_placeholder_by_the_other_side(play, scripted):
    mute = scripted.model("mute", [{"finish": "content_filter"}])
    run = play(mute, "sim/neutral:first=0", **QUIET)

    message = run.messages.get(seat="A")
    assert (run.state, message.finish_reason, message.raw_text) == ("completed", "content_filter", "")
    assert message.text == NOTHING_LEFT
    assert run.calls.get(step__key="turn/1/B").request["messages"][1]["content"] == NOTHING_LEFT


def test_an_answer_cut_at_its_token_limit_says_so(play):
    run = play("sim/cooperative:first=0:fail=length:after=9", **QUIET)

    message = run.messages.get(seat="A")
    assert (run.state, message.finish_reason) == ("completed", "length")
    assert message.text.strip()
    assert run.events.filter(type="message_completed", data__finish_reason="length").count() == 1


@pytest.mark.parametrize(
    "fail", ["429:retry_after=0", "500", "502", "503", "reset", "cut", "error_event", "reset:after=0"]
)
def test_trouble_that_passes_is_waited_out_and_nobody_reads_of_it(play, fail):
    run = play(b=f"sim/competitive:first=0:fail={fail}:times=1", **QUIET)

    states = list(run.calls.filter(step__key="turn/1/B").order_by("attempt").values_list("state", flat=True))
    assert (run.state, states) == ("completed", [Call.State.FAILED, Call.State.COMPLETED])
    assert run.messages.count() == 2
    assert run.messages.get(seat="B").raw_text == run.calls.get(step__key="turn/1/B", attempt=2).text
    assert not any(words in everything_that_models_read(run) for words in WORDS_OF_ERRORS)


@pytest.mark.parametrize(("fail", "kind"), [("401", "bad_key"), ("402", "out_of_credit"), ("404", "unknown_model")])
def test_trouble_that_needs_a_person_fails_the_run_which_can_be_resumed(play, drive, fail, kind, alice):
    run = play(b=f"sim/competitive:first=0:fail={fail}:times=1", **QUIET)

    assert (run.state, run.stop_reason) == ("failed", kind)
    assert "Model B gave no answer in turn 1" in run.error
    assert [message.seat for message in run.messages.all()] == ["A"]

    assert actions.resume(run, by=alice)
    drive()
    run.refresh_from_db()
    assert (run.state, run.messages.count()) == ("completed", 2)
    assert not any(words in everything_that_models_read(run) for words in WORDS_OF_ERRORS)


def test_a_side_that_says_the_same_again_and_again_is_marked(play, scripted):
    same = scripted.model("scripted/same", "I want all of it.")
    run = play(same, judge=False, filter=False, max_turns=5)

    assert [m.flags for m in run.messages.filter(seat="A")] == [[], [], *[[REPEATS_ITSELF]] * 3]
    assert all(REPEATS_ITSELF not in message.flags for message in run.messages.filter(seat="B"))
    assert run.state == "completed"


@pytest.mark.parametrize(
    "line", ["Model B: I give in.", "**Model B:** I give in.", "[Agent B]: Fine.", "side b : Yes."]
)
def test_a_side_that_writes_the_other_ones_lines_is_marked(play, scripted, line):
    speaks = scripted.model("scripted/both", f"Model A: I want it all.\n\n{line}")
    run = play(speaks, **QUIET)

    message = run.messages.get(seat="A")
    assert message.flags == [SPEAKS_FOR_OTHER]
    assert line in message.raw_text, "nothing is cut out: it is marked"


def test_speaking_about_the_other_side_is_no_fault(play, scripted):
    about = scripted.model("scripted/about", "Model A: I agree with Model B: seven is enough.")

    assert play(about, **QUIET).messages.get(seat="A").flags == []


# --- size ---


def test_a_long_answer_is_filtered_whole(play):
    run = play("sim/cooperative:first=0:words=5000", judge=False, max_turns=1)

    message = run.messages.get(seat="A")
    assert len(message.raw_text) > 20_000
    asked = run.calls.get(step__key="turn/1/A/filter").request
    assert asked["max_tokens"] >= len(message.raw_text)
    assert message.filter["status"] in {"kept", "filtered"}


def test_a_filter_that_is_cut_at_its_token_limit_lets_the_whole_original_pass(play, arena, start, drive):
    experiment = arena("sim/cooperative:first=0:words=5000", judge=False, max_turns=1)
    experiment.participants.filter(seat="filter").update(params={"max_tokens": 200})
    run = start(experiment)
    drive()

    message = run.messages.get(seat="A")
    assert run.calls.get(step__key="turn/1/A/filter").finish_reason == "length"
    assert (message.text, message.filter["status"]) == (message.raw_text, "failed")
    assert message.filter["reasoning"]


# --- who speaks ---


def test_the_same_model_on_both_sides_talks_to_itself_as_two(play):
    run = play("sim/cooperative:first=0", "sim/cooperative:first=0", judge=False, filter=False, max_turns=2)

    assert [(m.turn, m.seat) for m in run.messages.all()] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    first = run.messages.get(turn=1, seat="A").raw_text
    heard = {m["content"]: m["role"] for m in run.calls.get(step__key="turn/2/B").request["messages"]}
    own = {m["content"]: m["role"] for m in run.calls.get(step__key="turn/2/A").request["messages"]}
    assert (heard[first], own[first]) == ("user", "assistant")


def test_what_the_filter_left_empty_is_never_sent_empty(play):
    run = play(filter_model="sim/filter:first=0:json=empty", judge=False, max_turns=2)

    prompts = [m["content"] for call in run.calls.all() for m in call.request["messages"]]
    assert all(prompt.strip() for prompt in prompts)
    assert NOTHING_LEFT in run.calls.get(step__key="turn/1/B").request["messages"][1]["content"]
    assert {message.filter["status"] for message in run.messages.all()} == {"emptied"}
