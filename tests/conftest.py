"""Real parts for every test. What a machine lacks is named, and its tests are left out; in CI that is a failure."""

import os
import shutil

import hypothesis
import pytest

from tests.environment import POSTGRES, WANTS_POSTGRES

pytest_plugins = [
    "tests.fixtures",
    "tests.scripted",
    "tests.experiments.debating",
    "tests.experiments.deliberating",
    "tests.experiments.contesting",
]

ANY_SPEED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("here", **ANY_SPEED)
hypothesis.settings.register_profile("ci", derandomize=True, **ANY_SPEED)  # the same commit has the same outcome
hypothesis.settings.load_profile("ci" if os.environ.get("CI") == "true" else "here")

NO_CHROMIUM = "Chromium is missing: apt install chromium"
NO_POSTGRES = "PostgreSQL is missing: apt install postgresql"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.keywords and not shutil.which("chromium"):
            _leave_out(item, NO_CHROMIUM)
        if WANTS_POSTGRES and not POSTGRES:
            _leave_out(item, NO_POSTGRES)


def _leave_out(item: pytest.Item, reason: str) -> None:
    if os.environ.get("CI") == "true":
        raise pytest.UsageError(reason)
    item.add_marker(pytest.mark.skip(reason=reason))
