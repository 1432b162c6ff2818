"""Stopping a run, and going on with one that failed."""

import threading

import pytest

from experiments.engine.driver import Driver
from experiments.models import Call, Run

pytestmark = pytest.mark.django_db

BROKEN = "sim/cooperative:first=0:fail=404"
HEALS = "sim/cooperative:first=0:fail=404:times=1"


def state(run):
    return Run.objects.get(pk=run.pk).state


def test_a_queued_run_is_stopped_at_once(api, arena, start):
    run = start(arena())
    response = api.post(f"runs/{run.pk}/stop/")

    said = response.json()
    assert (response.status_code, said["state"], said["stop_reason"]) == (200, "stopped", "manual_stop")
    assert said["ended"] is not None
    assert run.events.last().type == "experiment_stopped"


def test_a_running_run_is_asked_to_stop(api, arena, start, alice):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)

    assert api.post(f"runs/{run.pk}/stop/").json()["state"] == "stopping"
    event = run.events.last()
    assert (event.type, event.data) == ("experiment_state", {"state": "stopping", "by": "alice"})


@pytest.mark.parametrize("before", [Run.State.QUEUED, Run.State.RUNNING, Run.State.WAITING])
def test_stopping_twice_changes_nothing_more(api, arena, start, before):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=before)
    first = api.post(f"runs/{run.pk}/stop/").json()
    events = run.events.count()

    second = api.post(f"runs/{run.pk}/stop/")

    assert (second.status_code, second.json()) == (200, first)
    assert run.events.count() == events


@pytest.mark.parametrize("ended", [Run.State.COMPLETED, Run.State.FAILED, Run.State.STOPPED])
def test_stopping_a_run_that_has_ended_changes_nothing(api, arena, start, ended):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=ended)

    response = api.post(f"runs/{run.pk}/stop/")

    assert (response.status_code, response.json()["state"]) == (200, ended)
    assert run.events.count() == 1


def test_a_run_that_was_stopped_before_it_began_asks_no_model(api, arena, start, provider):
    run = start(arena())
    api.post(f"runs/{run.pk}/stop/")
    Driver(threading.Event()).drive(0.1)

    assert (state(run), provider.ledger()) == (Run.State.STOPPED, [])


@pytest.mark.parametrize("other", [s for s in Run.State if s != Run.State.FAILED])
def test_only_a_failed_or_a_paused_run_can_be_resumed(api, arena, start, is_problem, nobody_is_woken, other):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=other)
    woken = len(nobody_is_woken)

    is_problem(api.post(f"runs/{run.pk}/resume/"), 409, "was paused")

    assert (state(run), run.events.count(), len(nobody_is_woken)) == (other, 1, woken)


@pytest.mark.databases
def test_a_failed_run_goes_on_from_the_step_that_failed(api, played, nobody_is_woken):
    run = played(a="sim/neutral:first=0", b=HEALS, max_turns=1)
    said = api.get(f"runs/{run.pk}/").json()
    assert (said["state"], said["stop_reason"]) == ("failed", "unknown_model")
    assert "Model B gave no answer in turn 1" in said["error"]
    first = run.messages.get()

    resumed = api.post(f"runs/{run.pk}/resume/")
    assert (resumed.status_code, resumed.json()["state"]) == (200, "queued")
    assert (resumed.json()["error"], resumed.json()["stop_reason"], resumed.json()["ended"]) == ("", "", None)
    assert nobody_is_woken[-1] == run.pk
    Driver(threading.Event()).drive(0.1)

    assert state(run) == Run.State.COMPLETED
    assert [message.seat for message in run.messages.all()] == ["A", "B"]
    assert run.messages.first() == first
    attempts = run.calls.filter(step__key="turn/1/B").order_by("attempt").values_list("attempt", "state")
    assert list(attempts) == [(1, Call.State.FAILED), (2, Call.State.COMPLETED)]


def test_resuming_twice_is_a_conflict(api, played, is_problem):
    run = played(a=BROKEN, max_turns=1)
    api.post(f"runs/{run.pk}/resume/")

    is_problem(api.post(f"runs/{run.pk}/resume/"), 409)


def test_a_run_that_fails_again_can_be_resumed_again(api, played):
    run = played(a=BROKEN, max_turns=1)
    for _ in range(2):
        assert api.post(f"runs/{run.pk}/resume/").status_code == 200
        Driver(threading.Event()).drive(0.1)
        assert state(run) == Run.State.FAILED

    assert run.calls.count() == 3
    assert [event.type for event in run.events.all()].count("experiment_error") == 3


@pytest.mark.parametrize("path", ["stop", "resume"])
def test_changes_are_posted(api, arena, start, is_problem, path):
    run = start(arena())

    is_problem(api.get(f"runs/{run.pk}/{path}/"), 405, "GET")
    assert state(run) == Run.State.QUEUED
