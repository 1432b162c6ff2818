"""What all tests of the experiments share."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arenasite.preparation import compile_translations
from experiments.engine import partial_text
from experiments.engine.driver import Driver
from experiments.models import Run
from experiments.runs.reports import jobs
from tests.experiments.api.conftest import api, is_problem
from tests.markup import Page

__all__ = ["api", "files_of_their_own", "is_problem", "make_files", "played", "read", "translations"]


@pytest.fixture(scope="session", autouse=True)
def translations() -> None:
    """Compiled as `manage.py up` compiles them; a fresh checkout holds their source alone."""
    compile_translations()


@pytest.fixture
def read() -> Callable[[Any], Page]:
    """The page of an answer."""
    return lambda answer: Page(answer.content.decode())


@pytest.fixture
def played(arena: Any, start: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Makes a run that has ended. It is driven on this thread, so that the test's transaction holds it all; the
    writer of partial text, which would have to wait for that, has nothing to do before the end.
    """
    monkeypatch.setattr(partial_text, "SAVE_SECONDS", 1000.0)

    def play(*speakers: str, **config: Any) -> Run:
        run: Run = start(arena(*speakers, **config))
        Driver(threading.Event()).drive(0.1)
        run.refresh_from_db()
        return run

    return play


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each time that the worker which makes files was woken; none comes."""
    rung: list[int] = []
    monkeypatch.setattr(jobs, "wake", lambda: rung.append(1))
    return rung


@pytest.fixture
def make_files() -> Callable[[], None]:
    """Makes every file of a run that waits, as the worker does."""
    return lambda: jobs.make_all(threading.Event())


@pytest.fixture(autouse=True)
def files_of_their_own(settings: Any, tmp_path: Path) -> None:
    """The files of one test are none of another's."""
    settings.EXPORTS_DIR = tmp_path / "exports"
