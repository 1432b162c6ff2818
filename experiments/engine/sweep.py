"""Wakes what nobody drives: queued runs whose doorbell was lost, and runs whose driver has died."""

import time
from collections.abc import Callable
from uuid import UUID

from experiments.engine import leases
from experiments.engine.workers import look_around
from experiments.models import Run
from experiments.observing import measuring
from experiments.signals import engine_swept

Wake = Callable[[UUID], None]


def sweep(wake: Wake) -> int:
    """Ring once if any run is claimable: one driver takes them all. Returns how many there are."""
    leases.shorten()
    waiting = list(Run.objects.claimable().order_by("created").values_list("pk", flat=True))
    if waiting:
        wake(waiting[0])
    measuring.swept(len(waiting))
    return len(waiting)


def sweep_forever(wake: Wake, seconds: float) -> None:
    def runs() -> None:
        sweep(wake)

    while True:
        time.sleep(seconds)
        look_around(runs, others)


def others() -> None:
    """Whoever else wants to look, above."""
    engine_swept.send(None)
