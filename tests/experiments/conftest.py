"""What all tests of the experiments share."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import override_settings

from arenasite.preparation import compile_translations
from experiments.engine.driver import Driver
from experiments.models import Run


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hashing a password as slowly as it should be would take half of the test time."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def translations() -> None:
    """Compiled as `manage.py up` compiles them; a fresh checkout holds their source alone."""
    compile_translations()


@pytest.fixture
def played(arena: Any, start: Any) -> Callable[..., Run]:
    """Makes a run that has ended. It is driven on this thread, so that the test's transaction holds it all."""

    def play(*speakers: str, **config: Any) -> Run:
        run: Run = start(arena(*speakers, **config))
        Driver(threading.Event()).drive(0.1)
        run.refresh_from_db()
        return run

    return play
