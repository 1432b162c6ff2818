"""Pages of budgets: all of the lab, those of an experiment, those of a project."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Project, User
from accounts.people import for_admins, person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.lab.budgets import budgeting
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.budgets.budgeting import MOST_DOLLARS, MOST_TOKENS, Subject
from experiments.models import Budget, Experiment


class BudgetForm(forms.Form):
    """Limits of an experiment's budget; an empty field is no limit of that kind."""

    cost = forms.DecimalField(label=gettext_lazy("US dollars"), required=False, min_value=0, max_value=MOST_DOLLARS)
    tokens = forms.IntegerField(label=gettext_lazy("Tokens"), required=False, min_value=0, max_value=MOST_TOKENS)
    period = forms.ChoiceField(label=gettext_lazy("Period"), choices=Budget.Period.choices, initial=Budget.Period.TOTAL)
    allows_unknown_prices = forms.BooleanField(label=gettext_lazy("Allow unknown prices"), required=False)


class LabBudgetForm(BudgetForm):
    """For a person, a project, or an experiment that has a budget, chosen by name."""

    subject = forms.ChoiceField(label=gettext_lazy("For"))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        people = User.objects.filter(is_active=True).order_by("username").values_list("pk", "username")
        projects = Project.objects.filter(archived=False).values_list("pk", "name")
        limited = Experiment.objects.filter(budgets__active=True).distinct().values_list("pk", "title")
        groups: list[Any] = [
            (gettext_lazy("People"), [(f"person:{pk}", name) for pk, name in people]),
            (gettext_lazy("Projects"), [(f"project:{pk}", name) for pk, name in projects]),
            (gettext_lazy("Experiments with a budget"), [(f"experiment:{pk}", title) for pk, title in limited]),
        ]
        self.fields["subject"].choices = [group for group in groups if group[1]]  # type: ignore[attr-defined]  # a choice field, which Django types as any field

    @property
    def chosen(self) -> Subject:
        """The row that was chosen; it was among those offered."""
        kind, _colon, pk = str(self.cleaned_data["subject"]).partition(":")
        if kind == "person":
            return User.objects.get(pk=int(pk))
        return (Project if kind == "project" else Experiment).objects.get(pk=UUID(pk))


def initial_of(budget: Budget) -> dict[str, object]:
    """A budget as the form shows it."""
    cost = None if budget.cost_limit is None else f"{budget.cost_limit:f}".rstrip("0").rstrip(".")
    limits = {"cost": cost, "tokens": budget.token_limit, "period": budget.period}
    subject = f"{budget.kind}:{budget.subject.pk}"
    return {**limits, "subject": subject, "allows_unknown_prices": budget.allows_unknown_prices}


@for_admins
def budgets(request: HttpRequest) -> HttpResponse:
    """All budgets of the lab, for its administrators; with a form to set one for a person or a project."""
    initial: dict[str, object] = {}
    with suppress(ValueError):  # `?change=` names the budget that is to be changed
        shown = Budget.objects.active().filter(pk=UUID(request.GET.get("change", ""))).first()
        initial = initial_of(shown) if shown else {}
    form = LabBudgetForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid() and _set(request, form, lambda: form.chosen):
        return redirect("budgets")
    rows = budget_standing.standings(Budget.objects.active())
    context = {"form": form, "standings": sorted(rows, key=lambda one: (-one.share, one.name))}
    return render(request, "budgets/budgets.html", context, status=status_of(form))


@login_required
@require_POST
def experiment_budget(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Set what an experiment may spend."""
    shown = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
    form = BudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    elif not _set(request, form, lambda: shown):
        messages.error(request, " ".join(map(str, form.non_field_errors())))
    return redirect("experiment", pk=shown.pk)


@login_required
@require_POST
def budget_remove(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Remove a budget; its experiment's page, or the list, follows."""
    shown = get_object_or_404(Budget.objects.active().visible_to(request.user), pk=pk)
    elsewhere = "budgets" if person(request).role == User.Role.ADMIN else "home"
    page = reverse("experiment", args=[shown.experiment_id]) if shown.experiment_id else elsewhere
    back_to(request, page)
    budgeting.remove_budget(shown, by=person(request))
    messages.success(request, _("The budget is removed."))
    return redirect(page)


def of_experiment(experiment: Experiment, request: HttpRequest) -> dict[str, object]:
    """For `budgets/_of_experiment.html`: every budget that applies, and the form where it may be set. Whoever may only
    look at the experiment is not told what its people may spend.
    """
    if not Experiment.objects.changeable_by(request.user).filter(pk=experiment.pk).exists():
        if not budgeting.may_set(experiment, request.user):
            return {"budgets": [], "budget_form": None}
        shown = []
    else:
        shown = budget_standing.of_experiment(experiment)
    own = next((one.budget for one in shown if one.budget.experiment_id), None)
    may_set = budgeting.may_set(experiment, request.user, own)
    form = BudgetForm(initial=initial_of(own) if own else None) if may_set else None
    return {"budgets": shown, "budget_form": form, "own_budget": own}


def of_project(project: Project, request: HttpRequest) -> dict[str, object]:
    """For `budgets/_of_project.html`: the project's own budgets, and those of its experiments that one may look at."""
    own = Budget.objects.active().filter(project=project)
    visible = Experiment.objects.visible_to(request.user).filter(project=project).values("pk")
    of_its_experiments = Budget.objects.active().filter(experiment__in=visible)
    if not Project.objects.visible_to(request.user).filter(pk=project.pk).exists():
        own, of_its_experiments = own.visible_to(request.user), of_its_experiments.visible_to(request.user)
    shown = budget_standing.standings(own | of_its_experiments)
    return {"budgets": sorted(shown, key=lambda one: (one.budget.project_id is None, -one.share, one.name))}


@login_required
@require_GET
def project_budgets(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What a project may spend, and what its experiments may."""
    project = get_object_or_404(Project.objects.open_to(person(request)), pk=pk)
    return render(request, "budgets/of_project.html", {"project": project, **of_project(project, request)})


def _set(request: HttpRequest, form: BudgetForm, subject: Callable[[], Subject]) -> bool:
    """False when it was refused: the form says why."""
    given = {name: value for name, value in form.cleaned_data.items() if name != "subject"}
    with ShownIn(form):
        budgeting.set_budget(subject(), by=person(request), **given)
        messages.success(request, _("The budget is set. Runs in progress use it within seconds."))
        return True
    return False
