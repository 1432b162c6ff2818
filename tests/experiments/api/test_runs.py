"""Runs in lists and one by one."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from experiments.models import Run

pytestmark = pytest.mark.django_db

CONTRACT = {
    *("id", "experiment", "workflow", "state", "seed", "turn", "waiting_for", "stop_reason", "error"),
    *("usage", "cost", "created", "started", "ended"),
}


def ids(response):
    return [run["id"] for run in response.json()["results"]]


def test_a_run_that_waits_for_a_driver_has_everything_the_contract_names(api, arena, start):
    run = start(arena())
    said = api.get(f"runs/{run.pk}/").json()

    assert set(said) >= CONTRACT | {"metrics"}
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
    assert float(said["cost"]) == pytest.approx(float(sum(call.cost or 0 for call in calls)))
    assert said["created"] <= said["started"] <= said["ended"]
    assert [point["turn"] for point in said["metrics"]["A"]["turns"]] == [1, 2]


def test_a_cost_that_is_unknown_is_null_and_not_zero(api, played):
    run = played(max_turns=1)

    assert run.calls.filter(cost__isnull=False).count() == 0
    assert api.get(f"runs/{run.pk}/").json()["cost"] is None


def test_a_cost_is_a_text_so_that_no_digit_is_lost(api, played):
    run = played("sim/cooperative:first=0:cost", max_turns=1, judge=False, filter=False)

    assert isinstance(api.get(f"runs/{run.pk}/").json()["cost"], str)


def test_runs_are_listed_newest_first(api, arena, start):
    experiment = arena()
    runs = [start(experiment, seed) for seed in range(3)]

    assert ids(api.get("runs/")) == [str(run.pk) for run in reversed(runs)]


def test_runs_are_listed_by_experiment(api, arena, start):
    wanted = start(arena())
    start(arena())

    assert ids(api.get("runs/", experiment=str(wanted.experiment_id))) == [str(wanted.pk)]


@pytest.mark.parametrize("state", Run.State.values)
def test_runs_are_listed_by_state(api, arena, start, state):
    experiment = arena()
    runs = {value: start(experiment, seed) for seed, value in enumerate(Run.State.values)}
    for value, run in runs.items():
        Run.objects.filter(pk=run.pk).update(state=value)

    assert ids(api.get("runs/", state=state)) == [str(runs[state].pk)]


def test_runs_are_listed_by_workflow(api, arena, start):
    run = start(arena())

    assert ids(api.get("runs/", workflow="arena")) == [str(run.pk)]
    assert ids(api.get("runs/", workflow="council")) == []


@pytest.mark.databases
def test_runs_are_found_by_words_of_their_title_in_any_case(api, arena, start):
    run = start(arena(prompt="Zwei Dörfer teilen 100% Solar_Panels"))
    start(arena(prompt="Something else"))

    for words in ("solar_panels", "zwei", "100%"):
        assert ids(api.get("runs/", search=words)) == [str(run.pk)]
    assert ids(api.get("runs/", search="100%else")) == []


def test_filters_hold_together(api, arena, start):
    experiment = arena()
    run, other = start(experiment, 1), start(experiment, 2)
    Run.objects.filter(pk=other.pk).update(state=Run.State.FAILED)

    assert ids(api.get("runs/", experiment=str(experiment.pk), state="queued", search="solar")) == [str(run.pk)]


@pytest.mark.databases
def test_pages_hold_every_run_once_there_and_back(api, arena):
    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n) for n in range(7))
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


def test_a_new_run_does_not_shift_the_pages(api, arena, start):
    experiment = arena()
    runs = [start(experiment, seed) for seed in range(4)]
    first = api.get("runs/", page_size=2).json()
    start(experiment, 99)

    second = api.client.get(first["next"], headers=api.headers)

    assert ids(second) == [str(runs[1].pk), str(runs[0].pk)]


def test_filters_stay_on_the_next_page(api, arena, start):
    experiment = arena()
    for seed in range(3):
        start(experiment, seed)
    Run.objects.filter(seed=1).update(state=Run.State.FAILED)

    first = api.get("runs/", page_size=1, state="queued").json()
    second = api.client.get(first["next"], headers=api.headers).json()

    assert [run["seed"] for run in first["results"] + second["results"]] == [2, 0]
    assert second["next"] is None


@pytest.mark.parametrize(("asked", "given"), [("0", 50), ("x", 50), ("-3", 50), ("60", 55), ("100000", 55)])
def test_a_page_has_fifty_rows_unless_another_number_makes_sense(api, arena, asked, given):
    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n) for n in range(55))

    assert len(ids(api.get("runs/", page_size=asked))) == given


def test_a_list_asks_the_database_as_often_for_many_runs_as_for_one(api, arena, start, django_assert_max_num_queries):
    experiment = arena()
    for seed in range(12):
        start(experiment, seed)
    api.get("runs/")

    with django_assert_max_num_queries(6):
        assert len(ids(api.get("runs/"))) == 12


def test_a_run_that_waited_long_is_still_the_same(api, arena, start):
    run = start(arena())
    Run.objects.filter(pk=run.pk).update(created=timezone.now() - timedelta(days=900))

    assert ids(api.get("runs/")) == [str(run.pk)]
