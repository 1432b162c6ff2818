"""One program, one test, one box: what the box is told, and what it showed."""

import json
import marshal
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.sandbox.backends import Backend, Box
from experiments.sandbox.languages import Language
from experiments.sandbox.launching import Ended, launch
from experiments.sandbox.values import JSON, Limits, NotStarted, Result, Test
from experiments.sandbox.verdicts import Complaint, result_of

FORMAT = 2  # of marshal: every Python reads it
WANTED = ("landlock", "seccomp")

STARTS = 2  # a box that did not come up is started once more: a machine may be short of something for a moment


@dataclass(frozen=True, slots=True)
class Program:
    """What one solution is run as; the same for all its tests. `required` are layers without which it is not run."""

    code: str
    entry: str
    limits: Limits
    required: tuple[str, ...] = ()


def new_nonce() -> str:
    return secrets.token_hex(16)


def request(program: Program, arguments: Sequence[JSON], box: Box, nonce: str, seconds: float) -> bytes:
    """Raises ValueError for arguments that are not JSON."""
    try:
        document = json.dumps(list(arguments), allow_nan=False).encode()
        return marshal.dumps(told(program, arguments, box, nonce, seconds) | {"document": document}, FORMAT)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"arguments that are not JSON: {error}") from error


def told(program: Program, arguments: Sequence[JSON], box: Box, nonce: str, seconds: float) -> dict[str, object]:
    return {
        "wanted": list(WANTED),
        **box.request,
        "code": program.code,
        "entry": program.entry,
        "arguments": list(arguments),
        "nonce": nonce,
        "limits": program.limits.for_box(),
        "required": [name for name in program.required if name not in box.layers],
        "seconds": seconds,
    }


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
