"""run(code, tests, limits) -> Execution: the one door to the sandbox."""

import time
from collections.abc import Callable, Sequence

from experiments.sandbox.isolation import sufficient
from experiments.sandbox.languages import language_named
from experiments.sandbox.trial import Program, StartedAhead, never, none_ahead, tried
from experiments.sandbox.values import Execution, Limits, NotStarted, Result, Test, Unavailable

LEAST_SECONDS = 0.05  # less is left over when a program was ended at its time
NO_TIME = "the time for all tests was over"
FAILED_BEFORE = "an earlier test was not passed"
BYTE_ORDER_MARK = "\ufeff"
STOPPED = "the run was stopped"


def run(
    code: str,
    tests: Sequence[Test],
    limits: Limits = Limits(),  # noqa: B008 — frozen
    *,
    entry: str = "solve",
    language: str = "python",
    backend: str | None = None,
    until_failure: bool = False,
    is_cancelled: Callable[[], bool] = never,
    started_ahead: StartedAhead = none_ahead,
) -> Execution:
    """Runs the program once for each test, each time in a box of its own, and compares what it answers.

    until_failure: the tests after the first one that is not passed are not run. started_ahead: gives boxes that wait
    already (`standby.py`).

    Raises Unavailable when nothing here keeps it in well enough, ValueError for an unknown language or for arguments
    that are not JSON. Whatever the program does is a verdict.
    """
    spoken = language_named(language)
    chosen, required = sufficient(backend)
    program = Program(code.removeprefix(BYTE_ORDER_MARK), entry, limits, required)
    begun = time.monotonic()
    spent = 0.0  # seconds of the programs themselves: how long boxes take to come up is none of their doing
    layers: tuple[str, ...] = ()
    complaint = why_unreadable(program.code)
    results: list[Result] = []
    for test in tests:
        left = limits.total_seconds - spent
        has_failed = until_failure and bool(results) and results[-1].verdict != "passed"
        reason = _why_not_run(complaint, left, has_failed=has_failed, is_cancelled=is_cancelled)
        if reason is not None:
            results.append(Result(test.name, "not_run", error=reason))
            continue
        seconds = min(left, limits.seconds)
        try:
            trial = tried(
                program,
                test,
                backend=chosen,
                language=spoken,
                seconds=seconds,
                is_cancelled=is_cancelled,
                started_ahead=started_ahead,
            )
        except NotStarted as error:
            raise Unavailable(f"The sandbox ({chosen.name}) no longer starts: {error}") from error
        spent += trial.result.seconds
        if trial.complaint and layers:
            # A program that ran with one test compiles: if it says otherwise at another, it has lied at that one.
            results.append(Result(test.name, "error", error=trial.complaint))
        else:
            complaint = trial.complaint
            results.append(trial.result)
        layers = trial.layers
    took = round(time.monotonic() - begun, 6)
    return Execution(tuple(results), complaint, backend=chosen.name, layers=layers, seconds=took)


def _why_not_run(
    complaint: str, seconds_left: float, *, has_failed: bool, is_cancelled: Callable[[], bool]
) -> str | None:
    """The next test; None where it is run."""
    if has_failed:
        return FAILED_BEFORE
    if complaint:
        return ""
    if is_cancelled():
        return STOPPED
    return NO_TIME if seconds_left < LEAST_SECONDS else None


def why_unreadable(code: str) -> str:
    if not code.strip():
        return "there is no program"
    try:
        code.encode()
    except UnicodeEncodeError as error:
        return f"the program is not valid Unicode: {error.reason}"
    return ""
