"""What the tests of the engine share."""

from experiments.runs.steering import branching
from tests.experiments.engine.talks import fresh, say, talk  # noqa: F401 — fixtures of the talks with a model
from tests.making import maker


@maker
def play(arena, start, drive, /, *speakers, experiment=None, seed=7, **config):
    """Plays a run of an experiment, or of an arena between these, to its end or its first pause."""
    run = start(experiment or arena(*speakers, **config), seed=seed)
    drive()
    return fresh(run)


@maker
def branch(alice, drive, /, message, text=None):
    child = branching.branch(message, by=alice, text=text)
    drive()
    return fresh(child)
