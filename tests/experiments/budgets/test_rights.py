"""Who sees budgets, who sets them, and what the record says of it."""

from decimal import Decimal

import pytest

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry
from experiments.lab.budgets import budgeting
from experiments.models import Budget, Experiment
from tests.cases import each_case
from tests.fixtures import signed_in

ONE = Decimal(1)


@pytest.fixture
def experiment(arena, project):
    made = arena()
    Experiment.objects.filter(pk=made.pk).update(project=project, visibility="project")
    made.refresh_from_db()
    return made


def test_admins_set_every_budget_and_the_record_tells_before_and_after(admin, alice, project, experiment):
    for subject in (alice, project, experiment):
        budgeting.set_budget(subject, by=admin, cost=ONE)
    budget = budgeting.set_budget(alice, by=admin, cost=Decimal("2.5"), tokens=7)
    assert budgeting.remove_budget(budget, by=admin) is True
    assert budgeting.remove_budget(budget, by=admin) is False

    removed, changed, *_first = AuditEntry.objects.filter(action="budget_changed")
    assert (changed.detail["before"]["cost"], changed.detail["after"]["cost"]) == ("1", "2.5")
    assert (changed.detail["after"]["tokens"], changed.actor, changed.target) == (7, "ada", f"budget:{budget.pk}")
    assert removed.detail["after"] is None
    assert Budget.objects.filter(person=alice).count() == 1
    admin.is_active = False
    assert not budgeting.may_set(alice, admin)


def test_a_lead_sets_those_of_the_projects_experiments_and_no_others(lena, alice, project, experiment, arena):
    assert budgeting.set_budget(experiment, by=lena, cost=ONE).created_by == lena
    for subject in (alice, lena, project, arena()):
        with pytest.raises(Forbidden):
            budgeting.set_budget(subject, by=lena, cost=ONE)
    for subject in (alice, project):
        with pytest.raises(Forbidden, match="Only administrators"):
            budgeting.set_budget(subject, by=alice, cost=ONE)


def test_an_owner_sets_their_own_unless_somebody_above_has(lena, alice, experiment):
    budgeting.set_budget(experiment, by=alice, cost=ONE)
    budget = budgeting.set_budget(experiment, by=lena, cost=ONE)

    with pytest.raises(Forbidden):
        budgeting.set_budget(experiment, by=alice, cost=Decimal(100))
    with pytest.raises(Forbidden):
        budgeting.remove_budget(budget, by=alice)

    budgeting.remove_budget(budget, by=lena)
    assert budgeting.set_budget(experiment, by=alice, cost=ONE).active


@each_case(
    "limits",
    [{}, {"cost": Decimal(-1)}, {"cost": Decimal("NaN")}, {"tokens": -1}, {"cost": ONE, "period": "year"}],
    ids=["none", "negative", "no number", "negative tokens", "no such period"],
)
def test_limits_that_are_none_are_refused(admin, alice, limits):
    with pytest.raises(Invalid):
        budgeting.set_budget(alice, by=admin, **limits)


def test_somebody_who_may_only_look_on_is_not_told_what_others_may_spend(alice, charlie, admin, experiment):
    Experiment.objects.filter(pk=experiment.pk).update(visibility="lab")
    budgeting.set_budget(experiment, by=admin, cost=Decimal("12.34"))

    assert "12.34" in signed_in(alice).get(f"/experiments/{experiment.pk}/").content.decode()
    page = signed_in(charlie).get(f"/experiments/{experiment.pk}/")
    assert page.status_code == 200
    assert "12.34" not in page.content.decode()


def test_the_api_sets_lists_and_removes(alice, admin, project, experiment):
    browser = signed_in(admin)

    def put(**body):
        return browser.put("/api/budgets/", body, content_type="application/json").status_code

    subjects = {"person": "alice", "project": str(project.pk), "experiment": str(experiment.pk)}
    assert [put(**{kind: name}, cost="1.5", period="month") for kind, name in subjects.items()] == [200] * 3
    listed = browser.get("/api/budgets/").json()["results"]

    assert {(one["kind"], one["period"], Decimal(one["cost"]["left"])) for one in listed} == {
        (kind, "month", Decimal("1.5")) for kind in subjects
    }
    assert [one["kind"] for one in signed_in(alice).get("/api/budgets/").json()["results"]] == list(subjects)
    for one in listed:
        assert browser.delete(f"/api/budgets/{one['id']}/").status_code == 204
    assert browser.get("/api/budgets/").json()["results"] == []
    assert (put(person="alice", project=str(project.pk), cost="1"), put(person="alice")) == (400, 400)
