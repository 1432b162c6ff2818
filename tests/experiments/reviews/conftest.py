"""Alice owns the runs and the queues; Bob, Dora and Erin review; Charlie must see nothing; Cora is a curator."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fixtures import PASSWORD


@pytest.fixture(autouse=True)
def nobody_is_woken(woken_runs: list[Any]) -> list[Any]:
    return woken_runs


@pytest.fixture
def people(db: None, django_user_model: Any) -> Callable[..., Any]:
    def make(name: str, role: str = "reviewer", **fields: Any) -> Any:
        return django_user_model.objects.create_user(name, password=PASSWORD, role=role, **fields)

    return make


@pytest.fixture
def bob(people: Any) -> Any:
    return people("bob")


@pytest.fixture
def dora(people: Any) -> Any:
    return people("dora")


@pytest.fixture
def cora(people: Any) -> Any:
    return people("cora", "curator")
