"""Prints what a run cost: wall and CPU seconds in all, and the twenty tests that took longest."""

import resource
from collections.abc import Iterator
from time import monotonic, process_time  # the tests' own clock may skip ahead
from typing import Any

import pytest

COST = "cost"  # user property of a report: wall seconds, CPU seconds of the process and of the children it waited for
SHOWN = 20


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[STARTED] = (monotonic(), _cpu_seconds())
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[pytest.TestReport]:
    report: pytest.TestReport = yield
    if report.when == "teardown":
        wall, cpu = item.stash[STARTED]
        report.user_properties.append((COST, (monotonic() - wall, _cpu_seconds() - cpu)))
    return report


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[STARTED] = (monotonic(), 0.0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    reports = [
        report for group in terminalreporter.stats.values() for report in group if isinstance(report, pytest.TestReport)
    ]
    costs = [(*cost, report.nodeid) for report in reports for name, cost in report.user_properties if name == COST]
    wall = monotonic() - config.stash[STARTED][0]
    terminalreporter.section("cost")
    for seconds, cpu, test in sorted(costs, reverse=True)[:SHOWN]:
        terminalreporter.line(f"{seconds:7.2f} s  {cpu:7.2f} CPU-s  {test}")
    tests = sum(cpu for _, cpu, _ in costs)
    terminalreporter.line(
        f"{wall:7.1f} s  {_cpu_seconds():7.1f} CPU-s in all, {tests:.1f} CPU-s of them in {len(costs)} tests"
    )


STARTED = pytest.StashKey[tuple[float, float]]()
