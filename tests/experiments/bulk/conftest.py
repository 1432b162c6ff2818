"""Alice's browser and programs, as the pages and the API have them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.experiments.api.conftest import Api, api, is_problem
from tests.markup import Page

__all__ = ["Api", "api", "is_problem"]


@pytest.fixture
def read() -> Callable[[Any], Page]:
    return lambda response: Page(response.content.decode())
