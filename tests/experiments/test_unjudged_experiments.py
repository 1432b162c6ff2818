"""Experiments whose runs nobody judges: their pages and their statistics have nothing to average, and say so."""

import threading
from typing import Any

import pytest
from django.urls import reverse

from experiments.engine.driver import Driver
from experiments.models import Experiment, Run

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


@pytest.fixture(params=["council", "debate"])
def experiment(request: Any, council: Any, debate: Any, start: Any) -> Experiment:
    """With two runs that have ended, and one that has not begun."""
    made: Experiment = council() if request.param == "council" else debate(mode="automatic")
    for seed in (1, 2):
        start(made, seed=seed)
    Driver(threading.Event()).drive(0.1)
    start(made, seed=3)
    return made


@pytest.fixture
def browser(client: Any, alice: Any) -> Any:
    client.force_login(alice)
    return client


def test_the_runs_have_ended(experiment: Experiment) -> None:
    states = list(experiment.runs.order_by("seed").values_list("state", flat=True))
    assert states == [Run.State.COMPLETED, Run.State.COMPLETED, Run.State.QUEUED]


def test_the_page_shows_its_runs(browser: Any, experiment: Experiment) -> None:
    response = browser.get(reverse("experiment", args=[experiment.pk]))

    assert response.status_code == 200
    page = response.content.decode()
    assert all(str(run.pk) in page for run in experiment.runs.all())
    assert "Nobody is scored in these runs" in page
    assert 'class="rows figures measures"' not in page


def test_its_values_are_a_table_without_rows_of_subjects(browser: Any, experiment: Experiment) -> None:
    response = browser.get(reverse("experiment-values", args=[experiment.pk]))

    assert response.status_code == 200
    assert len(response.content.decode().splitlines()) == 1


def test_the_api_says_that_nobody_was_judged(browser: Any, experiment: Experiment) -> None:
    said = browser.get(reverse("api-statistics", args=[experiment.pk])).json()

    assert len(said["counted"]) == 2
    assert [left["reason"] for left in said["left_out"]] == ["live"]
    assert (said["subjects"], said["difference"], said["beginning"], said["values"]) == ({}, None, None, [])
    table = browser.get(reverse("api-statistics", args=[experiment.pk]), {"format": "csv"})
    assert len(table.content.decode().splitlines()) == 1


def test_two_runs_are_compared(browser: Any, experiment: Experiment) -> None:
    one, two = experiment.runs.filter(state=Run.State.COMPLETED)

    assert browser.get(reverse("run-compare", args=[one.pk, two.pk])).status_code == 200
    assert browser.get(reverse("api-lineage", args=[one.pk])).json()["root"] == str(one.pk)


def test_its_runs_are_listed_with_their_metrics(browser: Any, experiment: Experiment) -> None:
    listed = browser.get("/api/runs/", {"experiment": str(experiment.pk)}).json()["results"]

    assert len(listed) == 3
    assert {browser.get(f"/api/runs/{run['id']}/").json()["metrics"] == {} for run in listed} == {True}
    assert browser.get(reverse("runs")).status_code == 200
