"""How far a board depends on single prompts, and a board of votes on single voters."""

from dataclasses import dataclass

import numpy as np

from experiments.models import Battle, Board
from experiments.models.battles import is_unnamed
from leaderboard.boards.bias import SCORES
from leaderboard.boards.caching import memoize
from leaderboard.boards.standings import finite
from leaderboard.ratings import Battles
from leaderboard.ratings.influence import influence

MOST_BATTLES = 50_000  # in about half a second
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
    """Computed once per state of the board. Empty for a board of more than 50,000 battles, or of one prompt."""
    return memoize("influence", (board.pk, board.changes), lambda: _dependences(board))


def _dependences(board: Board) -> tuple[Dependence, ...]:
    battles = Battle.objects.filter(board=board, left__void_reason="", right__void_reason="", winner__in=SCORES)
    columns = ("left_id", "right_id", "winner", "sample_id", "cast_by")
    rows = list(battles.counted().by_voter().order_by("pk").values_list(*columns)[: MOST_BATTLES + 1])
    if not rows or len(rows) > MOST_BATTLES:
        return ()
    keys = sorted({key for left, right, *_rest in rows for key in (left, right)})
    place = {key: number for number, key in enumerate(keys)}
    lefts, rights = ([place[row[side]] for row in rows] for side in (0, 1))
    told = Battles(lefts, rights, [SCORES[row[2]] for row in rows], list(map(str, keys)))
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
