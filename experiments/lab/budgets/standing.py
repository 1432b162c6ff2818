"""What is spent, set aside and left of budgets now, in a fixed number of queries, and the sentences about it: what is
left, whom to ask for more, and whether what is about to be started could come to more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Membership, User
from accounts.people import person
from experiments.engine.reservations import administrators, applying
from experiments.models import Budget, BudgetPeriod, Experiment
from experiments.models.budget import SUBJECTS
from experiments.runs.sharing.sharing import chosen_project
from experiments.tasks import clock

NAMES = {
    ("person", "total"): gettext_lazy("the budget of %(name)s"),
    ("person", "month"): gettext_lazy("the monthly budget of %(name)s"),
    ("person", "day"): gettext_lazy("the daily budget of %(name)s"),
    ("project", "total"): gettext_lazy("the budget of project %(name)s"),
    ("project", "month"): gettext_lazy("the monthly budget of project %(name)s"),
    ("project", "day"): gettext_lazy("the daily budget of project %(name)s"),
    ("experiment", "total"): gettext_lazy("the budget of experiment %(name)s"),
    ("experiment", "month"): gettext_lazy("the monthly budget of experiment %(name)s"),
    ("experiment", "day"): gettext_lazy("the daily budget of experiment %(name)s"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """Money or tokens of a budget: spent, set aside and left; left may be below zero. All of one unit."""

    limit: Any
    spent: Any
    reserved: Any

    @property
    def left(self) -> Any:
        return self.limit - self.spent - self.reserved

    @property
    def is_used_up(self) -> bool:
        return bool(self.left <= 0)

    @property
    def share(self) -> float:
        """Of what may be spent: how much is gone, from 0 to 1."""
        return 1.0 if not self.limit else min(1.0, float((self.spent + self.reserved) / self.limit))

    @property
    def percents(self) -> tuple[float, float]:
        """Widths of a bar: what is spent, and what is set aside, of a hundred."""
        if not self.limit:
            return 100.0, 0.0
        spent = min(100.0, round(float(100 * self.spent / self.limit), 2))
        return spent, round(min(100 - spent, float(100 * self.reserved / self.limit)), 2)


@dataclass(frozen=True, slots=True)
class Standing:
    """A budget with its account of the period under way. cost and tokens: None where it has no such limit. asked: who
    decides on it beside the administrators; admins: their names, where only they decide.
    """

    budget: Budget
    cost: Part | None
    tokens: Part | None
    ends: datetime | None
    asked: Sequence[str]
    admins: Sequence[str] = ()

    @property
    def name(self) -> str:
        """As it stands inside a sentence."""
        return name_of(self.budget.kind, self.budget.period, str(self.budget.subject))

    @property
    def left(self) -> str:
        cost = None if self.cost is None else self.cost.left
        return both(cost, None if self.tokens is None else self.tokens.left)

    @property
    def whom(self) -> str:
        return whom_to_ask(self.asked, self.admins)

    @property
    def is_used_up(self) -> bool:
        return any(part.is_used_up for part in (self.cost, self.tokens) if part)

    @property
    def share(self) -> float:
        return max(part.share for part in (self.cost, self.tokens) if part)


def of_experiment(experiment: Experiment) -> list[Standing]:
    """Every budget that the calls of an experiment count against, the tightest first."""
    keys = [one.pk for one in applying(experiment.pk)]
    found = standings(Budget.objects.filter(pk__in=keys)) if keys else []
    return sorted(found, key=lambda one: (-one.share, str(one.budget.pk)))


def standings(budgets: QuerySet[Budget]) -> list[Standing]:
    now = clock.now()
    rows = list(budgets.select_related(*SUBJECTS, "created_by"))
    periods = BudgetPeriod.objects.filter(budget__in=rows, begins__in={row.begins(now) for row in rows})
    accounts = {(one.budget_id, one.begins): one for one in periods} if rows else {}
    leads = _leads(rows)
    admins = administrators() if any(row.experiment is None for row in rows) else []
    found = []
    for row in rows:
        account = accounts.get((row.pk, row.begins(now))) or BudgetPeriod(budget=row, begins=row.begins(now))
        cost, tokens = row.cost_limit, row.token_limit
        spent, taken = account.cost_earlier + account.cost_spent, account.tokens_earlier + account.tokens_spent
        asked: list[str] = []
        if row.experiment:
            who_set_it = [row.created_by.get_username()] if row.created_by else []
            asked = list(dict.fromkeys([*leads.get(row.experiment.project_id, []), *who_set_it]))
        found.append(
            Standing(
                row,
                None if cost is None else Part(cost, spent, account.cost_reserved),
                None if tokens is None else Part(Decimal(tokens), Decimal(taken), Decimal(account.tokens_reserved)),
                row.ends(now),
                asked,
                [] if row.experiment else admins,
            )
        )
    return found


def _leads(budgets: Iterable[Budget]) -> dict[Any, list[str]]:
    """Names of the leads by project, of all at once."""
    projects = {one.experiment.project_id for one in budgets if one.experiment and one.experiment.project_id}
    found: dict[Any, list[str]] = {}
    if projects:
        rows = Membership.objects.filter(project__in=projects, role=Membership.Role.LEAD, user__is_active=True)
        for project, name in rows.order_by("user__username").values_list("project_id", "user__username"):
            found.setdefault(project, []).append(name)
    return found


def name_of(kind: str, period: str, name: str) -> str:
    """The budget as it stands inside a sentence."""
    return str(NAMES[kind, period]) % {"name": name}


def dollars(amount: Decimal | str) -> str:
    """Precise where they are few: $12.50, $0.0042. What is overspent is nothing left."""
    value = max(Decimal(amount), Decimal(0))
    return f"${value:,.2f}" if value >= 1 or not value else f"${value:.4f}"


def both(cost: Decimal | str | None, tokens: int | None) -> str:
    """An amount of money, of tokens, or of both."""
    if cost is None:
        return _("%(n)s tokens") % {"n": f"{max(tokens or 0, 0):,}"}
    if tokens is None:
        return dollars(cost)
    return _("%(cost)s and %(n)s tokens") % {"cost": dollars(cost), "n": f"{max(tokens, 0):,}"}


def whom_to_ask(names: Sequence[str], admins: Sequence[str] = ()) -> str:
    """names: who decides beside the administrators. admins: their names, where only they decide."""
    if admins:
        return _("Ask an administrator (%(names)s) to raise it.") % {"names": ", ".join(admins)}
    if not names:
        return _("Ask an administrator to raise it.")
    return _("Ask %(names)s or an administrator to raise it.") % {"names": ", ".join(names)}


def reached(told: Mapping[str, Any]) -> str:
    """Why a run was stopped, from what its last event tells of the budget."""
    name = name_of(told["kind"], told["period"], told["name"])
    whom = ([], told["admins"]) if told.get("admins") else (told["ask"],)
    if told["is_unpriced"]:
        why = _("The price of the next model is unknown, and %(budget)s allows known prices only.")
        return f"{why % {'budget': name}} {whom_to_allow(*whom)}"
    left = both(told["cost_left"], told["tokens_left"])
    needed = both(
        told["cost"] if told["cost_left"] is not None else None,
        told["tokens"] if told["tokens_left"] is not None else None,
    )
    why = _("The next call could cost up to %(needed)s; %(budget)s has %(left)s left.")
    said = why % {"needed": needed, "left": left, "budget": name}
    return f"{said} {whom_to_ask(*whom)} {_('After that, Resume goes on from here.')}"


def whom_to_allow(names: Sequence[str], admins: Sequence[str] = ()) -> str:
    if admins:
        return _("Ask an administrator (%(names)s) to allow unknown prices there.") % {"names": ", ".join(admins)}
    if not names:
        return _("Ask an administrator to allow unknown prices there.")
    return _("Ask %(names)s or an administrator to allow unknown prices there.") % {"names": ", ".join(names)}


@dataclass(frozen=True, slots=True)
class Most:
    """What is about to be started could come to at most; None where that is not known. unpriced: models
    without a known price.
    """

    cost: Decimal | None = None
    tokens: int | None = None
    unpriced: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """level: ok, warning (it may be stopped on its way), or refusal (it would not be started)."""

    level: str
    words: str


def for_person(who: User, most: Most, project_id: Any = None) -> list[Note]:
    """Of an experiment that is only being set up."""
    return [_note(one, most) for one in standings(Budget.objects.applying_to(person_id=who.pk, project_id=project_id))]


def beside(request: HttpRequest, estimate: Any) -> list[Note]:
    """Beside the estimate of a set-up form, for the project that is chosen there; there is no estimate while the form
    is not complete.
    """
    most = getattr(estimate, "most", None)
    unpriced = tuple(getattr(estimate, "unpriced", ()))
    whole = Most(most.cost, most.tokens, unpriced) if most else Most(unpriced=unpriced)
    return for_person(person(request), whole, chosen_project(request) or None)


def _note(standing: Standing, most: Most) -> Note:
    if standing.is_used_up:
        words = _("Nothing is left of %(budget)s. This would not start.") % {"budget": standing.name}
        return Note("refusal", f"{words} {standing.whom}")
    if standing.cost and most.unpriced and not standing.budget.allows_unknown_prices:
        words = _("The price of %(models)s is unknown, and %(budget)s allows known prices only.")
        said = words % {"models": ", ".join(most.unpriced), "budget": standing.name}
        return Note("refusal", f"{said} {whom_to_allow(standing.asked, standing.admins)}")
    left = _("Left of %(budget)s: %(left)s.") % {"left": standing.left, "budget": standing.name}
    cost = most.cost if standing.cost and most.cost is not None and most.cost > standing.cost.left else None
    tokens = most.tokens if standing.tokens and most.tokens is not None and most.tokens > standing.tokens.left else None
    if cost is not None or tokens is not None:
        words = _("This could take up to %(needed)s.") % {"needed": both(cost, tokens)}
        return Note("warning", f"{words} {left} {standing.whom}")
    return Note("ok", left)
