"""Budgets on pages, in numbers, as a bar and in words; who sees and sets them, and what the record says of it."""

from decimal import Decimal
from itertools import product
from types import SimpleNamespace

import pytest
from django.test import RequestFactory

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry
from experiments.lab.budgets import budgeting
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.budgets import views as budget_views
from experiments.lab.budgets.standing import Most, Part, reached
from experiments.models import Budget, BudgetPeriod, Experiment
from tests.fixtures import signed_in
from tests.markup import squeezed


def use(budget, **amounts):
    BudgetPeriod.objects.filter(budget=budget).update(**{name: Decimal(amount) for name, amount in amounts.items()})


def test_the_list_shows_where_every_budget_stands_in_three_queries_and_an_admin_sets_changes_and_removes_there(
    admin, alice, charlie, project, allow, django_assert_max_num_queries
):
    use(allow(alice, 10, period="month"), cost_spent="2.5", cost_reserved="1")
    allow(project, tokens=5000)
    browser = signed_in(admin)

    page = squeezed(browser.get("/lab/budgets/").content.decode())
    assert "<b>$2.50</b>of $10.00 spent, $1.00 set aside · $6.50 left" in page
    assert "<b>0</b>of 5,000 tokens spent" in page

    sent = {"subject": f"person:{alice.pk}", "cost": "3", "period": "day"}
    assert browser.post("/lab/budgets/", sent).status_code == 302
    budget = Budget.objects.get(period="day")
    assert (budget.person, budget.cost_limit) == (alice, 3)
    form = browser.get(f"/lab/budgets/?change={budget.pk}").context["form"]
    assert (form["cost"].value(), form["period"].value()) == ("3", "day")
    assert browser.post("/lab/budgets/", {**sent, "cost": ""}).status_code == 422
    assert browser.post(f"/lab/budgets/{budget.pk}/remove/").status_code == 302
    assert not Budget.objects.active().filter(period="day").exists()
    for subject in (alice, charlie, admin, project):
        for period in ("total", "month", "day"):
            allow(subject, 1, period=period)
    with django_assert_max_num_queries(3):
        assert len(budget_standing.standings(Budget.objects.active())) == 12


def test_an_owner_sets_their_experiments_budget_on_its_page_and_it_and_the_status_bar_tell_no_others_of_it(
    alice, charlie, arena, start, allow
):
    run = start(arena())
    Experiment.objects.update(visibility="lab")
    allow(alice, 50)
    address, status = f"/experiments/{run.experiment_id}/", f"/runs/{run.pk}/status/"
    browser, other = signed_in(alice), signed_in(charlie)

    browser.post(f"{address}budget/", {"cost": "12.34", "period": "total"})

    budget = Budget.objects.get(experiment=run.experiment)
    page, others = browser.get(address).content.decode(), other.get(address)
    assert "of $12.34 spent" in page
    assert "Change this experiment" in page
    assert (others.status_code, "12.34" in others.content.decode()) == (200, False)
    use(budget, cost_spent="11.59", cost_earlier="0")
    assert "$0.7500 left" in browser.get(status).content.decode(), "of the tightest"
    assert "left" not in other.get(status).content.decode().partition("fact-cost")[2]


def asked_by(person):
    request = RequestFactory().get("/")
    request.user = person
    return request


def test_what_stands_beside_start(alice, allow):
    budget, half = allow(alice, 1), Most(Decimal("0.5"))
    for spent, most, level, words in (
        ("0", half, "ok", "Left of the budget of alice: $1.00."),
        ("0.9", half, "warning", "could take up to $0.5000. Left of the budget of alice: $0.1000."),
        ("1", half, "refusal", "Nothing is left of the budget of alice"),
        ("0", Most(unpriced=["Echo"]), "refusal", "The price of Echo is unknown"),
        ("0", Most(), "ok", "Left of"),
        ("0.5", half, "ok", "Left of the budget of alice: $0.5000."),
    ):
        use(budget, cost_spent=spent)
        [note] = budget_standing.for_person(alice, most)
        assert (note.level, words in note.words) == (level, True), note.words
        estimate = SimpleNamespace(most=most, unpriced=most.unpriced)
        assert budget_standing.beside(asked_by(alice), estimate) == [note]


def test_what_is_left_is_the_chosen_projects_and_no_affair_of_others(alice, charlie, provider, allow, project, arena):
    use(allow(project, 1), cost_spent="1")
    browser, said, chosen = signed_in(alice), "budget of project Panels", {"project": str(project.pk)}

    assert said not in browser.get("/arena/").content.decode()
    assert said in browser.post("/arena/estimate/", chosen).content.decode()
    assert said in browser.post("/starchamber/estimate/", chosen).content.decode()
    assert "Panels" not in signed_in(charlie).post("/arena/estimate/", chosen).content.decode()
    Experiment.objects.filter(pk=arena().pk).update(project=project)
    assert said in browser.get("/arena/").content.decode()
    [note] = budget_standing.for_person(alice, Most(), project.pk)
    assert "Ask an administrator (ada) to raise it." in note.words, "though Lena leads it"

    use(allow(alice, 1), cost_spent="1")
    for page in ("arena", "council", "debate", "coding", "starchamber"):
        assert "Nothing is left of the budget of alice" in browser.get(f"/{page}/").content.decode(), page


def test_the_partial_of_a_project_shows_its_own_and_its_experiments_budgets(alice, lena, project, arena, allow):
    hidden, shown = arena(), arena()
    Experiment.objects.filter(pk=hidden.pk).update(project=project)
    Experiment.objects.filter(pk=shown.pk).update(project=project, visibility="project")
    for subject in (project, hidden, shown):
        allow(subject, 1)

    found = budget_views.of_project(project, asked_by(lena))["budgets"]
    assert [one.budget.subject for one in found] == [project, shown]


def test_the_bar_shows_never_more_than_all_and_a_run_that_was_stopped_says_what_was_left_and_whom_to_ask():
    for part, left, percents in (
        (Part(200, 50, 20), 130, (25.0, 10.0)),
        (Part(200, 150, 50), 0, (75.0, 25.0)),
        (Part(200, 190, 50), -40, (95.0, 5.0)),
        (Part(200, 300, 0), -100, (100.0, 0.0)),
        (Part(0, 0, 0), 0, (100.0, 0.0)),
    ):
        assert (part.left, part.is_used_up, part.percents) == (left, left <= 0, percents)
        assert part.share == min(1.0, sum(percents) / 100)

    cost, tokens = {"cost": "12.5", "cost_left": "1"}, {"tokens": 4000, "tokens_left": 1200}
    needs = (
        ({"cost": "0.0123", "cost_left": "-2"}, ["$0.0123", "$0.00 left"]),
        (tokens, ["4,000 tokens", "1,200 tokens left"]),
        (cost | tokens, ["$12.50 and 4,000 tokens", "$1.00 and 1,200 tokens left"]),
        (cost | {"is_unpriced": True}, ["known prices"]),
    )
    usual = {"kind": "person", "period": "month", "name": "alice", "is_unpriced": False}
    usual |= dict.fromkeys(("cost", "cost_left", "tokens", "tokens_left"))
    for (needed, said), names, admins in product(needs, ([], ["lena"]), ([], ["ada"])):
        words = reached({**usual, **needed, "ask": names, "admins": admins})
        assert all(part in words for part in (*said, "monthly", "alice", "dministrator", *(admins or names))), words
        assert ("lena" in words, "ada" in words) == (bool(names and not admins), bool(admins))
        assert ("Resume" in words) == ("is_unpriced" not in needed)


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
    costs = ({"cost": Decimal(-1)}, {"cost": Decimal("NaN")}, {"cost": ONE, "period": "year"})
    for limits in ({}, {"tokens": -1}, *costs):
        with pytest.raises(Invalid):
            budgeting.set_budget(alice, by=admin, **limits)
    admin.is_active = False
    assert not budgeting.may_set(alice, admin)


def test_a_lead_sets_those_of_the_projects_experiments_and_an_owner_unless_a_lead_has(
    lena, alice, project, experiment, arena
):
    assert budgeting.set_budget(experiment, by=alice, cost=ONE).active
    budget = budgeting.set_budget(experiment, by=lena, cost=ONE)
    assert budget.created_by == lena
    for subject in (alice, lena, project, arena()):
        with pytest.raises(Forbidden):
            budgeting.set_budget(subject, by=lena, cost=ONE)
    for subject in (alice, project):
        with pytest.raises(Forbidden, match="Only administrators"):
            budgeting.set_budget(subject, by=alice, cost=ONE)
    for verb, about in ((budgeting.set_budget, experiment), (budgeting.remove_budget, budget)):
        with pytest.raises(Forbidden):
            verb(about, by=alice, **({"cost": Decimal(100)} if about is experiment else {}))

    budgeting.remove_budget(budget, by=lena)
    assert budgeting.set_budget(experiment, by=alice, cost=ONE).active


def test_the_api_sets_lists_and_removes(alice, admin, project, experiment):
    browser = signed_in(admin)

    def put(**body):
        return browser.put("/api/budgets/", body, content_type="application/json").status_code

    subjects = {"person": "alice", "project": str(project.pk), "experiment": str(experiment.pk)}
    assert [put(**{kind: name}, cost="1.5", period="month") for kind, name in subjects.items()] == [200] * 3
    listed = browser.get("/api/budgets/").json()["results"]

    found = {(one["kind"], one["period"], Decimal(one["cost"]["left"])) for one in listed}
    assert found == {(kind, "month", Decimal("1.5")) for kind in subjects}
    assert [one["kind"] for one in signed_in(alice).get("/api/budgets/").json()["results"]] == list(subjects)
    for one in listed:
        assert browser.delete(f"/api/budgets/{one['id']}/").status_code == 204
    assert browser.get("/api/budgets/").json()["results"] == []
    assert (put(person="alice", project=str(project.pk), cost="1"), put(person="alice")) == (400, 400)
