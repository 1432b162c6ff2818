"""The doorbell of the workers. The database knows what waits: a bell that nobody hears costs seconds, until the sweep
looks.
"""

import logging
from collections.abc import Callable
from typing import Any

import django_rq
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


def ring(queue: str, answer: Callable[..., None] | str, *arguments: Any, enough: int, waiting: str) -> None:
    """Have a worker of the queue call `answer`, a function or the name of one, unless so many bells are `enough` that
    are not answered yet. waiting: what does, for the log, where Redis is away.
    """
    try:
        bells = django_rq.get_queue(queue)
        if bells.count < enough:
            called: Any = answer
            bells.enqueue(called, *arguments, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        logger.warning("%s waits for the sweep: Redis is away (%s)", waiting, type(error).__name__)
