"""Real parts for every test. What a machine lacks is named, and its tests are left out; in CI that is a failure."""

import os
import re
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.environment import CHROMIUM, POSTGRES, WANTS_POSTGRES

pytest_plugins = [
    "tests.metering",
    "tests.fixtures",
    "tests.scripted",
    "tests.experiments.debating",
    "tests.experiments.deliberating",
    "tests.experiments.contesting",
    "tests.experiments.batching",
]

ANY_SPEED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("here", **ANY_SPEED)
hypothesis.settings.register_profile("ci", derandomize=True, **ANY_SPEED)  # the same commit has the same outcome
hypothesis.settings.load_profile("ci" if os.environ.get("CI") == "true" else "here")

TESTS = Path(__file__).parent
NO_CHROMIUM = "Chromium is missing: apt install chromium-headless-shell"
NO_POSTGRES = "PostgreSQL is missing: apt install postgresql"


SYSTEM_FOLDERS = ("browser/", "experiments/live/")
DATABASE_FOLDERS = re.compile(  # whose tests use it; those that commit say so
    "experiments/(annotations|api|battles|bulk|campaigns|catalog|datasets|engine|examples|imports|library|pages"
    "|reports|reviews|scans|search|sharing|studies)/"
)
TIMED = "browser/test_first_steps.py"  # it asserts how long people wait: begun last, when least runs beside it
SHARED_PLATFORMS = ("browser/test_a", TIMED, "browser/", "client/")  # patterns
LONGEST = (  # begun first, so that in the end nothing is waited for
    "browser/test_a",
    "browser/",
    "security/test_no_payload_runs.py",
    "experiments/api/test_everything_it_can_be_asked.py",
    "experiments/rights/test_matrix.py",
    "golden/",
)
SYSTEM_FIXTURES = {"live_server", "redis_server", "simulated_over_http"}
PLATFORM_FOLDERS = ("client/", "deployment/", "reliability/")  # whose `lab` is a platform in processes
SIGNS = {  # of a module, by the tests that are wanted: without one it holds none of them
    "system and not exhaustive": ("mark.system", "figures", *SYSTEM_FIXTURES),
    "databases and not exhaustive": ("mark.databases",),
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules that hold none of the few tests which are wanted are not even loaded, by none of many processes."""
    wanted = config.option.markexpr
    if wanted in SIGNS and collection_path.name.startswith("test_") and not _may_hold(wanted, collection_path):
        return True
    return None


def _may_hold(wanted: str, module: Path) -> bool:
    is_of_system = module.relative_to(TESTS).as_posix().startswith((*SYSTEM_FOLDERS, *PLATFORM_FOLDERS))
    text = module.read_text()
    return (is_of_system and wanted.startswith("system")) or any(sign in text for sign in SIGNS[wanted])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Before tests are chosen by their marks."""
    path = item.path.relative_to(TESTS).as_posix()
    fixtures = set(getattr(item, "fixturenames", ()))
    has_platform = "lab" in fixtures and path.startswith(PLATFORM_FOLDERS)
    if path.startswith(SYSTEM_FOLDERS) or SYSTEM_FIXTURES & fixtures or has_platform:
        item.add_marker("system")
    if path.startswith("browser/"):
        item.add_marker("browser")
    if DATABASE_FOLDERS.match(path) and not item.get_closest_marker("django_db"):
        item.add_marker("django_db")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.path.relative_to(TESTS).as_posix()))
    for item in items:
        for wanted in SIGNS:
            mark = wanted.split()[0]
            if mark in item.keywords and not _may_hold(wanted, item.path):
                raise pytest.UsageError(f"{item.path} has a test marked {mark}, and no sign of it in its text")
        if "browser" in item.keywords and not CHROMIUM:
            _leave_out(item, NO_CHROMIUM)
        if WANTS_POSTGRES and not POSTGRES:
            _leave_out(item, NO_POSTGRES)


def _place(module: str) -> int:
    places = (place for place, name in enumerate(LONGEST) if module.startswith(name))
    return len(LONGEST) + 1 if module == TIMED else next(places, len(LONGEST))


class ByPlatform(LoadScopeScheduling):
    """Tests that share a platform run in one process, one module after the other; of the rest those of a module."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::", maxsplit=1)[0].removeprefix("tests/")
        return next((shared for shared in SHARED_PLATFORMS if re.match(shared, module)), module)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByPlatform | None:
    if config.getvalue("dist") != "loadscope":
        return None
    config.option.loadscopereorder = False  # the longest come first, not those with the most tests
    return ByPlatform(config, log)


def _leave_out(item: pytest.Item, reason: str) -> None:
    if os.environ.get("CI") == "true":
        raise pytest.UsageError(reason)
    item.add_marker(pytest.mark.skip(reason=reason))
