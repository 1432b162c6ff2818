"""The doorbell that something is to be told."""

from django.db import transaction

from experiments import doorbell

QUEUE = "webhooks"
SEND = "experiments.webhooks.jobs.send"  # by its name: what is told comes from below whatever sends it
ENOUGH_BELLS = 4  # unanswered ones: whoever answers sends all that is due


def ring() -> None:
    """Ring for a worker once the current transaction is committed; a bell that nobody hears costs seconds."""
    transaction.on_commit(ring_now)


def ring_now() -> None:
    doorbell.ring(QUEUE, SEND, enough=ENOUGH_BELLS, waiting="a webhook")
