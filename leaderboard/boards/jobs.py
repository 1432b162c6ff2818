"""The background job that computes standings that are out of date."""

import logging
from datetime import timedelta

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, close_old_connections
from django.db.models import F, Q, QuerySet

from experiments.models import Board, Campaign
from experiments.tasks import clock, job_queue
from leaderboard.boards import coding, compute, council
from leaderboard.boards.standings import SHAPE, Standings
from leaderboard.models import Ladder

logger = logging.getLogger(__name__)

QUEUE = "ratings"
MOST_QUEUED = 1  # unanswered ones: the worker computes every ladder that is out of date
REST_SECONDS = 2.0  # between two computations of a ladder while battles keep coming
REST_SHARE = 10  # and so many times as long as the last one took
LATELY = timedelta(minutes=10)  # campaigns that ended since may still have to be noted


def wake() -> None:
    """Ask for a worker. Pages compute for themselves meanwhile."""
    job_queue.enqueue(QUEUE, answer, most=MOST_QUEUED, waiting="a ladder")


def answer() -> None:
    """What a worker of the queue does."""
    close_old_connections()
    refresh_stale()
    note_ends()


def refresh_stale() -> int:
    """Compute every ladder whose battles have changed, but none that was computed only just now. Returns how many.

    One that cannot be computed keeps what it shows, and delays no other.
    """
    for board in boards_without_ladder():
        compute.ensure_ladder(board)
    return sum(_refreshed(ladder) for ladder in (*stale_ladders(), *_stale_ladders_of_runs()))


def note_ends() -> None:
    """Note in the history what a campaign came to, where its last battles were computed before it was over."""
    ended = Campaign.objects.filter(ended__gte=clock.ago(LATELY)).values_list("experiment__config", flat=True)
    slugs = {str(config.get("dataset", "")) for config in ended}
    rows = Ladder.objects.filter(board__dataset__slug__in=slugs, standing__isnull=False)
    for ladder in rows.select_related("standing", "board__dataset"):
        found = Standings.stored(ladder)
        if found and not compute.is_stale(ladder):
            compute.note_history(ladder, found)


def is_anything_stale() -> bool:
    return boards_without_ladder().exists() or stale_ladders().exists() or bool(_stale_ladders_of_runs())


def boards_without_ladder() -> QuerySet[Board]:
    """Those with battles."""
    return Board.objects.filter(ladder__isnull=True, changes__gt=0).select_related("dataset", "judge_model")


def stale_ladders() -> QuerySet[Ladder]:
    """Ladders of boards that are ahead of what is kept of them, or of which something is kept in an older shape."""
    behind = Q(standing__isnull=True) | Q(standing__changes__lt=F("board__changes")) | ~Q(standing__data__shape=SHAPE)
    return Ladder.objects.filter(behind, board__isnull=False).select_related("standing", "board__dataset")


def _stale_ladders_of_runs() -> list[Ladder]:
    """The council's ladder when a question was answered, ranked, left out or taken in again since; coding's when a
    cycle was.
    """
    found = []
    if council.is_anything_ranked():
        ladder = council.ladder()
        kept = Standings.stored(ladder)
        if kept is None or kept.rests_on != council.source():
            found.append(ladder)
    if coding.is_anything_rated() and compute.is_stale(ladder := coding.ladder()):
        found.append(ladder)
    return found


def _refreshed(ladder: Ladder) -> bool:
    """Compute a ladder, unless it was computed only just now or cannot be."""
    if ladder.stored:
        rest = timedelta(seconds=max(REST_SECONDS, REST_SHARE * ladder.stored.seconds))
        if timedelta(0) <= clock.now() - ladder.stored.computed < rest:  # not one in the future: a clock was wrong
            return False
    try:
        return compute.refresh(ladder)
    except (ArithmeticError, DatabaseError, LookupError, ObjectDoesNotExist, ValueError):
        logger.exception("ladder %s: its ratings could not be computed", ladder.slug)
        return False
