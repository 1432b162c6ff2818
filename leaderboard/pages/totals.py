"""How many battles a filter lets through: exactly where the counts of pairs say it, without counting battles."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from django.db.models import F, Q, QuerySet, Sum

from experiments.models import Board, PairCount
from leaderboard.boards.caching import remembered
from leaderboard.pages.battle_filters import Filter
from leaderboard.pages.battle_search import MIRRORED, winners_of

OF_WINNER = {"left": "left_wins", "right": "right_wins", "tie": "ties", "both_bad": "both_bad"}
OF_CONSISTENCY = {"yes": "consistent", "no": "inconsistent"}


def total(board: Board, chosen: Filter) -> int | None:
    """The exact number, or None where the counts do not tell."""
    untold = (chosen.state, chosen.source, chosen.images, chosen.sample, chosen.search, chosen.unknown)
    if any(untold) or (chosen.result and chosen.consistency):
        return None
    return remembered("battles-total", (board.pk, board.changes, chosen.address), lambda: _total(board, chosen))


def _total(board: Board, chosen: Filter) -> int:
    slices = {name: value for name in ("subset", "category") if (value := getattr(chosen, name))}
    rows = PairCount.objects.filter(board=board, **slices)
    if chosen.consistency:
        return _sum(_pairs(rows, chosen), [OF_CONSISTENCY[chosen.consistency]])
    if not chosen.contestants or len(chosen.contestants) > 2:
        return _sum(_pairs(rows, chosen), _columns(chosen.result))
    first = chosen.contestants[0].pk
    mirrored = MIRRORED.get(chosen.result, chosen.result)
    rows = _pairs(rows, chosen)
    return _sum(rows.filter(left=first), _columns(chosen.result)) + _sum(rows.filter(right=first), _columns(mirrored))


def _pairs(rows: QuerySet[PairCount], chosen: Filter) -> QuerySet[PairCount]:
    if len(chosen.contestants) == 1:
        return rows.filter(Q(left=chosen.keys[0]) | Q(right=chosen.keys[0]))
    return rows.filter(left__in=chosen.keys, right__in=chosen.keys) if chosen.contestants else rows


def _columns(result: str) -> list[str]:
    return [OF_WINNER[winner] for winner in winners_of(result)]


def _sum(rows: QuerySet[PairCount], columns: Sequence[str]) -> int:
    each = reduce(add, map(F, columns))
    return int(rows.order_by().aggregate(total=Sum(each))["total"] or 0)
