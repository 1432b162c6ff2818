"""Budgets, and prices of which they are spent."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from accounts.models import Membership, Project
from experiments.budgets import budgeting
from experiments.models import Budget, ModelPrice, ProviderModel
from tests.fixtures import PASSWORD

INPUT, OUTPUT = Decimal("0.000002"), Decimal("0.000004")


@pytest.fixture
def ada(db: None, django_user_model: Any) -> Any:
    """The administrator."""
    return django_user_model.objects.create_user("ada", password=PASSWORD, role="admin")


@pytest.fixture
def lena(db: None, django_user_model: Any) -> Any:
    """Leads the project."""
    return django_user_model.objects.create_user("lena", password=PASSWORD)


@pytest.fixture
def project(alice: Any, lena: Any) -> Project:
    """Alice belongs to it, Lena leads it."""
    made = Project.objects.create(name="Panels")
    Membership.objects.create(project=made, user=alice, role="member")
    Membership.objects.create(project=made, user=lena, role="lead")
    return made


@pytest.fixture
def priced(provider: Any) -> Callable[[], None]:
    """Gives every model that is there by now its price."""

    def price() -> None:
        for model in ProviderModel.objects.filter(prices=None):
            ModelPrice.objects.create(model=model, since="2026-01-01T00:00Z", input=INPUT, output=OUTPUT)

    return price


@pytest.fixture
def allow(ada: Any) -> Callable[..., Budget]:
    """Sets a budget in the administrator's name."""

    def set_(subject: Any, cost: Any = None, **more: Any) -> Budget:
        return budgeting.set_budget(subject, by=ada, cost=None if cost is None else Decimal(str(cost)), **more)

    return set_
