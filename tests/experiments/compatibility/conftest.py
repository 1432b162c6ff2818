"""Programs that ask as the clients of other systems do, while a driver plays what they begin."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core import serializers
from django.db import connections

from accounts.tokens import create_token
from experiments.engine.driver import Driver
from tests.experiments.api.conftest import Api
from tests.fixtures import add_model

FAST = ("sim/cooperative:first=0:words=12", "sim/competitive:first=0:words=12", "sim/neutral:first=0:words=12")


@pytest.fixture
def models(provider: Any) -> tuple[str, ...]:
    return tuple(add_model(slug).slug for slug in FAST)


@pytest.fixture
def api(alice: Any, models: Any, quiet_doorbell: Any) -> Api:
    """Alice's client. What it begins waits for a driver."""
    return Api(create_token(alice, name="client"))


@pytest.fixture
def charlies(charlie: Any) -> Api:
    return Api(create_token(charlie))


@pytest.fixture
def driven(transactional_db: None, api: Api) -> Iterator[None]:
    """A driver plays whatever is begun, beside the test."""
    stop = threading.Event()

    def drive() -> None:
        try:
            Driver(stop).drive(3600)
        finally:
            connections.close_all()

    thread = threading.Thread(target=drive, name="driver")
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.fixture
def everything() -> Callable[[], str]:
    """All rows of the platform as one text."""

    def dump() -> str:
        kinds = [kind for app in ("accounts", "experiments") for kind in apps.get_app_config(app).get_models()]
        return "".join(serializers.serialize("json", kind._base_manager.all()) for kind in kinds)

    return dump


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
