"""Experiments whose runs nobody judges: their pages and their statistics have nothing to average, and say so."""

import pytest
from django.urls import reverse

from experiments.models import Run
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("workflow", ["council", "debate"])
def test_an_experiment_that_nobody_judges_has_no_figures_on_pages_and_in_the_api(
    council, debate, start, drive, alice, workflow
):
    experiment = council() if workflow == "council" else debate(mode="automatic")
    one, two = (start(experiment, seed=seed) for seed in (1, 2))
    drive()
    start(experiment, seed=3)
    browser, key = signed_in(alice), [experiment.pk]
    states = list(experiment.runs.order_by("seed").values_list("state", flat=True))
    assert states == [Run.State.COMPLETED, Run.State.COMPLETED, Run.State.QUEUED]

    page = browser.get(reverse("experiment", args=key)).content.decode()
    assert all(str(run.pk) in page for run in experiment.runs.all())
    assert 'class="rows figures measures"' not in page
    values = browser.get(reverse("experiment-values", args=key)).content.decode()
    assert len(values.splitlines()) == 1, "a table without rows of subjects"

    said = browser.get(reverse("api-statistics", args=key)).json()
    assert len(said["counted"]) == 2
    assert [left["reason"] for left in said["left_out"]] == ["live"]
    assert (said["subjects"], said["difference"], said["beginning"], said["values"]) == ({}, None, None, [])
    table = browser.get(reverse("api-statistics", args=key), {"format": "csv"})
    assert len(table.content.decode().splitlines()) == 1
    listed = browser.get("/api/runs/", {"experiment": str(experiment.pk)}).json()["results"]
    assert [browser.get(f"/api/runs/{run['id']}/").json()["metrics"] for run in listed] == [{}] * 3

    assert browser.get(reverse("runs")).status_code == 200
    assert browser.get(reverse("run-compare", args=[one.pk, two.pk])).status_code == 200
    assert browser.get(reverse("api-lineage", args=[one.pk])).json()["root"] == str(one.pk)
