"""What tests say of the accounts of budgets."""

from decimal import Decimal
from typing import Any

from experiments.budgets import checks as budget_checks
from experiments.models import Budget, BudgetPeriod


def account(budget: Budget) -> BudgetPeriod:
    """Its latest one."""
    return budget.periods.latest("begins")


def spent(budget: Budget) -> Decimal:
    found = account(budget)
    return found.cost_earlier + found.cost_spent


def assert_right(*budgets: Budget) -> None:
    """Counters equal the sums over the calls, nothing is set aside any more, and no limit is passed."""
    assert budget_checks.check() == []
    for budget in budgets:
        found = account(budget)
        assert (found.cost_reserved, found.tokens_reserved) == (0, 0)
        assert found.cost_left(budget.cost_limit) is None or found.cost_left(budget.cost_limit) >= 0
        assert found.tokens_left(budget.token_limit) is None or found.tokens_left(budget.token_limit) >= 0


def paid(run: Any) -> list[str]:
    """The keys of what was asked in a run, one for each call."""
    return list(run.calls.order_by("sent", "id").values_list("step__key", flat=True))
