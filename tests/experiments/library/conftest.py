"""Alice keeps things, Bob is a colleague in the lab, Charlie's role is to read only."""

from typing import Any

import pytest
from django.test import Client

from accounts.tokens import create_token
from experiments.library import keeping
from experiments.models import Preset, Scenario
from tests.experiments.api.conftest import Api
from tests.fixtures import PASSWORD, signed_in

PROMPT = "Two gardeners share one well.\n\nAgree on who may draw water, and when.\n\nSpeak plainly."
CONFIG = {"prompt": PROMPT, "max_turns": 4}


class LibraryApi(Api):
    def patch(self, path: str, body: Any) -> Any:
        return self.client.patch(f"/api/{path}", body, content_type="application/json", headers=self.headers)

    def delete(self, path: str) -> Any:
        return self.client.delete(f"/api/{path}", headers=self.headers)


@pytest.fixture(autouse=True)
def nobody_is_woken(quiet_doorbell: list[Any]) -> list[Any]:
    return quiet_doorbell


@pytest.fixture
def reader(db: None, django_user_model: Any) -> Any:
    """A reviewer: sees what is shared, and keeps nothing."""
    return django_user_model.objects.create_user("reader", password=PASSWORD, role="reviewer")


@pytest.fixture
def bobs(bob: Any) -> Client:
    return signed_in(bob)


@pytest.fixture
def readers(reader: Any) -> Client:
    return signed_in(reader)


@pytest.fixture
def api(alice: Any) -> LibraryApi:
    return LibraryApi(create_token(alice, name="script"))


@pytest.fixture
def bobs_api(bob: Any) -> LibraryApi:
    return LibraryApi(create_token(bob, name="script"))


@pytest.fixture
def well(alice: Any) -> Scenario:
    """A scenario of Alice's that she has not shared."""
    return keeping.save_scenario(
        owner=alice, title="The well", description="Water in August.", kind="cooperation", config=CONFIG
    )


@pytest.fixture
def shy(alice: Any) -> Preset:
    """A preset of Alice's that she has not shared."""
    return keeping.save_preset(owner=alice, name="Shy", context="Answer reluctantly.", description="Says little.")
