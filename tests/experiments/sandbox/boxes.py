"""What the tests of the sandbox share: its backends, and what is left of a box on this machine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from experiments.sandbox import Execution, Limits, Result, Test, probe, run
from experiments.sandbox.inside import kernel

SAFE = ("bubblewrap", "namespaces", "landlock")
NAMESPACED = ("bubblewrap", "namespaces")


def first_of(backends: Sequence[str]) -> list[Any]:
    """For parametrize: the best backend always, the others in the exhaustive run."""
    best, *others = backends
    return [best, *(pytest.param(backend, marks=pytest.mark.exhaustive) for backend in others)]


def needs(backend: str) -> str:
    """The backend; skips the test where this machine cannot have it."""
    if backend != "unsafe" and not probe(backend).is_sufficient:
        pytest.skip(probe(backend).refusal)
    return backend


def outcome(code: str, *arguments: object, backend: str | None = None, **limits: float) -> Result:
    """The one result of a program that is called with the arguments; 42 is expected."""
    return execution(code, *arguments, backend=backend, **limits).results[0]


def execution(code: str, *arguments: object, backend: str | None = None, **limits: float) -> Execution:
    return run(code, [Test("only", list(arguments), 42)], Limits(**limits), backend=backend)  # type: ignore[arg-type]


def children_of(process: int) -> set[int]:
    """All processes beneath one, at any depth."""
    below: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == process:
            below |= {int(folder.name), *children_of(int(folder.name))}
    return below


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Whoever outlives its parents becomes a child of this process, and not of the machine's first."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 0)
