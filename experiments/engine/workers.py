"""What all our RQ workers have in common: what earlier workers left behind in Redis ends none of them."""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import django_rq
from django.db import DatabaseError, InterfaceError, close_old_connections
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker, get_current_job
from rq.registry import StartedJobRegistry

from experiments.lab.observing import counting, measuring
from experiments.tasks import job_queue

logger = logging.getLogger(__name__)


class BaseWorker(SimpleWorker):
    """A worker whose housekeeping cannot fail.

    RQ remembers which jobs were begun, and looks after those of dead workers. It raises, at every start, when the
    memory of such a job is older than what it knows of it (rq 2.12: "Execution … not found in Redis"). Our jobs
    only wake a worker, so nothing is lost when that memory is emptied.
    """

    current: "BaseWorker | None" = None  # of this process

    def work(self, *args: Any, **kwargs: Any) -> bool:
        BaseWorker.current = self
        counting.begin()  # which tells, too, that this process is there, however long its job takes
        return bool(super().work(*args, **kwargs))

    def set_shutdown_requested_date(self) -> None:
        """Called by the handler of a signal, that is in the middle of anything: what it raises would end that."""
        try:
            super().set_shutdown_requested_date()  # type: ignore[no-untyped-call]  # rq has it untyped
        except (RedisError, OSError):
            logger.warning("Redis is away, and is not told that this worker ends")

    def clean_registries(self) -> None:
        try:
            super().clean_registries()  # type: ignore[no-untyped-call]  # rq has it untyped
        except (ValueError, RedisError) as error:
            logger.warning("what earlier workers left in Redis is cleared away (%s)", error)
            _forget_begun_jobs(self.queues)


def heartbeat() -> None:
    """Keep RQ's record of this process's worker alive in the middle of a job: one that is silent for too long counts
    as dead.
    """
    worker = BaseWorker.current
    if get_current_job() is not None and worker is not None:
        job_queue.in_background("heartbeat", partial(_send_heartbeat, worker))


def _send_heartbeat(worker: BaseWorker) -> None:
    if job_queue.is_circuit_open():
        return
    try:
        pipeline = django_rq.get_connection("engine").pipeline()  # which waits for no longer than a moment
        worker.heartbeat(pipeline=pipeline)
        pipeline.execute()
    except (RedisError, OSError) as error:
        job_queue.note_error(error)
        logger.warning("Redis is away; going on")


def run_looks(*looks: Callable[[], object]) -> None:
    """One round of a sweep. An error in one look ends neither the others nor the thread that sweeps: what is not
    looked for any more would wait for ever.
    """
    for look in looks:
        try:
            look()
        except (DatabaseError, InterfaceError, OSError, RedisError) as error:
            logger.warning("%s.%s could not look: %s", look.__module__, look.__name__, type(error).__name__)
            measuring.sweep_failed()
            close_old_connections()
        except Exception:
            logger.exception("%s.%s failed", look.__module__, look.__name__)
            measuring.sweep_failed()
            close_old_connections()


def _forget_begun_jobs(queues: Iterable[Queue]) -> None:
    for queue in queues:
        queue.connection.delete(StartedJobRegistry(queue=queue).key)
        queue.release_maintenance_lock()  # type: ignore[no-untyped-call]  # rq has it untyped
