"""The thread of the background worker in which webhooks are told.

Receivers are slow where they please: the thread is all that waits for them. No run, file or rating does.
"""

from experiments.lab.webhooks.delivering import send_all
from experiments.tasks.threads import WorkerThread

sender = WorkerThread("webhooks", send_all)


def send() -> None:
    """The job, by its name in `wake.py`."""
    sender.begin()
