"""How far a board depends on single prompts, and a board of votes on single voters."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Sum

from experiments.models import Battle, Board
from experiments.models.battles import is_unnamed
from experiments.workflows.battles.campaign.counting import COLUMNS
from leaderboard.boards.bias import state_of_effects
from leaderboard.boards.caching import memoize
from leaderboard.boards.standings import finite
from leaderboard.ratings import Battles
from leaderboard.ratings.influence import influence

MOST_BATTLES = 20_000  # in about a quarter of a second, once in so many changes as the effects of order are
PROMPTS, VOTERS = "prompts", "voters"


@dataclass(frozen=True, slots=True)
class Dependence:
    """on: "prompts" or "voters", of which there are `units`. first: without how many of them, each by itself, another
    contestant is first; ranks: without how many any rank changes. name, label, before, after, moves: whose rank, or
    else rating in Elo, changes most without one of them; moves is null where it then has no rating.
    """

    on: str
    units: int
    first: int
    ranks: int
    name: str
    label: str
    before: int
    after: int
    moves: float | None

    @property
    def changes_rank(self) -> bool:
        return self.before != self.after


def dependences(board: Board) -> tuple[Dependence, ...]:
    """As of the last change that the effects of order are computed at. Empty for a board of more than 20,000 battles,
    or of one prompt.
    """
    return memoize("influence", state_of_effects(board), lambda: _dependences(board))


def _dependences(board: Board) -> tuple[Dependence, ...]:
    battles = Battle.objects.filter(board=board, left__void_reason="", right__void_reason="", winner__in=Battle.SCORES)
    columns = ("left_id", "right_id", "winner", "sample_id", "cast_by")
    if sum(board.pairs.aggregate(**{name: Sum(name, default=0) for name in COLUMNS[:3]}).values()) > MOST_BATTLES:
        return ()
    rows = list(battles.counted().by_voter().order_by("pk").values_list(*columns))
    if not rows:
        return ()
    keys = sorted({key for left, right, *_rest in rows for key in (left, right)})
    place = {key: number for number, key in enumerate(keys)}
    lefts, rights = ([place[row[side]] for row in rows] for side in (0, 1))
    told = Battles(lefts, rights, [Battle.SCORES[row[2]] for row in rows], list(map(str, keys)))
    labels = {str(one.pk): (one.name, str(one)) for one in board.dataset.contestants.filter(pk__in=keys)}
    units = {PROMPTS: np.array([row[3] for row in rows])}
    voters = [row[4] for row in rows]
    if board.kind == Board.Kind.PEOPLE and all(voters) and not any(map(is_unnamed, voters)):
        units[VOTERS] = np.unique(voters, return_inverse=True)[1].reshape(-1)
    found = []
    for on, clusters in units.items():
        one = influence(told, clusters)
        if one:
            name, label = labels[one.contestant]
            moves = finite(one.moves)
            found.append(Dependence(on, one.clusters, one.first, one.any, name, label, one.before, one.after, moves))
    return tuple(found)
