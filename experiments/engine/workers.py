"""What all our RQ workers have in common: what earlier workers left behind in Redis ends none of them."""

import logging
from collections.abc import Iterable

from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.registry import StartedJobRegistry

logger = logging.getLogger(__name__)


class SteadyWorker(SimpleWorker):
    """A worker whose housekeeping cannot fail.

    RQ remembers which jobs were begun, and looks after those of dead workers. It raises, at every start, when the
    memory of such a job is older than what it knows of it (rq 2.12: "Execution … not found in Redis"). Our jobs are
    bells, so nothing is lost when that memory is emptied.
    """

    def clean_registries(self) -> None:
        try:
            super().clean_registries()  # type: ignore[no-untyped-call]
        except (ValueError, RedisError) as error:
            logger.warning("what earlier workers left in Redis is cleared away (%s)", error)
            _forget_begun_jobs(self.queues)


def _forget_begun_jobs(queues: Iterable[Queue]) -> None:
    for queue in queues:
        queue.connection.delete(StartedJobRegistry(queue=queue).key)
        queue.release_maintenance_lock()  # type: ignore[no-untyped-call]
