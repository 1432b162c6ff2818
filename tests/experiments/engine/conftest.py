"""What the tests of the engine share."""

from experiments.runs.steering import branching
from tests.experiments.engine.talks import fresh, say, talk  # noqa: F401 — fixtures of the talks with a model
from tests.making import maker


@maker
def branch(alice, drive, /, message, text=None):
    child = branching.branch(message, by=alice, text=text)
    drive()
    return fresh(child)
