"""Real parts for every test. What a machine lacks is named, and its tests are left out; in CI that is a failure."""

import os
import shutil
from pathlib import Path

import hypothesis
import pytest

from tests.environment import POSTGRES, WANTS_POSTGRES

pytest_plugins = [
    "tests.metering",
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

TESTS = Path(__file__).parent
NO_CHROMIUM = "Chromium is missing: apt install chromium"
NO_POSTGRES = "PostgreSQL is missing: apt install postgresql"


SYSTEM_FOLDERS = ("arenasite", "browser", "deployment", "reliability")
ONE_PLATFORM = ("browser", "client")
SYSTEM_FIXTURES = {"lab", "live_server", "redis_server", "simulated_over_http"}


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SYSTEM_FOLDERS or SYSTEM_FIXTURES & set(item.fixturenames):
            item.add_marker("system")
        if item.get_closest_marker("system"):
            item.add_marker(pytest.mark.xdist_group(_group(item)))
        if "browser" in item.keywords and not shutil.which("chromium"):
            _leave_out(item, NO_CHROMIUM)
        if WANTS_POSTGRES and not POSTGRES:
            _leave_out(item, NO_POSTGRES)


def _group(item: pytest.Item) -> str:
    """Tests of one group share a process, and with it their platform: a folder's, or else a module's."""
    folders = item.path.relative_to(TESTS).parts[:-1]
    return folders[0] if folders[0] in ONE_PLATFORM else item.path.relative_to(TESTS).as_posix()


def _leave_out(item: pytest.Item, reason: str) -> None:
    if os.environ.get("CI") == "true":
        raise pytest.UsageError(reason)
    item.add_marker(pytest.mark.skip(reason=reason))
