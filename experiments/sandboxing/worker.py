"""The worker of the sandbox: it tests its machine before it runs anything there."""

import logging
import threading
import time
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from experiments.engine.workers import SteadyWorker
from experiments.models import Execution
from experiments.sandboxing import hosts, jobs

logger = logging.getLogger(__name__)


class SandboxWorker(SteadyWorker):
    """One job at a time, in this process: the job runs all that waits, several boxes at once."""

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=sweep_forever, args=(settings.SWEEP_SECONDS,), name="sweep", daemon=True).start()
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        jobs.stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped


def sweep_forever(seconds: float) -> None:
    """Find what no bell was rung for, and tell that this machine is there."""
    clock = hosts.Every(hosts.TOLD_SECONDS)
    while True:
        try:
            if clock.is_due() or hosts.is_doubted.is_set():
                hosts.look()
            if Execution.objects.claimable().exists():
                jobs.ring_now()
        except DatabaseError as error:
            logger.warning("the sandbox could not look: %s", type(error).__name__)
            close_old_connections()
        time.sleep(seconds)
