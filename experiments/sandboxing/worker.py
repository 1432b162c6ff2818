"""The worker of the sandbox: it tests its machine before it runs anything there."""

import threading
import time
from typing import Any

from django.conf import settings

from experiments.engine.workers import SteadyWorker, look_around
from experiments.models import Execution
from experiments.sandboxing import claims, hosts, jobs


class SandboxWorker(SteadyWorker):
    """One job at a time, in this process: the job runs all that waits, several boxes at once."""

    needs_what_others_have = False  # code that nobody trusts is best run where there are none

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=sweep_forever, args=(settings.SWEEP_SECONDS,), name="sweep", daemon=True).start()
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        jobs.stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped


def sweep_forever(seconds: float) -> None:
    """Find what no bell was rung for, and tell that this machine is there."""
    clock = hosts.Every(hosts.TOLD_SECONDS)

    def tell() -> None:
        if clock.is_due() or hosts.is_doubted.is_set():
            hosts.look()

    while True:
        look_around(tell, sweep)
        time.sleep(seconds)


def sweep() -> None:
    claims.shorten()
    if Execution.objects.claimable().exists():
        jobs.ring_now()
