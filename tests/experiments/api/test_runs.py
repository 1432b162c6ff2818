"""Runs in lists and one by one, stopped, and gone on with after a failure."""

import threading

import pytest
from django.utils.dateparse import parse_datetime

from experiments.engine.driver import Driver
from experiments.models import Run
from tests.cases import each_case

pytestmark = pytest.mark.django_db

CONTRACT = {
    *("id", "experiment", "workflow", "state", "seed", "turn", "waiting_for", "stop_reason", "error"),
    *("usage", "cost", "created", "started", "ended"),
}


def ids(response):
    return [run["id"] for run in response.json()["results"]]


def queued(experiment, count=1):
    """Rows of runs, oldest first."""
    return Run.objects.bulk_create(Run(experiment=experiment, seed=seed) for seed in range(count))


def test_a_run_that_waits_for_a_driver_has_everything_the_contract_names(api, arena, start):
    run = start(arena())
    said = api.get(f"runs/{run.pk}/").json()

    assert set(said) >= CONTRACT
    assert (said["id"], said["experiment"], said["workflow"]) == (str(run.pk), str(run.experiment_id), "arena")
    assert (said["state"], said["seed"], said["turn"], said["waiting_for"]) == ("queued", 7, 0, None)
    assert (said["cost"], said["started"], said["ended"], said["stop_reason"]) == (None, None, None, "")
    assert said["usage"] == {"input_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0, "calls": 0}
    assert said["metrics"]["A"]["goal_deviation"] is None
    assert parse_datetime(said["created"]) is not None


@pytest.mark.databases
def test_a_run_that_has_ended_says_what_it_took(api, played):
    run = played("sim/cooperative:first=0:cost", max_turns=2)
    said = api.get(f"runs/{run.pk}/").json()

    calls = list(run.calls.all())
    assert (said["state"], said["turn"], said["stop_reason"]) == ("completed", 2, "max_turns")
    assert said["usage"]["calls"] == len(calls) == 10
    assert said["usage"]["input_tokens"] == sum(call.input_tokens for call in calls)
    assert said["usage"]["output_tokens"] == sum(call.output_tokens for call in calls)
    assert isinstance(said["cost"], str), "so that no digit is lost"
    assert float(said["cost"]) == pytest.approx(float(sum(call.cost or 0 for call in calls)))
    assert said["created"] <= said["started"] <= said["ended"]
    assert [point["turn"] for point in said["metrics"]["A"]["turns"]] == [1, 2]
    run.calls.update(cost=None)
    assert api.get(f"runs/{run.pk}/").json()["cost"] is None, "unknown is not zero"


def test_runs_are_listed_newest_first_by_what_is_asked_for_and_all_of_it(api, arena):
    experiment, other = arena(prompt="Solar panels"), arena(prompt="Something else")
    runs = queued(experiment, len(Run.State))
    [elsewhere] = queued(other)
    for run, state in zip(runs, Run.State.values, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state)
    newest_first = [str(run.pk) for run in reversed(runs)]

    assert ids(api.get("runs/")) == [str(elsewhere.pk), *newest_first]
    assert ids(api.get("runs/", experiment=str(experiment.pk))) == newest_first
    for run, state in zip(runs, Run.State.values, strict=True):
        assert ids(api.get("runs/", experiment=str(experiment.pk), state=state, search="solar")) == [str(run.pk)]
    assert len(ids(api.get("runs/", workflow="arena"))) == len(runs) + 1
    assert ids(api.get("runs/", workflow="council")) == []


@pytest.mark.databases
def test_pages_hold_every_run_once_there_and_back(api, arena):
    queued(arena(), 7)
    expected = [str(pk) for pk in Run.objects.order_by("-id").values_list("pk", flat=True)]

    forth, url = [], "/api/runs/?page_size=3"
    while url:
        page = api.client.get(url, headers=api.headers).json()
        assert set(page) == {"next", "previous", "results"}
        forth.append([run["id"] for run in page["results"]])
        url, back_url = page["next"], page["previous"]
    back = api.client.get(back_url, headers=api.headers).json()

    assert [len(page) for page in forth] == [3, 3, 1]
    assert [run for page in forth for run in page] == expected
    assert [run["id"] for run in back["results"]] == forth[1]


def test_filters_stay_on_the_next_page_which_a_new_run_does_not_shift(api, arena):
    experiment = arena()
    runs = queued(experiment, 5)
    Run.objects.filter(pk=runs[3].pk).update(state=Run.State.FAILED)

    first = api.get("runs/", page_size=2, state="queued").json()
    queued(experiment)
    second = api.client.get(first["next"], headers=api.headers).json()

    assert [run["seed"] for run in first["results"] + second["results"]] == [4, 2, 1, 0]


def test_a_page_has_fifty_rows_unless_another_number_makes_sense(api, arena, django_assert_max_num_queries):
    queued(arena(), 55)
    api.get("runs/")
    for asked, given in (("0", 50), ("x", 50), ("60", 55), ("100000", 55)):
        with django_assert_max_num_queries(6):  # as many as for one run
            assert len(ids(api.get("runs/", page_size=asked))) == given, asked


# --- stopping and resuming ---


def state(run):
    return Run.objects.get(pk=run.pk).state


def test_a_queued_run_is_stopped_at_once_and_asks_no_model(api, arena, start, provider, drive):
    run = start(arena())
    response = api.post(f"runs/{run.pk}/stop/")

    said = response.json()
    assert (response.status_code, said["state"], said["stop_reason"]) == (200, "stopped", "manual_stop")
    assert said["ended"] is not None
    assert run.events.last().type == "experiment_stopped"
    drive()
    assert (state(run), provider.ledger()) == (Run.State.STOPPED, [])


@each_case("before", Run.State.values)
def test_stopping_twice_or_after_the_end_changes_nothing_more(api, arena, start, before):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(state=before)
    first = api.post(f"runs/{run.pk}/stop/").json()
    events = run.events.count()

    second = api.post(f"runs/{run.pk}/stop/")

    assert (second.status_code, second.json()) == (200, first)
    assert run.events.count() == events
    if before in {Run.State.COMPLETED, Run.State.FAILED, Run.State.STOPPED}:
        assert (first["state"], events) == (before, 1)
    if before == Run.State.RUNNING:
        event = run.events.last()
        assert (event.type, event.data) == ("experiment_state", {"state": "stopping", "by": "alice"})


def test_only_a_failed_or_a_paused_run_can_be_resumed(api, arena, start, is_problem, nobody_is_woken):
    experiment = arena()
    for other in set(Run.State) - {Run.State.FAILED}:
        run = start(experiment)
        Run.objects.filter(pk=run.pk).update(state=other)
        woken = len(nobody_is_woken)

        is_problem(api.post(f"runs/{run.pk}/resume/"), 409, "was paused")

        assert (state(run), run.events.count(), len(nobody_is_woken)) == (other, 1, woken)


@pytest.mark.databases
def test_a_failed_run_goes_on_from_the_step_that_failed(api, played, nobody_is_woken):
    run = played(a="sim/neutral:first=0", b="sim/cooperative:first=0:fail=404:times=1", max_turns=1)
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
    assert run.messages.first() == first
