"""Enqueues the job that sends webhooks."""

from django.db import transaction

from experiments.tasks import job_queue

QUEUE = "webhooks"
SEND = "experiments.lab.webhooks.jobs.send"  # by its name: the senders are above what enqueues them
MOST_QUEUED = 4  # jobs: each sends all that is due


def wake() -> None:
    """Enqueue a job once the current transaction is committed; one that is lost costs seconds."""
    transaction.on_commit(wake_now)


def wake_now() -> None:
    job_queue.enqueue(QUEUE, SEND, most=MOST_QUEUED, waiting="a webhook")
