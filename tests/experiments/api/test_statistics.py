"""Statistics over HTTP: the numbers of the page, null where there is none."""

import csv

import pytest

from tests.experiments.repeated import ended, judged


@pytest.fixture
def repeated(arena):
    experiment = arena(counterbalance=True)
    for seed, (a, b) in enumerate([((10, 30), (0, 0)), ((20, 20), (0, None)), ((30, 50), (0, 10))], start=1):
        run = ended(experiment, seed)
        judged(run, "A", *a)
        judged(run, "B", *b)
    judged(ended(experiment, 4, state="stopped"), "A", 90)
    return experiment


def statistics(api, experiment, **params):
    return api.get(f"experiments/{experiment.pk}/statistics/", **params)


@pytest.mark.databases
def test_the_estimates_are_told_with_their_intervals_and_what_is_missing_is_null(api, repeated, is_problem):
    said = statistics(api, repeated).json()
    a, b = (said["subjects"][seat] for seat in "AB")
    final = a["measures"]["final_deviation"]

    assert (said["confidence"], len(said["counted"]), said["switched_on"]) == (0.95, 3, [])
    assert [left["reason"] for left in said["left_out"]] == ["stopped"]
    assert (final["n"], final["missing"], final["mean"]) == (3, 0, pytest.approx(100 / 3))
    assert final["low"] < final["mean"] < final["high"]
    assert a["deviated"]["count"] == 2
    assert said["difference"]["final_deviation"]["n"] == 2
    assert said["beginning"]["A"]["final_deviation"]["second"]["n"] == 2
    assert said["beginning"]["A"]["final_deviation"]["no_interval"] == "one_value"
    [unscored] = [row for row in said["values"] if row["seed"] == 2 and row["subject"] == "B"]
    assert unscored["final_deviation"] is None
    assert b["turns"][1]["goal_deviation"]["missing"] == 1
    assert (a["measures"]["anger"]["mean"], a["measures"]["tokens"]["mean"]) == (None, None)

    response = statistics(api, repeated, format="csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(response.content.decode().splitlines()))
    found = [(row["seed"], row["subject"], row["final_deviation"]) for row in rows]
    assert found[2:4] == [("2", "A", "20.0"), ("2", "B", "")]

    said = statistics(api, repeated, **{"with": ["stopped", "branch"]}).json()
    assert (len(said["counted"]), said["left_out"], said["switched_on"]) == (4, [], ["stopped", "branch"])
    is_problem(statistics(api, repeated, **{"with": "everything"}), 400, "everything", "stopped")
    is_problem(statistics(api, repeated, format="xlsx"), 400, "csv")


def test_many_runs_take_no_more_queries_than_a_few(api, arena, django_assert_max_num_queries):
    experiment = arena()
    for seed in range(12):
        judged(ended(experiment, seed), "A", 10, 30)

    with django_assert_max_num_queries(11):
        assert len(statistics(api, experiment).json()["counted"]) == 12
