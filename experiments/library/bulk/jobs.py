"""The job of bulk exports, in a thread of its own: reports do not wait for thousands of runs."""

from experiments.library.bulk import making
from experiments.tasks import job_queue
from experiments.tasks.threads import QUEUE, WorkerThread

MOST_QUEUED = 2  # unanswered ones: whoever answers makes all that waits


def wake() -> None:
    job_queue.enqueue(QUEUE, answer, most=MOST_QUEUED, waiting="a bulk export")


def answer() -> None:
    maker.begin()


def sweep() -> None:
    """Find work whose worker has died, or whose job was lost."""
    if making.sweep():
        wake()


maker = WorkerThread("exports", making.make_all)
