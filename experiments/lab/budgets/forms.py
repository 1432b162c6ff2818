"""The forms with which budgets are set."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from experiments.lab.budgets.budgeting import MOST_DOLLARS, MOST_TOKENS, Subject
from experiments.models import Budget, Experiment


class BudgetForm(forms.Form):
    """Limits of an experiment's budget; an empty field is no limit of that kind."""

    cost = forms.DecimalField(label=_("US dollars"), required=False, min_value=0, max_value=MOST_DOLLARS)
    tokens = forms.IntegerField(label=_("Tokens"), required=False, min_value=0, max_value=MOST_TOKENS)
    period = forms.ChoiceField(label=_("Period"), choices=Budget.Period.choices, initial=Budget.Period.TOTAL)
    allows_unknown_prices = forms.BooleanField(label=_("Allow unknown prices"), required=False)


class LabBudgetForm(BudgetForm):
    """For a person, a project, or an experiment that has a budget, chosen by name."""

    subject = forms.ChoiceField(label=_("For"))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        people = User.objects.filter(is_active=True).order_by("username").values_list("pk", "username")
        projects = Project.objects.filter(archived=False).values_list("pk", "name")
        limited = Experiment.objects.filter(budgets__active=True).distinct().values_list("pk", "title")
        groups: list[Any] = [
            (_("People"), [(f"person:{pk}", name) for pk, name in people]),
            (_("Projects"), [(f"project:{pk}", name) for pk, name in projects]),
            (_("Experiments with a budget"), [(f"experiment:{pk}", title) for pk, title in limited]),
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
