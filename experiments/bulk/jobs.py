"""The doorbell of bulk exports, and the thread that answers it: reports do not wait for thousands of runs."""

from experiments import doorbell
from experiments.bulk import making
from experiments.datasets.jobs import QUEUE, ReadingThread

ENOUGH_BELLS = 2  # unanswered ones: whoever answers makes all that waits


def ring() -> None:
    doorbell.ring(QUEUE, answer, enough=ENOUGH_BELLS, waiting="a bulk export")


def answer() -> None:
    maker.begin()


def sweep() -> None:
    """Find what no bell was rung for: work whose worker has died, or whose bell was lost."""
    if making.sweep():
        ring()


maker = ReadingThread("exports", making.make_all)
