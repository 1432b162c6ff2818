"""run(code, tests, limits) -> Execution: the one door to the sandbox."""

import time
from collections.abc import Callable, Sequence

from experiments.sandbox.backends import Backend
from experiments.sandbox.isolation import sufficient
from experiments.sandbox.languages import Language, language_named
from experiments.sandbox.trial import Program, Trial, never, tried
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
) -> Execution:
    """Runs the program once for each test, each time in a box of its own, and compares what it answers.

    until_failure: the tests after the first one that is not passed are not run.

    Raises Unavailable when nothing here keeps it in well enough, ValueError for an unknown language or for arguments
    that are not JSON. Whatever the program does is a verdict.
    """
    spoken = language_named(language)
    chosen, required = sufficient(backend)
    program = Program(code.removeprefix(BYTE_ORDER_MARK), entry, limits, required)
    return Running(program, spoken, chosen, is_cancelled).execution(tests, until_failure=until_failure)


class Running:
    """The tests of one program, one after the other."""

    def __init__(
        self, program: Program, language: Language, backend: Backend, is_cancelled: Callable[[], bool]
    ) -> None:
        self.program, self.language, self.backend, self.is_cancelled = program, language, backend, is_cancelled
        self.begun = time.monotonic()
        self.spent = 0.0  # seconds of the programs themselves: how long boxes take to come up is none of their doing
        self.layers: tuple[str, ...] = ()
        self.complaint = why_unreadable(program.code)

    def execution(self, tests: Sequence[Test], *, until_failure: bool) -> Execution:
        results: list[Result] = []
        for test in tests:
            has_failed = until_failure and bool(results) and results[-1].verdict != "passed"
            results.append(Result(test.name, "not_run", error=FAILED_BEFORE) if has_failed else self.result(test))
        return Execution(
            results=tuple(results),
            complaint=self.complaint,
            backend=self.backend.name,
            layers=self.layers,
            seconds=round(time.monotonic() - self.begun, 6),
        )

    def result(self, test: Test) -> Result:
        left = self.program.limits.total_seconds - self.spent
        if self.complaint:
            return Result(test.name, "not_run")
        if self.is_cancelled():
            return Result(test.name, "not_run", error=STOPPED)
        if left < LEAST_SECONDS:
            return Result(test.name, "not_run", error=NO_TIME)
        return self.tried(test, min(left, self.program.limits.seconds))

    def tried(self, test: Test, seconds: float) -> Result:
        try:
            trial = tried(
                self.program,
                test,
                backend=self.backend,
                language=self.language,
                seconds=seconds,
                is_cancelled=self.is_cancelled,
            )
        except NotStarted as error:
            raise Unavailable(f"The sandbox ({self.backend.name}) no longer starts: {error}") from error
        self.spent += trial.result.seconds
        return self.believed(test, trial)

    def believed(self, test: Test, trial: Trial) -> Result:
        """A program that ran with one test compiles: if it says otherwise at another, it has lied at that one."""
        is_first, self.layers = not self.layers, trial.layers
        if trial.complaint and not is_first:
            return Result(test.name, "error", error=trial.complaint)
        self.complaint = trial.complaint
        return trial.result


def why_unreadable(code: str) -> str:
    if not code.strip():
        return "there is no program"
    try:
        code.encode()
    except UnicodeEncodeError as error:
        return f"the program is not valid Unicode: {error.reason}"
    return ""
