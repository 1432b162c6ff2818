"""One program, one test, one box."""

from collections.abc import Callable
from dataclasses import dataclass

from experiments.sandbox.backends.registry import Backend
from experiments.sandbox.errors import NotStarted
from experiments.sandbox.languages import Language
from experiments.sandbox.launching import Ended, launch
from experiments.sandbox.request import Program, new_nonce, request
from experiments.sandbox.values import Result, Test
from experiments.sandbox.verdicts import Complaint, result_of

STARTS = 2  # a box that did not come up is started once more: a machine may be short of something for a moment


@dataclass(frozen=True, slots=True)
class Trial:
    """With a `complaint`, the program did not even compile."""

    result: Result
    layers: tuple[str, ...]
    complaint: str = ""


def never() -> bool:
    return False


def tried(
    program: Program,
    test: Test,
    *,
    backend: Backend,
    language: Language,
    seconds: float,
    is_cancelled: Callable[[], bool] = never,
) -> Trial:
    """Raises NotStarted when no box comes up, ValueError for arguments that are not JSON."""
    nonce = new_nonce()
    ended = started(program, test, nonce, backend, language, seconds, is_cancelled)
    try:
        return Trial(result_of(test, ended, nonce, program.limits), ended.layers)
    except Complaint as complaint:
        return Trial(Result(test.name, "not_run"), ended.layers, str(complaint))


def started(
    program: Program,
    test: Test,
    nonce: str,
    backend: Backend,
    language: Language,
    seconds: float,
    is_cancelled: Callable[[], bool],
) -> Ended:
    for attempt in range(STARTS):
        box = backend.box(language, program.limits)
        try:
            body = request(program, test.arguments, box, nonce, seconds)
            return launch(box, body, program.limits, seconds, is_cancelled)
        except NotStarted:
            if attempt + 1 == STARTS:
                raise
    raise AssertionError("unreachable")
