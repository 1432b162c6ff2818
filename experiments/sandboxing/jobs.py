"""The doorbell that code waits for the sandbox, and the job that answers it."""

import threading

from django.db import close_old_connections, transaction

from experiments import doorbell
from experiments.engine.workers import beat
from experiments.sandboxing import running

QUEUE = "sandbox"
ENOUGH_BELLS = 4  # unanswered ones: whoever answers runs all that waits
stop_requested = threading.Event()


def ring() -> None:
    """Ring once the current transaction is committed; a bell that nobody hears costs seconds, until the sweep."""
    transaction.on_commit(ring_now)


def ring_now() -> None:
    doorbell.ring(QUEUE, run_all, enough=ENOUGH_BELLS, waiting="an execution")


def run_all() -> None:
    close_old_connections()
    running.run_all(stop_requested, beat)
