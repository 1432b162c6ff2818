"""Browsers without JavaScript: Alice's, Charlie's and a visitor's."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.experiments.pages.council_pages import press, scripted_sit, sit  # noqa: F401 — fixtures of councils' pages
from tests.experiments.pages.held import hold, page_of  # noqa: F401 — fixtures of the debates' pages
from tests.fixtures import signed_in
from tests.markup import Page


@pytest.fixture
def read() -> Callable[[Any], Page]:
    """The page of an answer."""
    return lambda response: Page(response.content.decode())


@pytest.fixture(autouse=True)
def nobody_is_woken(quiet_doorbell: list[Any]) -> list[Any]:
    return quiet_doorbell


@pytest.fixture
def browser(alice: Any) -> Client:
    """Alice's."""
    return signed_in(alice)


@pytest.fixture
def charlies(charlie: Any) -> Client:
    return signed_in(charlie)


@pytest.fixture
def visitor(db: None) -> Client:
    return Client()
