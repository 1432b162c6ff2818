"""Adaptive sampling: further battles where they narrow an interval that is still too wide, and nowhere else."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Q

from experiments.models import Battle, PairCount
from experiments.workflows.battles.campaign.counting import pair_totals
from experiments.workflows.battles.campaign.planning import OPEN, BattleGround, Flags, Lane
from experiments.workflows.battles.campaign.sampled import shared_of
from experiments.workflows.battles.campaign.scope import Pair, Scope
from leaderboard.ratings import Table
from leaderboard.ratings.intervals import by_items

OPPONENTS = 4  # among so many, the closest ones, a contestant's batch is divided


@dataclass(frozen=True, slots=True)
class Widths:
    """Ratings and the full widths of their 95 % intervals in Elo, by contestant; of several boards the widest. A width
    is infinite where there is no rating, or no bound.
    """

    ratings: Mapping[int, float]
    widths: Mapping[int, float]

    def wide(self, target: float) -> list[int]:
        """Whose interval is wider than the target, the widest first."""
        too_wide = [key for key, width in self.widths.items() if width > target]
        return sorted(too_wide, key=lambda key: (-self.widths[key], key))

    def distance(self, pair: Pair) -> float:
        apart = abs(self.ratings[pair[0]] - self.ratings[pair[1]])
        return math.inf if math.isnan(apart) else apart


def widths(scope: Scope) -> Widths:
    keys = [one.pk for one in scope.contestants]
    ratings, widest = np.full(len(keys), np.nan), np.zeros(len(keys))
    place = {key: number for number, key in enumerate(keys)}
    only = Q(sample__subset__in=scope.config.subsets) if scope.config.subsets else None
    for board in scope.boards.values():
        table = _table(scope, board, keys)
        found = by_items(table, shared_of([board], place, table.contestants, only))
        width = found.upper - found.lower
        widest = np.fmax(widest, np.where(np.isnan(width), np.inf, width))
        ratings = np.where(np.isnan(ratings), found.ratings.values, ratings)
    return Widths(dict(zip(keys, ratings.tolist(), strict=True)), dict(zip(keys, widest.tolist(), strict=True)))


def _table(scope: Scope, board: int, keys: Sequence[int]) -> Table:
    """The board's counts between those who take part; what was bad on both sides says nothing of either."""
    place = {key: number for number, key in enumerate(keys)}
    wins, ties = np.zeros((2, len(keys), len(keys)))
    rows = PairCount.objects.filter(board=board, left__in=keys, right__in=keys)
    if scope.config.subsets:
        rows = rows.filter(subset__in=scope.config.subsets)
    for left, right, *counts in rows.values_list("left", "right", "left_wins", "right_wins", "ties").iterator():
        i, j = place[left], place[right]
        wins[i, j] += counts[0]
        wins[j, i] += counts[1]
        ties[i, j] += counts[2]
        ties[j, i] += counts[2]
    return Table(wins, ties, tuple(map(str, keys)))


def next_round(ground: BattleGround) -> list[Lane]:
    """What to draw next; empty when every interval is narrow enough, or nothing can be drawn that would narrow one."""
    scope, supply = ground.scope, _Supply(ground)
    below = {pair: scope.config.sampling.min_per_pair - supply.fewest(pair) for pair in scope.pairs}
    wanted = {pair: supply.fit(pair, short) for pair, short in below.items() if short > 0}
    if not any(wanted.values()):
        wanted = _for_the_wide(scope, supply)
    return [Lane(*pair, span=len(ground.grid), quota=quota) for pair, quota in wanted.items() if quota]


def _for_the_wide(scope: Scope, supply: "_Supply") -> dict[Pair, int]:
    """A batch for each contestant whose interval is too wide, against the opponents whose strength is closest."""
    sampling, found, eligible = scope.config.sampling, widths(scope), scope.pairs
    wanted: dict[Pair, int] = {}
    for key in _too_wide(scope, found):
        pairs = [pair for pair in eligible if key in pair]
        pairs.sort(key=lambda pair: (found.distance(pair), supply.fewest(pair), pair))
        left = sampling.batch
        for number, pair in enumerate(pairs):
            if left <= 0:
                break
            share = math.ceil(left / max(1, min(OPPONENTS, len(pairs)) - number))
            wanted[pair] = max(wanted.get(pair, 0), supply.fit(pair, share))
            left -= wanted[pair]
    return wanted


def _too_wide(scope: Scope, found: Widths) -> list[int]:
    """Whose interval has to become narrower, the widest first."""
    decisive = {key for pair in scope.pairs for key in pair}
    if scope.config.pairs == "new":
        decisive = {one.pk for one in scope.contestants if one.version == scope.config.version}
    return [key for key in found.wide(scope.config.sampling.target_width) if key in decisive]


def misses_target(scope: Scope) -> bool:
    """Whether some interval is wider than the target."""
    return bool(_too_wide(scope, widths(scope)))


class _Supply:
    """How many battles of a pair there are, and how many more there may be."""

    def __init__(self, ground: BattleGround) -> None:
        self._ground = ground
        self._most: int = ground.scope.config.sampling.max_per_pair
        boards = ground.scope.boards.values()
        self._decided = [pair_totals(board, ground.scope.config.subsets) for board in boards]
        is_open = Battle.objects.filter(OPEN, board__in=list(boards), ballot="").order_by()
        self._with_open = set(is_open.values_list("left", "right").distinct())

    def fewest(self, pair: Pair) -> int:
        """Decided battles of the pair, on the board that has the fewest."""
        return min((decided.get(pair, 0) for decided in self._decided), default=0)

    def fit(self, pair: Pair, wish: int) -> int:
        """As many of the wished for as the most per pair and the samples allow."""
        if pair in self._with_open:
            missing = list(self._ground.missing(Lane(*pair, span=len(self._ground.grid))).values())
            wanted: Flags = np.logical_or.reduce(missing)
            available = int(wanted.sum())
        else:
            available = int(self._ground.grid.both(*pair).sum()) - self.fewest(pair)
        return max(0, min(wish, self._most - self.fewest(pair), available))
