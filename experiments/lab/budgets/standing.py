"""Where budgets stand now: what is spent, set aside and left of each, in a fixed number of queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from accounts.models import Membership
from experiments.engine.reservations import administrators, applying
from experiments.lab.budgets.words import both, name_of, whom_to_ask
from experiments.models import Budget, BudgetPeriod, Experiment
from experiments.models.budget import SUBJECTS
from experiments.tasks import clock


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
    decides on it beside the administrators; admins: they themselves, where nobody else does.
    """

    budget: Budget
    cost: Part | None
    tokens: Part | None
    ends: datetime | None
    asked: Sequence[str]
    admins: Sequence[str] = ()

    @property
    def name(self) -> str:
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
    return sorted(standings(Budget.objects.filter(pk__in=[one.pk for one in applying(experiment.pk)])), key=_tightness)


def before_start(person_id: Any, project_id: Any = None) -> list[Standing]:
    """Those that would apply to an experiment that is only being set up."""
    return standings(Budget.objects.applying_to(person_id=person_id, project_id=project_id))


def standings(budgets: QuerySet[Budget]) -> list[Standing]:
    now = clock.now()
    rows = list(budgets.select_related(*SUBJECTS, "created_by"))
    periods = BudgetPeriod.objects.filter(budget__in=rows, begins__in={row.begins(now) for row in rows})
    accounts = {(one.budget_id, one.begins): one for one in periods} if rows else {}
    leads = _leads(rows)
    admins = administrators() if any(row.experiment is None for row in rows) else []
    return [_standing(row, accounts.get((row.pk, row.begins(now))), now, leads, admins) for row in rows]


def _standing(
    budget: Budget, found: BudgetPeriod | None, now: datetime, leads: dict[Any, list[str]], admins: list[str]
) -> Standing:
    account = found or BudgetPeriod(budget=budget, begins=budget.begins(now))
    cost, tokens = budget.cost_limit, budget.token_limit
    spent, taken = account.cost_earlier + account.cost_spent, account.tokens_earlier + account.tokens_spent
    return Standing(
        budget,
        None if cost is None else Part(cost, spent, account.cost_reserved),
        None if tokens is None else Part(Decimal(tokens), Decimal(taken), Decimal(account.tokens_reserved)),
        budget.ends(now),
        _asked(budget, leads),
        admins if budget.experiment is None else [],
    )


def _asked(budget: Budget, leads: dict[Any, list[str]]) -> list[str]:
    if budget.experiment is None:
        return []
    who_set_it = [budget.created_by.get_username()] if budget.created_by else []
    return list(dict.fromkeys([*leads.get(budget.experiment.project_id, []), *who_set_it]))


def _leads(budgets: Iterable[Budget]) -> dict[Any, list[str]]:
    """Names of the leads by project, of all at once."""
    projects = {one.experiment.project_id for one in budgets if one.experiment and one.experiment.project_id}
    found: dict[Any, list[str]] = {}
    if projects:
        rows = Membership.objects.filter(project__in=projects, role=Membership.Role.LEAD, user__is_active=True)
        for project, name in rows.order_by("user__username").values_list("project_id", "user__username"):
            found.setdefault(project, []).append(name)
    return found


def _tightness(standing: Standing) -> tuple[float, str]:
    return -standing.share, str(standing.budget.pk)
