"""Alice keeps things, Bob is a colleague in the lab, Charlie's role is to read only."""

from typing import Any

import pytest
from django.test import Client

from accounts.tokens import create_token
from experiments.library import presets, scenarios
from experiments.models import Preset, Scenario
from tests.experiments.api.conftest import Api, nobody_is_woken
from tests.fixtures import PASSWORD, signed_in

__all__ = ["nobody_is_woken"]

PROMPT = "Two gardeners share one well.\n\nAgree on who may draw water, and when.\n\nSpeak plainly."
CONFIG = {"prompt": PROMPT, "max_turns": 4}


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
def bobs_api(bob: Any) -> Api:
    return Api(create_token(bob, name="script"))


@pytest.fixture
def well(alice: Any) -> Scenario:
    """A scenario of Alice's that she has not shared."""
    return scenarios.save_scenario(
        owner=alice, title="The well", description="Water in August.", kind="cooperation", config=CONFIG
    )


@pytest.fixture
def shy(alice: Any) -> Preset:
    """A preset of Alice's that she has not shared."""
    return presets.save_preset(owner=alice, name="Shy", context="Answer reluctantly.", description="Says little.")
