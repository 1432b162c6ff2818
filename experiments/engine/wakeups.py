"""Wake-ups between drivers, callers and sandboxes over Redis. One that is lost costs a moment: they look at the
database, too.
"""

import threading
import time
from collections.abc import Callable
from functools import partial

from redis.exceptions import RedisError

from experiments.lab.observing import counting
from experiments.tasks import job_queue
from experiments.tasks.clock import Every

# Channels: runs that wait for a driver, executions that have ended, calls handed over, and what came back for them.
QUEUED, EXECUTED = "arena:runs:queued", "arena:executions:ended"
CALLS, ANSWERS = "arena:callers:calls", "arena:callers:answers"
LISTEN_SECONDS, RETRY_SECONDS = 1.0, 1.0
AWAY_SECONDS = 0.08  # between two looks at the database while Redis is away


def wake(channel: str, about: str = "") -> None:
    """Wake everybody who listens; about: the run that it concerns, where it is one. Call after the commit."""
    job_queue.in_background((channel, about), partial(_publish, channel, about))


def _publish(channel: str, about: str) -> None:
    if job_queue.is_circuit_open():
        return
    try:
        counting.connect().publish(channel, about)
    except (RedisError, OSError) as error:
        job_queue.note_error(error)


class Listener(threading.Thread):
    """Calls `heard`, in this thread, for each wake-up of the channels, with the channel and what it is about."""

    def __init__(self, heard: Callable[[str, str], None], *channels: str) -> None:
        super().__init__(name="wake-ups", daemon=True)
        self._heard, self._channels = heard, channels
        self._end = threading.Event()
        self._is_away = False  # Redis

    def end(self) -> None:
        """It ends within LISTEN_SECONDS. Nothing has to wait for it: it is a daemon."""
        self._end.set()

    def hasten(self, look: Every) -> None:
        """While Redis is away, the next look at the database comes sooner."""
        if self._is_away:
            look.due = min(look.due, time.monotonic() + AWAY_SECONDS)

    def run(self) -> None:
        while not self._end.is_set():
            try:
                self._listen()
            except (RedisError, OSError):
                self._is_away = True
                self._end.wait(RETRY_SECONDS)

    def _listen(self) -> None:
        with counting.connect().pubsub(ignore_subscribe_messages=True) as messages:
            messages.subscribe(*self._channels)
            self._is_away = False
            while not self._end.is_set():
                if message := messages.get_message(timeout=LISTEN_SECONDS):
                    self._heard(message["channel"], message["data"])
