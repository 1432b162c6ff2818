"""Budgets, prices of which they are spent, and what tests say of their accounts."""

from decimal import Decimal
from typing import Any

import pytest

from accounts.models import Membership, Project
from experiments.lab.budgets import budgeting
from experiments.lab.budgets import checks as budget_checks
from experiments.models import Budget, BudgetPeriod, ModelPrice, ProviderModel
from tests.fixtures import PASSWORD
from tests.making import maker

INPUT, OUTPUT = Decimal("0.000002"), Decimal("0.000004")


@pytest.fixture
def lena(db: None, django_user_model: Any) -> Any:
    return django_user_model.objects.create_user("lena", password=PASSWORD)


@pytest.fixture
def project(alice: Any, lena: Any) -> Project:
    """Alice belongs to it, Lena leads it."""
    made = Project.objects.create(name="Panels")
    for person, role in ((alice, "member"), (lena, "lead")):
        Membership.objects.create(project=made, user=person, role=role)
    return made


@maker
def priced(provider: Any, /) -> None:
    """Gives every model that is there by now its price."""
    for model in ProviderModel.objects.filter(prices=None):
        ModelPrice.objects.create(model=model, since="2026-01-01T00:00Z", input=INPUT, output=OUTPUT)


@maker
def allow(admin: Any, /, subject: Any, cost: Any = None, **more: Any) -> Budget:
    return budgeting.set_budget(subject, by=admin, cost=None if cost is None else Decimal(str(cost)), **more)


def account(budget: Budget) -> BudgetPeriod:
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
