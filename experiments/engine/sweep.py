"""Wakes what nobody drives: queued runs whose doorbell was lost, and runs whose driver has died."""

import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.db import DatabaseError, close_old_connections

from experiments.models import Run
from experiments.observing import measuring
from experiments.signals import engine_swept

logger = logging.getLogger(__name__)

Wake = Callable[[UUID], None]


def sweep(wake: Wake) -> int:
    """Ring once if any run is claimable: one driver takes them all. Returns how many there are."""
    waiting = list(Run.objects.claimable().order_by("created").values_list("pk", flat=True))
    if waiting:
        wake(waiting[0])
    measuring.swept(len(waiting))
    return len(waiting)


def sweep_forever(wake: Wake, seconds: float) -> None:
    while True:
        time.sleep(seconds)
        try:
            sweep(wake)
            engine_swept.send(None)
        except DatabaseError as error:
            logger.warning("the sweep could not look: %s", type(error).__name__)
            measuring.sweep_failed()
            close_old_connections()
