"""A run is stopped, or comes to a limit, at whatever it is just doing; it ends once, and what was said is kept."""

import asyncio
import json
import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from experiments import actions, progress
from experiments.engine import playing, seating
from experiments.engine.driver import Driver
from experiments.gateway.retry import Wait
from experiments.gateway.types import ChatRequest, Deadlines
from experiments.models import Call, Run
from experiments.steering import steering
from tests.fixtures import add_model, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

NEVER = "first=600"
SPOKEN = ("experiment_stopped", "experiment_error")


@pytest.fixture
def driving(transactional_db):
    """A driver at work in a thread of its own."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: Driver(stop).drive(idle_seconds=60))
    thread.start()
    yield
    stop.set()
    thread.join(80)


def under_way(run, purpose):
    return run.calls.filter(step__purpose=purpose, state=Call.State.SENT).exists()


def over(run):
    return wait_until(
        lambda: Run.objects.filter(pk=run.pk, state__in=["stopped", "completed", "failed"]).first(), "end"
    )


MOMENTS = {
    "filter": ({"filter_model": f"sim/filter:{NEVER}"}, lambda run: under_way(run, "filter")),
    "judge": ({"judge_model": f"sim/judge:{NEVER}"}, lambda run: under_way(run, "judge")),
    "gap": ({"gap_seconds": 60, "judge": False}, lambda run: run.events.filter(type="turn_started").count() == 2),
    "before the first word": ({"a": f"sim/cooperative:{NEVER}"}, lambda run: under_way(run, "reply")),
    "a retry": ({"a": "sim/cooperative:fail=429:retry_after=60"}, lambda run: run.events.filter(type="call_retried")),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_stops_during(arena, start, driving, alice, moment):
    config, is_there = MOMENTS[moment]
    run = start(arena(**config))
    wait_until(lambda: is_there(run), f"the {moment}", seconds=60)

    assert actions.stop(run, by=alice)
    ended = over(run)

    assert (ended.state, ended.stop_reason) == (Run.State.STOPPED, "manual_stop")
    assert run.events.filter(type__in=SPOKEN).count() == 1
    assert not run.calls.filter(state=Call.State.SENT).exists()
    said = run.messages.count()
    assert actions.stop(Run.objects.get(pk=run.pk), by=alice) is False, "there is nothing left to stop"
    assert (run.messages.count(), run.events.filter(type__in=SPOKEN).count()) == (said, 1)


def test_it_stops_at_a_pause(arena, start, drive, alice):
    run = start(arena(mode="manual"))
    drive()

    assert actions.stop(run, by=alice)
    assert actions.stop(Run.objects.get(pk=run.pk), by=alice) is False
    drive()

    run.refresh_from_db()
    assert (run.state, run.stop_reason, run.calls.count()) == (Run.State.STOPPED, "manual_stop", 0)
    assert run.events.filter(type__in=SPOKEN).count() == 1
    assert run.events.order_by("seq").last().type == "experiment_stopped"


def test_a_run_that_has_ended_stays_what_it_is(played, alice):
    run = played(max_turns=1)

    assert actions.stop(run, by=alice) is False
    assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED


def test_a_limit_of_time_that_is_reached_while_somebody_speaks_keeps_what_was_said(arena, start, drive, monkeypatch):
    run = start(arena("sim/cooperative:first=0:tps=20:words=2000", limits={"seconds": 3600}))
    hours = SimpleNamespace(now=lambda: timezone.now() + timedelta(hours=2 * run.calls.exclude(text="").count()))
    monkeypatch.setattr(playing, "clock", hours)
    drive()

    run.refresh_from_db()
    [message] = run.messages.all()
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_seconds")
    assert (message.finish_reason, bool(message.raw_text.strip())) == ("stopped", True)
    assert message.call.state == Call.State.STOPPED
    assert "3600 seconds" in run.error


def test_a_limit_of_tokens_that_is_reached_while_somebody_speaks_cuts_there_and_ends_the_run(arena, start, drive):
    run = start(arena("sim/cooperative:first=0:words=600", judge=False, filter=False, limits={"tokens": 400}))
    drive()

    run.refresh_from_db()
    [message] = run.messages.all()
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert (message.finish_reason, bool(message.raw_text.strip())) == ("length", True)
    call = run.calls.get()
    assert call.input_tokens + call.output_tokens <= 400


# --- a judge that does not answer in time ---


def asks_late_judge(request):
    return request["model"] == "scripted/judge" and "This turn, number 1" in request["messages"][0].content


@pytest.fixture
def impatient(monkeypatch):
    """The late judge has half a second, and the waits before another attempt are cut short."""
    short = {"deadlines": Deadlines(first_byte=0.5)}
    monkeypatch.setattr(
        seating, "ChatRequest", lambda **given: ChatRequest(**given | (short if asks_late_judge(given) else {}))
    )
    monkeypatch.setattr(
        playing, "wait_after", lambda call, report: Wait(0.01) if report.error and call.attempt < 2 else None
    )


def verdict(deviation):
    side = {"goal_deviation": deviation, "cooperation": 0, "sentiment": {"fear": 0.1}, "notes": "n", "confidence": 0.5}
    return json.dumps({"A": side, "B": side, "dynamics": "d"})


def test_a_judge_that_is_late_scores_neither_its_own_turn_nor_the_next(arena, start, drive, impatient, scripted):
    async def first_turn_late(body):
        if "This turn, number 1" not in body["messages"][0]["content"]:
            return verdict(5)
        await asyncio.sleep(60)
        return verdict(77)

    judge = scripted.model("scripted/judge", first_turn_late)
    run = start(arena(judge_model=judge, filter=False, max_turns=3))
    drive()

    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    scores = {(j.turn, j.subject): j.scores and j.scores["goal_deviation"] for j in run.judgments.all()}
    assert scores == {(1, "A"): None, (1, "B"): None, **{(turn, side): 5 for turn in (2, 3) for side in "AB"}}
    assert all("first content" in j.unscored_reason for j in run.judgments.filter(turn=1))
    assert [call.state for call in run.calls.filter(step__key="turn/1/judge")] == [Call.State.FAILED] * 2
    assert all(j.call.step.key == f"turn/{j.turn}/judge" for j in run.judgments.select_related("call__step"))


# --- lengths ---


def test_a_run_of_one_turn_has_one_turn(played):
    run = played(max_turns=1)

    assert (run.state, run.stop_reason) == (Run.State.COMPLETED, "max_turns")
    assert [(m.turn, m.seat) for m in run.messages.all()] == [(1, "A"), (1, "B")]
    assert "1 turns" not in str(run.calls.first().request), "one turn is called one turn"


def test_an_open_length_has_no_negative_progress(arena, start):
    run = start(arena(max_turns=None))

    shown = progress.of(Run.objects.with_totals().select_related("experiment").get(pk=run.pk))
    assert (shown.turn, shown.turns, shown.percent, shown.eta) == (0, None, None, None)


def test_an_error_in_the_third_turn_ends_the_run_and_says_why(arena, start, alice, settings, provider):
    settings.LEASE_SECONDS = 3
    run = start(arena(b="sim/competitive:first=0", judge=False, filter=False, max_turns=5, mode="manual"))
    failing = add_model("sim/competitive:first=0:fail=401")
    for _ in range(20):
        Driver(threading.Event()).drive(0.1)
        pause = Run.objects.get(pk=run.pk).open_pauses[-1]
        if pause.key == "turn/3/A/prompt":
            break
        steering.say(run, by=alice, key=pause.key, action="default")
    run.experiment.participants.filter(seat="B").update(model=failing)
    steering.set_mode(run, by=alice, mode="automatic")
    Driver(threading.Event()).drive(0.1)

    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.FAILED, "bad_key")
    assert "Model B gave no answer in turn 3" in run.error
    last = run.events.order_by("seq").last()
    assert (last.type, last.data["message"]) == ("experiment_error", run.error)
    assert run.messages.count() == 5
