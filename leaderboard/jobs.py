"""The doorbell that ratings are out of date, and what a worker of the queue does about it."""

import logging
from datetime import timedelta

import django_rq
from django.db import close_old_connections
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from experiments.models import Ballot, Board, Run
from leaderboard import compute, council
from leaderboard.models import Ladder

logger = logging.getLogger(__name__)

QUEUE = "ratings"
ENOUGH_BELLS = 1  # unanswered ones: the worker computes every ladder that is out of date
REST_SECONDS = 2.0  # between two computations of a ladder while battles keep coming
REST_SHARE = 10  # and so many times as long as the last one took


def ring() -> None:
    """Ask for a worker. A bell that nobody hears costs seconds: the sweep looks, and pages compute for themselves."""
    try:
        bells = django_rq.get_queue(QUEUE)
        if bells.count < ENOUGH_BELLS:
            bells.enqueue(answer, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        logger.warning("ratings wait for the sweep: Redis is away (%s)", type(error).__name__)


def answer() -> None:
    """What a worker does when it hears the bell."""
    close_old_connections()
    refresh_stale()


def refresh_stale() -> int:
    """Compute every ladder whose battles have changed, but none that was computed only just now. Returns how many."""
    for board in Board.objects.filter(ladder__isnull=True, changes__gt=0).select_related("dataset", "judge_model"):
        compute.ensure(board)
    return sum(compute.refresh(ladder) for ladder in stale_ladders() if _has_rested(ladder)) + _refresh_council()


def is_anything_stale() -> bool:
    return stale_ladders().exists() or Board.objects.filter(ladder__isnull=True, changes__gt=0).exists()


def stale_ladders() -> "QuerySet[Ladder]":
    """Ladders of boards that are ahead of what is kept of them."""
    behind = Q(standing__isnull=True) | Q(standing__changes__lt=F("board__changes"))
    return Ladder.objects.filter(behind, board__isnull=False).select_related("standing", "board__dataset")


def _has_rested(ladder: Ladder) -> bool:
    standing = getattr(ladder, "standing", None)
    if standing is None:
        return True
    rest = max(REST_SECONDS, REST_SHARE * standing.seconds)
    return bool(timezone.now() - standing.computed >= timedelta(seconds=rest))


def _refresh_council() -> int:
    """The council's ladder, when a question was answered since."""
    newest = Ballot.objects.filter(run__origin=Run.Origin.LIVE, superseded=False).order_by("-pk").first()
    if newest is None:
        return 0
    ladder = council.ladder()
    standing = getattr(ladder, "standing", None)
    ended = newest.run.ended or newest.created
    return int((standing is None or standing.computed <= ended) and compute.refresh(ladder))
