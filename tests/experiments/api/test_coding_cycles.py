"""Cycles and executions read over HTTP, and which cycles count."""

import pytest

from accounts.tokens import create_token
from experiments.models import Cycle
from tests.experiments import contest_rows
from tests.experiments.api.conftest import Api
from tests.experiments.api.test_records import rows
from tests.experiments.contest_rows import votes_of

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


@pytest.fixture
def run(alice):
    """Four cycles of Alice's: a judge without a vote, a solver without a solution, one without a problem."""
    made = contest_rows.contest(alice, 1)
    made.cycle(votes_of((1, 2)), passed={4: 3})
    made.cycle(silent=(3,))
    made.void_cycle("It repeats an earlier problem.")
    return made.run


@pytest.fixture
def keepers(django_user_model):
    return Api(create_token(django_user_model.objects.create(username="curator", role="curator")))


def test_cycles_come_in_order_with_their_votes(api, run):
    found = rows(api, run, "cycles")

    assert [(one["turn"], one["state"], one["counts"]) for one in found] == [
        (1, "rated", True),
        (2, "rated", True),
        (3, "rated", True),
        (4, "void", False),
    ]
    assert found[0]["contestants"][0] == {"seat": "coder-1", "model": "lab/coder-1"}
    assert set(found[1]["votes"]["coder-1"]) == {"coder-3", "coder-4"}
    assert found[1]["passed"]["coder-4"] == 0.3
    assert "coder-3" not in found[2]["means"]
    assert found[2]["unrated"]["coder-3"].startswith("It gave no solution.")
    assert (found[3]["reason"], found[3]["overall"], found[3]["votes"]) == ("It repeats an earlier problem.", None, {})


def test_a_cycle_is_told_with_everything_that_was_found(api, run):
    found = api.get(f"runs/{run.pk}/cycles/2/").json()

    assert found["problem"]["entry"] == "spread"
    assert len(found["problem"]["hidden"]) == 5
    assert [one["seat"] for one in found["solutions"]] == ["coder-1", "coder-2", "coder-3", "coder-4"]
    assert "max(values)" in found["solutions"][0]["code"]
    assert {one["purpose"] for one in found["executions"]} == {"check", "execution"}
    missing = [one for one in found["judgments"] if one["scores"] is None]
    assert [(one["judge_seat"], one["subject"]) for one in missing] == [("coder-2", "coder-1")]
    assert missing[0]["unscored_reason"]
    assert len(found["judgments"]) == 12
    assert set(found["after"]["compatible"]) == {f"lab/coder-{n}" for n in range(1, 5)}
    silent = api.get(f"runs/{run.pk}/cycles/3/").json()["solutions"][2]
    assert (silent["code"], silent["reason"]) == (None, "It gave no solution. The provider is overloaded.")
    void = api.get(f"runs/{run.pk}/cycles/4/").json()
    assert (void["problem"], void["after"]) == (None, None)
    assert api.get(f"runs/{run.pk}/cycles/5/").status_code == 404


def test_executions_come_as_they_were_asked_for(api, run):
    found = rows(api, run, "executions")

    assert [one["key"] for one in found[:3]] == [
        "cycle/1/check/reference",
        "cycle/1/execution/coder-1",
        "cycle/1/execution/coder-2",
    ]
    fourth = next(one for one in found if one["key"] == "cycle/2/execution/coder-4")
    assert (fourth["passed"], len(fourth["results"]), fourth["is_unsafe"]) == (3, 10, False)
    assert fourth["results"][9]["verdict"] == "failed"


def test_more_rows_take_no_more_queries(api, run, alice, django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        api.get(f"runs/{run.pk}/cycles/")
    with django_assert_max_num_queries(8):
        api.get(f"runs/{run.pk}/executions/")
    with django_assert_max_num_queries(16):
        api.get(f"runs/{run.pk}/cycles/1/")


def test_a_curator_leaves_a_cycle_out_and_takes_it_in_again(api, keepers, run, is_problem):
    cycle = Cycle.objects.get(run=run, turn=2)

    left = keepers.post(f"cycles/{cycle.pk}/void/", {"reason": "Two answers were right."}).json()
    assert (left["counts"], left["void_reason"], left["voided_by"]) == (False, "Two answers were right.", "curator")
    is_problem(keepers.post(f"cycles/{cycle.pk}/void/", {"reason": "Again."}), 409, "already")
    assert api.get(f"runs/{run.pk}/cycles/2/").json()["after"] is None
    again = keepers.post(f"cycles/{cycle.pk}/restore/").json()
    assert (again["counts"], again["void_reason"], again["voided"]) == (True, "", None)
    is_problem(keepers.post(f"cycles/{cycle.pk}/restore/"), 409, "not left out")
    deeds = api.get(f"runs/{run.pk}/cycles/2/").json()["deeds"]
    assert [(one["is_void"], one["by"], one["reason"]) for one in deeds] == [
        (True, "curator", "Two answers were right."),
        (False, "curator", ""),
    ]


def test_what_cannot_be_left_out_is_refused(keepers, run, is_problem):
    void = Cycle.objects.get(run=run, turn=4)
    rated = Cycle.objects.get(run=run, turn=1)

    is_problem(keepers.post(f"cycles/{void.pk}/void/", {"reason": "Odd."}), 400, "rated")
    is_problem(keepers.post(f"cycles/{rated.pk}/void/", {"reason": " "}), 400)
    is_problem(keepers.post(f"cycles/{rated.pk}/void/", {}), 400)
    is_problem(keepers.post(f"cycles/{rated.pk}/void/", {"reason": "x" * 301}), 400)
    is_problem(keepers.post("cycles/99999999/void/", {"reason": "Odd."}), 404)
    assert Cycle.objects.counted().count() == 3


def test_the_owner_may_not_and_a_stranger_does_not_know(api, charlies, nobodys, run, is_problem):
    cycle = Cycle.objects.get(run=run, turn=1)

    for verb in ("void", "restore"):
        is_problem(api.post(f"cycles/{cycle.pk}/{verb}/", {"reason": "I lost."}), 403, "curators")
        is_problem(charlies.post(f"cycles/{cycle.pk}/{verb}/", {"reason": "I lost."}), 404)
        assert nobodys.post(f"cycles/{cycle.pk}/{verb}/", {"reason": "I lost."}).status_code == 401
    for what in ("cycles", "cycles/1", "executions"):
        is_problem(charlies.get(f"runs/{run.pk}/{what}/"), 404)
    assert Cycle.objects.counted().count() == 3
