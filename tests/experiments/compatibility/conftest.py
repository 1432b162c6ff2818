"""Programs that ask as the clients of other systems do; what they begin is played while they wait."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.core import serializers

from accounts.tokens import create_token
from experiments.api.compatibility import waiting
from experiments.runs.live import viewers
from tests.experiments.api.conftest import Api, charlies
from tests.fixtures import add_model
from tests.making import maker

__all__ = ["charlies"]
FAST = ("sim/cooperative:first=0:words=12", "sim/competitive:first=0:words=12", "sim/neutral:first=0:words=12")


@pytest.fixture
def models(provider: Any) -> tuple[str, ...]:
    return tuple(add_model(slug).slug for slug in FAST)


@pytest.fixture
def api(alice: Any, models: Any, woken_runs: Any) -> Api:
    """Alice's client. What it begins waits for a driver."""
    return Api(create_token(alice, name="client"))


@pytest.fixture
def driven(drive: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What is begun is played when it is called, and whenever a request waits for news."""

    async def news(listener: waiting.Listener, seconds: float) -> bool:
        await sync_to_async(drive)()
        return True

    monkeypatch.setattr(waiting.Listener, "news", news)
    monkeypatch.setattr(viewers, "LOOK_SECONDS", 3600)  # a look meanwhile would share the test's connection
    return drive


@maker
def everything() -> str:
    """All rows of the platform as one text."""
    kinds = [kind for app in ("accounts", "experiments") for kind in apps.get_app_config(app).get_models()]
    return "".join(serializers.serialize("json", kind._base_manager.all()) for kind in kinds)


@pytest.fixture
def arena_body(models: tuple[str, ...]) -> dict[str, Any]:
    """What the set-up page of LLM Arena sends."""
    return {
        "experimentMode": "automatic",
        "promptingMode": "shared",
        "sharedPrompt": "Share seven solar panels.",
        "maxTurns": 1,
        "modelA": models[0],
        "modelB": models[1],
        "apiKeyA": "default",
        "apiKeyB": "default",
    }
