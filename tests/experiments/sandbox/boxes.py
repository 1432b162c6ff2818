"""What the tests of the sandbox share: its backends, and the one result of a program."""

from collections.abc import Sequence
from typing import Any

import pytest

from experiments.sandbox import Execution, Limits, Result, Test, run

SAFE = ("bubblewrap", "namespaces", "landlock")
NAMESPACED = ("bubblewrap", "namespaces")


def first_of(backends: Sequence[str]) -> list[Any]:
    """For parametrize: the best backend always; in the exhaustive run the others too, where they are (conftest.py)."""
    best, *others = backends
    return [best, *(pytest.param(backend, marks=pytest.mark.exhaustive) for backend in others)]


def outcome(code: str, *arguments: object, backend: str | None = None, **limits: float) -> Result:
    """The one result of a program that is called with the arguments; 42 is expected."""
    return execution(code, *arguments, backend=backend, **limits).results[0]


def execution(code: str, *arguments: object, backend: str | None = None, **limits: float) -> Execution:
    return run(code, [Test("only", list(arguments), 42)], Limits(**limits), backend=backend)  # type: ignore[arg-type]
