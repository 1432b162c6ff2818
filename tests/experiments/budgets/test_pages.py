"""Budgets on pages: the list, the experiment's own, what stands beside Start and in the status bar."""

from decimal import Decimal
from types import SimpleNamespace

from django.test import RequestFactory

from experiments.lab.budgets import standing as budget_standing
from experiments.lab.budgets import views as budget_views
from experiments.lab.budgets.standing import Most
from experiments.models import Budget, BudgetPeriod, Experiment
from tests.cases import each_case
from tests.fixtures import signed_in
from tests.markup import squeezed


def use(budget, **amounts):
    BudgetPeriod.objects.filter(budget=budget).update(**{name: Decimal(amount) for name, amount in amounts.items()})


def test_the_list_shows_where_every_budget_stands(admin, alice, project, allow):
    use(allow(alice, 10, period="month"), cost_spent="2.5", cost_reserved="1")
    allow(project, tokens=5000)

    page = squeezed(signed_in(admin).get("/lab/budgets/").content.decode())

    assert "<b>$2.50</b>of $10.00 spent, $1.00 set aside · $6.50 left" in page
    assert "<b>0</b>of 5,000 tokens spent" in page


def test_many_budgets_take_three_queries(admin, alice, charlie, project, allow, django_assert_max_num_queries):
    for subject in (alice, charlie, admin, project):
        for period in ("total", "month", "day"):
            allow(subject, 1, period=period)
    with django_assert_max_num_queries(3):
        assert len(budget_standing.standings(Budget.objects.active())) == 12


def test_an_admin_sets_changes_and_removes_on_the_page(admin, alice):
    browser = signed_in(admin)
    sent = {"subject": f"person:{alice.pk}", "cost": "3", "period": "day"}
    assert browser.post("/lab/budgets/", sent).status_code == 302
    budget = Budget.objects.get()
    assert (budget.person, budget.cost_limit, budget.period) == (alice, 3, "day")

    form = browser.get(f"/lab/budgets/?change={budget.pk}").context["form"]
    assert (form["cost"].value(), form["period"].value()) == ("3", "day")
    assert browser.post("/lab/budgets/", {**sent, "cost": ""}).status_code == 422
    assert browser.post(f"/lab/budgets/{budget.pk}/remove/").status_code == 302
    assert not Budget.objects.active().exists()


def test_an_owner_sets_their_experiments_budget_on_its_page(alice, arena):
    experiment = arena()
    browser = signed_in(alice)

    browser.post(f"/experiments/{experiment.pk}/budget/", {"cost": "4", "period": "total"})

    assert Budget.objects.get().experiment == experiment
    page = browser.get(f"/experiments/{experiment.pk}/").content.decode()
    assert "of $4.00 spent" in page
    assert "Change this experiment" in page


@each_case(
    ("spent", "most", "level", "words"),
    [
        ("0", Most(Decimal("0.5")), "ok", "Left of the budget of alice: $1.00."),
        ("0.9", Most(Decimal("0.5")), "warning", "could take up to $0.5000. Left of the budget of alice: $0.1000."),
        ("1", Most(Decimal("0.5")), "refusal", "Nothing is left of the budget of alice"),
        ("0", Most(unpriced=["Echo"]), "refusal", "The price of Echo is unknown"),
        ("0", Most(), "ok", "Left of"),
        ("0.5", Most(Decimal("0.5")), "ok", "Left of the budget of alice: $0.5000."),
    ],
)
def test_what_stands_beside_start(alice, allow, spent, most, level, words):
    use(allow(alice, 1), cost_spent=spent)

    [note] = budget_standing.for_person(alice, most)

    assert note.level == level
    assert words in note.words
    request = RequestFactory().get("/")
    request.user = alice
    assert budget_standing.beside(request, SimpleNamespace(most=most, unpriced=most.unpriced)) == [note]


@each_case("page", ["arena", "council", "debate", "coding", "starchamber"])
def test_every_set_up_page_says_what_is_left(alice, provider, allow, page):
    use(allow(alice, 1), cost_spent="1")

    assert "Nothing is left of the budget of alice" in signed_in(alice).get(f"/{page}/").content.decode()


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


def test_the_status_bar_shows_the_tightest_budget_to_whoever_steers(arena, played, alice, charlie, allow):
    run = played(max_turns=1)
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="lab")
    allow(alice, 50)
    use(allow(run.experiment, 3), cost_spent="2.25", cost_earlier="0")

    assert "$0.7500 left" in signed_in(alice).get(f"/runs/{run.pk}/status/").content.decode()
    assert "left" not in signed_in(charlie).get(f"/runs/{run.pk}/status/").content.decode().partition("fact-cost")[2]


def test_the_partial_of_a_project_shows_its_own_and_its_experiments_budgets(alice, lena, project, arena, allow):
    hidden, shown = arena(), arena()
    Experiment.objects.filter(pk=hidden.pk).update(project=project)
    Experiment.objects.filter(pk=shown.pk).update(project=project, visibility="project")
    for subject in (project, hidden, shown):
        allow(subject, 1)
    request = RequestFactory().get("/")
    request.user = lena

    found = budget_views.of_project(project, request)["budgets"]

    assert [one.budget.subject for one in found] == [project, shown]
