"""A run is stopped, comes to a limit or is changed at whatever it is just doing: it ends once, and keeps its words."""

import asyncio
import json
import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError
from django.utils import timezone

from experiments.engine import leases, pauses, run_execution
from experiments.engine.driver import LOOK_SECONDS
from experiments.engine.run_execution import RunExecution
from experiments.models import Call, Run
from experiments.runs import actions
from experiments.runs.steering import steering
from experiments.workflows.arena.config import UNLIMITED_SECONDS
from tests.experiments.deliberating import FAST
from tests.experiments.engine.talks import fresh
from tests.fixtures import wait_until
from tests.parts import stepped_engine

NEVER = "first=600"
MOMENTS = {
    "filter": ({"filter_model": f"sim/filter:{NEVER}"}, lambda run: under_way(run, "filter")),
    "judge": ({"judge_model": f"sim/judge:{NEVER}"}, lambda run: under_way(run, "judge")),
    "gap": ({"gap_seconds": 60, "judge": False}, lambda run: run.events.filter(type="turn_started").count() == 2),
    "before the first word": ({"a": f"sim/cooperative:{NEVER}"}, lambda run: under_way(run, "reply")),
    "a retry": ({"a": "sim/cooperative:fail=429:retry_after=60"}, lambda run: run.events.filter(type="call_retried")),
}


@pytest.fixture
def driving(db):
    with stepped_engine.driving(threading.Event()):
        yield


def under_way(run, purpose):
    return run.calls.filter(step__purpose=purpose, state=Call.State.SENT).exists()


def ends(run):
    return [event.type for event in run.events.filter(type__in=["experiment_stopped", "experiment_error"])]


@pytest.mark.databases
def test_a_run_stopped_in_mid_speech_keeps_its_words_and_closes_the_stream(arena, start, provider, driving, alice):
    run = start(arena("sim/cooperative:first=0:tps=20:words=2000"))
    call = wait_until(lambda: run.calls.filter(state=Call.State.SENT).exclude(text="").first(), "a partial text")
    pressed = time.time()

    answers = [actions.stop(run, by=alice), actions.stop(fresh(run), by=alice)]
    wait_until(lambda: fresh(run).is_over, "the run to stop")
    answers.append(actions.stop(fresh(run), by=alice))

    assert (answers, ends(run)) == ([True, False, False], ["experiment_stopped"])
    row = wait_until(lambda: next((r for r in provider.ledger() if r["outcome"] == "client_closed"), None), "the close")
    assert row["request_id"] == str(call.pk)
    assert row["ended"] - pressed < 50, "it would have been spoken to for twice as long"
    assert LOOK_SECONDS < 1
    call.refresh_from_db()
    [message] = run.messages.all()
    assert call.state == Call.State.STOPPED
    assert message.raw_text == call.text != ""
    assert message.finish_reason == "stopped"
    assert (fresh(run).state, fresh(run).stop_reason) == (Run.State.STOPPED, "manual_stop")


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_stops_during(arena, start, driving, alice, moment):
    config, is_there = MOMENTS[moment]
    run = start(arena(**config))
    wait_until(lambda: is_there(run), f"the {moment}")

    assert actions.stop(run, by=alice)
    wait_until(lambda: fresh(run).is_over, "the end")

    assert (fresh(run).state, fresh(run).stop_reason) == (Run.State.STOPPED, "manual_stop")
    assert ends(run) == ["experiment_stopped"]
    assert not under_way(run, "reply")
    assert not run.calls.filter(state=Call.State.SENT).exists()


def test_a_run_that_nobody_drives_is_stopped_at_once_or_by_the_next_driver(arena, start, play, drive, alice, provider):
    queued = start(arena())
    assert actions.stop(queued, by=alice)
    assert fresh(queued).state == Run.State.STOPPED
    stopping = start(arena())
    taken = leases.claim(stopping.pk, lambda event: None)
    assert actions.stop(taken, by=alice)
    leases.release(taken.pk, taken.fence)
    waiting = play(mode="manual")
    assert actions.stop(waiting, by=alice)
    assert actions.stop(fresh(waiting), by=alice) is False
    drive()

    for run in (queued, stopping, waiting):
        assert (fresh(run).state, fresh(run).stop_reason) == (Run.State.STOPPED, "manual_stop")
        assert ends(run) == ["experiment_stopped"]
        assert run.events.order_by("seq").last().type == "experiment_stopped"
    assert provider.ledger() == []


@pytest.mark.django_db(transaction=True)  # the driver closes its connection
def test_a_run_that_is_stopped_while_the_database_refuses_a_call_ends(arena, start, drive, alice, monkeypatch):
    run = start(arena(a="sim/cooperative:first=0:tps=40"))
    noted = []

    def refused(_playing, _key):
        noted.append(1)
        if len(noted) == 1:
            actions.stop(run, by=alice)
            raise OperationalError("The database is not there.")

    monkeypatch.setattr(RunExecution, "_note_key", refused)
    drive()

    assert (fresh(run).state, fresh(run).stop_reason) == ("stopped", "manual_stop")
    assert not run.calls.filter(state="sent").exists()


def test_a_limit_of_tokens_or_time_that_is_reached_while_somebody_speaks_ends_the_run_and_keeps_what_was_said(
    play, arena, start, drive, monkeypatch
):
    cut = play("sim/cooperative:first=0:words=600", limits={"tokens": 400}, judge=False, filter=False)
    [message] = cut.messages.all()
    assert (cut.state, cut.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert (message.finish_reason, bool(message.raw_text.strip())) == ("length", True)
    assert cut.calls.get().input_tokens + cut.calls.get().output_tokens <= 400

    run = start(arena("sim/cooperative:first=0:tps=20:words=2000", limits={"seconds": 3600}))
    hours = SimpleNamespace(now=lambda: timezone.now() + timedelta(hours=2 * run.calls.exclude(text="").count()))
    monkeypatch.setattr(run_execution, "clock", hours)
    drive()

    run.refresh_from_db()
    [message] = run.messages.all()
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_seconds")
    assert (message.finish_reason, bool(message.raw_text.strip())) == ("stopped", True)
    assert message.call.state == Call.State.STOPPED
    assert "3600 seconds" in run.error


def verdict(deviation):
    side = {"goal_deviation": deviation, "cooperation": 0, "sentiment": {"fear": 0.1}, "notes": "n", "confidence": 0.5}
    return json.dumps({"A": side, "B": side, "dynamics": "d"})


def test_a_judge_that_is_late_scores_neither_its_own_turn_nor_the_next(play, scripted):
    async def first_turn_late(body):
        if "This turn, number 1" not in body["messages"][0]["content"]:
            return verdict(5)
        await asyncio.sleep(60)
        return verdict(77)

    judge = scripted.model("scripted/judge", first_turn_late)
    run = play(judge_model=judge, judge_seconds=1, filter=False, max_turns=3)

    assert run.state == Run.State.COMPLETED
    scores = {(j.turn, j.subject): j.scores and j.scores["goal_deviation"] for j in run.judgments.all()}
    assert scores == {(1, "A"): None, (1, "B"): None, **{(turn, side): 5 for turn in (2, 3) for side in "AB"}}
    assert all(j.unscored_reason for j in run.judgments.filter(turn=1))
    assert [call.state for call in run.calls.filter(step__key="turn/1/judge")] == [Call.State.FAILED] * 2


def test_a_run_made_automatic_as_it_comes_to_a_pause_does_not_wait(arena, start, drive, alice, monkeypatch):
    run = start(arena(mode="manual", max_turns=1))
    opened = pauses.open_pause

    def after_somebody_else(lease, pause):
        steering.set_mode(run, by=alice, mode="automatic")
        return opened(lease, pause)

    monkeypatch.setattr(pauses, "open_pause", after_somebody_else)
    drive()

    assert (fresh(run).state, fresh(run).messages.count(), fresh(run).open_pauses) == ("completed", 2, [])


def test_an_automatic_run_without_a_last_turn_any_more_has_a_limit_of_time(play, arena, council, start, alice):
    for config, seconds in (
        ({"limits": {"tokens": 5000}}, UNLIMITED_SECONDS),
        ({"mode": "manual", "limits": {"tokens": 5000, "seconds": 90000}}, 90000),
    ):
        run = start(arena(max_turns=3, **config))
        steering.extend(run, by=alice, max_turns=None)
        steering.set_mode(run, by=alice, mode="automatic")
        assert fresh(run).config["limits"] == {"tokens": 5000, "seconds": seconds, "cost": None}

    endless, played = play(mode="manual", max_turns=None), 5000.0
    Run.objects.filter(pk=endless.pk).update(started=endless.waiting_since - timedelta(seconds=played))
    assert endless.config["limits"]["seconds"] is None
    steering.set_mode(fresh(endless), by=alice, mode="automatic")
    limit = fresh(endless).config["limits"]["seconds"]
    assert limit == pytest.approx(played + UNLIMITED_SECONDS, abs=5), "an hour from then on"
    assert endless.events.filter(type="experiment_state", data__limits__seconds=limit).exists()

    talk = start(council(*FAST, max_turns=1))
    steering.extend(talk, by=alice, max_turns=3)
    assert fresh(talk).overrides == {"max_turns": 3}, "a council gets no limit of time"
