"""The best sandbox has to be on every machine that tests; the others are tried where they are."""

from typing import Any

import pytest

from experiments.sandbox import probe
from tests.experiments.sandbox.boxes import SAFE


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After tests are chosen by their marks, so that a run that has no use for the others does not look for them."""
    if not config.option.collectonly:
        items[:] = [item for item in items if is_here(item)]


def is_here(item: Any) -> bool:
    backend = getattr(item, "callspec", None) and item.callspec.params.get("backend")
    return backend not in SAFE[1:] or probe(backend).is_sufficient
