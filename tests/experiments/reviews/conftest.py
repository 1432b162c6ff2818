"""Alice owns the runs and the queues; Bob, Dora and Erin review; Charlie must see nothing; Cora is a curator."""

from typing import Any

import pytest

from tests.fixtures import PASSWORD
from tests.making import maker


@pytest.fixture(autouse=True)
def nobody_is_woken(woken_runs: list[Any]) -> list[Any]:
    return woken_runs


@maker
def people(db: None, django_user_model: Any, /, name: str, role: str = "reviewer", **fields: Any) -> Any:
    return django_user_model.objects.create_user(name, password=PASSWORD, role=role, **fields)


@pytest.fixture
def bob(people: Any) -> Any:
    return people("bob")


@pytest.fixture
def dora(people: Any) -> Any:
    return people("dora")


@pytest.fixture
def cora(people: Any) -> Any:
    return people("cora", "curator")
