"""Providers that want a key, and people who have some."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from experiments import keyring
from experiments.gateway.simulated import Running, running
from experiments.models import Provider, ProviderKey, ProviderModel
from tests.fixtures import PASSWORD

LAB, MINE, OTHER = "sk-lab-0a1b2c3d4e5f6071", "sk-mine-8899aabbccddeeff", "sk-other-1122334455667788"


@pytest.fixture
def bob(db: None, django_user_model: Any) -> Any:
    return django_user_model.objects.create_user("bob", password=PASSWORD)


@pytest.fixture
def keeper(db: None, django_user_model: Any) -> Any:
    """An administrator."""
    return django_user_model.objects.create_user("keeper", password=PASSWORD, role="admin", is_staff=True)


@pytest.fixture(scope="session")
def doors() -> Iterator[dict[str, Running]]:
    """Simulated providers by the one key that they accept."""
    with running(tps=0, api_key=LAB) as of_lab, running(tps=0, api_key=MINE) as of_mine:
        yield {LAB: of_lab, MINE: of_mine}


@pytest.fixture
def locked(provider: Running, doors: dict[str, Running]) -> Callable[[str], Provider]:
    """Enters a provider that accepts this key alone, with two models."""

    def enter(key: str = MINE, **fields: Any) -> Provider:
        made = Provider.objects.create(
            name="locked", base_url=doors[key].base_url, allow_private=True, needs_key=True, **fields
        )
        for slug, upstream in {"locked/one": "sim/neutral:first=0", "locked/two": "sim/cooperative:first=0"}.items():
            ProviderModel.objects.create(provider=made, slug=slug, upstream=upstream, label=slug)
        return made

    return enter


@pytest.fixture
def add() -> Callable[..., ProviderKey]:
    def put(by: Any, provider: Provider, key: str = MINE, **more: Any) -> ProviderKey:
        return keyring.add(by=by, provider=provider, key=key, **more)

    return put
