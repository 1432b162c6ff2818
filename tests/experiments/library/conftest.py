"""Alice keeps things, Bob is a colleague in the lab, Charlie's role is to read only."""

from typing import Any

import pytest
from django.test import Client

from accounts.tokens import create_token
from experiments.library import presets, scenarios
from experiments.models import Preset, Scenario
from tests.experiments.api.conftest import Api, nobody_is_woken
from tests.fixtures import signed_in

__all__ = ["nobody_is_woken"]

PROMPT = "Two gardeners share one well.\n\nAgree on who may draw water, and when.\n\nSpeak plainly."
CONFIG = {"prompt": PROMPT, "max_turns": 4}


@pytest.fixture
def bobs(bob: Any) -> Client:
    return signed_in(bob)


@pytest.fixture
def bobs_api(bob: Any) -> Api:
    return Api(create_token(bob, name="script"))


@pytest.fixture
def well(alice: Any) -> Scenario:
    about = {"title": "The well", "description": "Water in August.", "kind": "cooperation"}
    return scenarios.save_scenario(owner=alice, config=CONFIG, **about)


@pytest.fixture
def shy(alice: Any) -> Preset:
    return presets.save_preset(owner=alice, name="Shy", context="Answer reluctantly.", description="Says little.")
