"""Runs tests in forks of one process that has everything loaded: each fork has a database and files of its own."""

import functools
import gc
import itertools
import math
import os
import resource
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.db import connection
from django.template import engines
from django.urls import get_resolver

from benchmarks.mutants.changes import Key

FAST = "not system and not exhaustive"
MOST_MEMORY = 4 << 30
PATIENCE = 5.0  # seconds of processor time, beyond three times what the test takes without a change
IDLE = 120.0  # seconds by the clock, in which even a starved process gets some of the processor's

# Exit statuses of a trial. Those from FIRST_KILLER on say which of its tests failed.
SURVIVED, NEVER_LIVE, BROKEN, FIRST_KILLER = 0, 1, 2, 3

# Files by name, then the functions of that file that are alive in this process.
Live = dict[str, list[FunctionType]]


class Session:
    """A pytest plugin: does the work that it is given in place of running the collected tests."""

    def __init__(self, work: Callable[["Session"], None]) -> None:
        self._work = work
        self._outcomes: list[str] = []
        self.items: dict[str, pytest.Item] = {}

    def pytest_configure(self) -> None:
        hypothesis.settings.load_profile("ci")  # the same examples each time

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed:
            return None  # not all could be collected, which pytest says itself
        self.items = {item.nodeid: item for item in session.items}
        self._work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcomes.append(report.outcome)

    def run(self, item: pytest.Item, following: pytest.Item | None) -> set[str]:
        """The outcomes of the test's three phases."""
        self._outcomes.clear()
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return set(self._outcomes)

    def first_failing(self, tests: Mapping[str, float]) -> int | None:
        """tests: with the processor seconds that each takes. One that takes far more ends the process with SIGXCPU,
        which no test handles.
        """
        items: list[pytest.Item | None] = [*map(self.items.__getitem__, tests), None]
        for number, (item, then) in enumerate(itertools.pairwise(items)):
            assert item
            most = math.ceil(time.process_time() + PATIENCE + 3 * tests[item.nodeid])
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
            if "failed" in self.run(item, then):
                return number
        return None


def collected(paths: Sequence[str], work: Callable[[Session], None]) -> int:
    """Collect the fast tests below the paths and do the work with them. Returns pytest's exit code."""
    quiet = ["-qq", "--no-header", "--no-summary", "--capture=no", "-p", "no:cacheprovider", "-p", "no:tests.metering"]
    return int(pytest.main([*quiet, "-m", FAST, *paths], plugins=[Session(work)]))


def load(modules: Iterable[str]) -> None:
    """Import what a fork would otherwise import by itself, and check that it can be forked. Raises RuntimeError."""
    for module in modules:
        import_module(module)
    get_resolver()._populate()
    engines.all()
    if threading.active_count() > 1:
        raise RuntimeError(f"threads do not survive a fork, and may hold locks: {threading.enumerate()}")


def live_functions(files: set[str]) -> Live:
    """Whatever holds them: classes, decorators, registries. What is there already is then shared with the forks."""
    found: Live = {}
    for thing in _all_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename in files:
            found.setdefault(thing.__code__.co_filename, []).append(thing)
    return found


def caches_of(files: set[str]) -> list[Any]:
    """The cached functions of these files. What an earlier test has asked them they would not do again."""
    found = [thing for thing in _all_objects() if isinstance(thing, functools._lru_cache_wrapper)]
    return [
        one
        for one in found
        if isinstance(one.__wrapped__, FunctionType) and one.__wrapped__.__code__.co_filename in files
    ]


def _all_objects() -> list[Any]:
    gc.unfreeze()  # what is frozen is not among them
    found = gc.get_objects()
    gc.freeze()
    return found


def exchange(live: Sequence[FunctionType], altered: dict[Key, CodeType]) -> int:
    """Give the functions their altered code. Returns how many were found."""
    found = 0
    for function in live:
        code = altered.get((function.__code__.co_firstlineno, function.__code__.co_qualname))
        if code:
            function.__code__ = code
            found += 1
    return found


def in_fork(task: Callable[[], int]) -> int:
    """Do the task in a process of its own. Returns its exit code, below 0 for a signal. One that waits for ever, which
    costs no processor time, is ended with SIGKILL.
    """
    if not (pid := os.fork()):
        _end_with(task)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise


def _end_with(task: Callable[[], int]) -> None:
    status, seen = BROKEN, -1.0

    def end_if_idle(*_: object) -> None:
        nonlocal seen
        if time.process_time() - seen < 0.02:
            os.kill(os.getpid(), signal.SIGKILL)
        seen = time.process_time()

    try:
        signal.signal(signal.SIGALRM, end_if_idle)
        signal.setitimer(signal.ITIMER_REAL, IDLE, IDLE)
        status = task()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


@contextmanager
def own_files() -> Iterator[None]:
    """A data directory and a database of this process's own, no output, and a limit of its memory. For a fork."""
    data, errors = settings.DATA_DIR, os.dup(2)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory(prefix="fork-", dir=data.parent) as folder, open(os.devnull, "w") as nowhere:
        shutil.copytree(data, folder, dirs_exist_ok=True)
        for name in dir(settings):
            path = getattr(settings, name)
            if isinstance(path, Path) and path.is_relative_to(data):
                setattr(settings, name, Path(folder) / path.relative_to(data))
        database: dict[str, Any] = {"NAME": f"{folder}/test.sqlite3"}
        settings.DATABASES["default"]["TEST"] |= database
        connection.settings_dict["TEST"] |= database
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(errors, 2)
