"""What the tests of the engine share."""

import pytest

from experiments.runs.steering import branching
from tests.experiments.engine.talks import fresh, say, talk  # noqa: F401 — fixtures of the talks with a model


@pytest.fixture
def branch(alice, drive):
    """Branches from a message and drives the child."""

    def go_on(message, text=None):
        child = branching.branch(message, by=alice, text=text)
        drive()
        return fresh(child)

    return go_on
