"""Starting runs: how many, with which seeds, and once however often the request is sent."""

import threading

import pytest
from django.db import connection

from experiments import actions
from experiments.models import IdempotentRequest, Run
from tests.cases import each_case

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(arena):
    return f"experiments/{arena().pk}/start/"


def seeds(response):
    return [run["seed"] for run in response.json()["runs"]]


def test_a_start_queues_a_run_and_answers_with_it(api, path, nobody_is_woken):
    response = api.post(path, {"seed": 7})

    [said] = response.json()["runs"]
    run = Run.objects.get()
    assert response.status_code == 201
    assert (said["id"], said["state"], said["seed"]) == (str(run.pk), "queued", 7)
    assert nobody_is_woken == [run.pk]


def test_the_body_may_be_left_out(api, path):
    response = api.client.generic("POST", f"/api/{path}", headers=api.headers)

    assert response.status_code == 201
    assert len(response.json()["runs"]) == 1


def test_repeats_get_successive_seeds(api, path, nobody_is_woken):
    response = api.post(path, {"seed": 40, "repeats": 4})

    assert seeds(response) == [40, 41, 42, 43]
    assert len(nobody_is_woken) == 4


@pytest.mark.parametrize("body", [{}, {"seed": None}])
def test_without_a_seed_each_start_draws_one(api, path, body):
    first, second = seeds(api.post(path, body)), seeds(api.post(path, body))

    assert first != second
    assert 0 <= first[0] < 2**31


@pytest.mark.databases
@pytest.mark.parametrize("seed", [0, 2**53])
def test_the_smallest_and_the_largest_seed_are_kept(api, path, seed):
    assert seeds(api.post(path, {"seed": seed, "repeats": 2})) == [seed, seed + 1]
    assert Run.objects.filter(seed=seed).count() == 1


def test_most_repeats_at_once_are_fifty(api, path):
    assert len(seeds(api.post(path, {"repeats": 50}))) == 50


def test_the_first_event_says_how_the_run_was_set_up(api, path):
    run = Run.objects.get(pk=api.post(path, {"seed": 7}).json()["runs"][0]["id"])

    event = run.events.get()
    assert (event.seq, event.type, event.data["seed"]) == (1, "experiment_created", 7)
    assert event.data["config"] == run.experiment.config
    assert [seat["seat"] for seat in event.data["cast"]] == ["A", "B", "judge", "filter"]


def test_more_live_runs_than_are_allowed_are_refused(api, arena, counts, is_problem):
    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n) for n in range(actions.MOST_LIVE_RUNS - 1))
    before = counts()

    is_problem(
        api.post(f"experiments/{experiment.pk}/start/", {"repeats": 2}, Idempotency_Key="k"), 403, "200 live runs"
    )

    assert counts() == before
    assert api.post(f"experiments/{experiment.pk}/start/", {"repeats": 1}, Idempotency_Key="k").status_code == 201


def test_runs_that_have_ended_do_not_count_as_live(api, arena):
    experiment = arena()
    ended = (Run(experiment=experiment, seed=n, state=Run.State.COMPLETED) for n in range(actions.MOST_LIVE_RUNS))
    Run.objects.bulk_create(ended)

    assert api.post(f"experiments/{experiment.pk}/start/").status_code == 201


def test_the_same_key_and_body_give_the_same_runs_and_nothing_new(api, path, counts, nobody_is_woken):
    first = api.post(path, {"seed": 5, "repeats": 3}, Idempotency_Key="key-1")
    before, woken = counts(), list(nobody_is_woken)

    again = api.post(path, {"seed": 5, "repeats": 3}, Idempotency_Key="key-1")

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert (counts(), nobody_is_woken) == (before, woken)


def test_a_repetition_without_a_seed_gets_the_seed_that_was_drawn(api, path):
    first = api.post(path, Idempotency_Key="key-1")

    assert seeds(api.post(path, Idempotency_Key="key-1")) == seeds(first)
    assert Run.objects.count() == 1


def test_a_repetition_shows_how_far_the_runs_have_come(api, path):
    api.post(path, Idempotency_Key="key-1")
    Run.objects.update(state=Run.State.COMPLETED)

    assert api.post(path, Idempotency_Key="key-1").json()["runs"][0]["state"] == "completed"


@each_case("body", [{"seed": 6}, {"seed": 5, "repeats": 2}, {}])
def test_the_same_key_with_another_body_is_a_conflict(api, path, counts, is_problem, body):
    api.post(path, {"seed": 5}, Idempotency_Key="key-1")
    before = counts()

    is_problem(api.post(path, body, Idempotency_Key="key-1"), 409, "Idempotency-Key")

    assert counts() == before


def test_the_same_key_for_another_experiment_is_a_conflict(api, path, arena, is_problem):
    api.post(path, {"seed": 5}, Idempotency_Key="key-1")

    is_problem(api.post(f"experiments/{arena().pk}/start/", {"seed": 5}, Idempotency_Key="key-1"), 409)


def test_another_key_starts_another_run(api, path):
    first = api.post(path, {"seed": 5}, Idempotency_Key="key-1")
    second = api.post(path, {"seed": 5}, Idempotency_Key="key-2")

    assert first.json()["runs"][0]["id"] != second.json()["runs"][0]["id"]


def test_without_a_key_every_request_starts_a_run(api, path):
    api.post(path, {"seed": 5})
    api.post(path, {"seed": 5})

    assert (Run.objects.count(), IdempotentRequest.objects.count()) == (2, 0)


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_two_requests_racing_with_the_same_key_start_one_run(api, path):
    answers, ready = [], threading.Barrier(4)

    def ask():
        ready.wait()
        answers.append(api.post(path, {"seed": 5}, Idempotency_Key="key-1"))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [answer.status_code for answer in answers] == [201] * 4
    assert {answer.json()["runs"][0]["id"] for answer in answers} == {str(Run.objects.get().pk)}
    assert (IdempotentRequest.objects.count(), Run.objects.get().events.count()) == (1, 1)
