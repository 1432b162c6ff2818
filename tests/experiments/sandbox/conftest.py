"""What all tests of the sandbox share: the best one has to be on every machine, others are tried where they are."""

from collections.abc import Sequence
from typing import Any

import pytest

from experiments.sandbox import Execution, Limits, Result, Test, probe, run


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After tests are chosen by their marks, so that a run that has no use for the others does not look for them."""
    if not config.option.collectonly:
        for item in list(items):
            backend = getattr(item, "callspec", None) and item.callspec.params.get("backend")
            if backend in SAFE[1:] and not probe(backend).is_sufficient:
                items.remove(item)


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
