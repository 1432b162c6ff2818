"""The counts of a board's pairs as arrays, and the table that ratings are computed from."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from django.db import connection
from django.db.models import Sum

from experiments.models import Board, Contestant, PairCount
from leaderboard.boards.caching import memoize
from leaderboard.ratings import Table
from leaderboard.ratings.values import FloatArray, IntArray

COLUMNS = ("left_wins", "right_wins", "ties", "both_bad", "consistent", "inconsistent")


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How contestants fared against each other, n × n in their sequence.

    wins[i, j]: of i over j; the others are the same both ways. excluded: battles of excluded contestants, by their key.
    """

    contestants: tuple[Contestant, ...]
    wins: FloatArray
    ties: FloatArray
    both_bad: FloatArray
    consistent: FloatArray
    inconsistent: FloatArray
    excluded: dict[int, int]

    @property
    def table(self) -> Table:
        return Table(self.wins, self.ties, tuple(contestant.name for contestant in self.contestants))


def counts_of(board: Board, subset: str = "", category: str = "") -> Counts:
    """Read the counts of a slice; empty words stand for all of them. Contestants that are left out are not among it."""
    rows = _rows(board, subset, category)
    contestants = Contestant.objects.filter(dataset=board.dataset_id).select_related("model__provider").order_by("name")
    battled = set(np.unique(rows[:, :2]).tolist())
    known = [one for one in contestants if one.pk in battled]
    kept = tuple(one for one in known if not one.void_reason)
    keys, size = [one.pk for one in kept], len(kept)
    place = np.full(max([*keys, int(rows[:, :2].max(initial=0))], default=0) + 1, -1, dtype=np.int64)
    place[keys] = np.arange(size)
    left, right = place[rows[:, 0]], place[rows[:, 1]]
    inside = (left >= 0) & (right >= 0)
    cells, columns = left[inside] * size + right[inside], rows[inside, 2:]

    def matrix(column: int) -> FloatArray:
        found = np.bincount(cells, columns[:, column], minlength=size * size)
        return np.asarray(found, dtype=np.float64).reshape(size, size)

    left_wins, right_wins = matrix(0), matrix(1)
    ties, both_bad, consistent, inconsistent = (one + one.T for one in map(matrix, range(2, len(COLUMNS))))
    of_key = {one.pk: (rows[:, :2] == one.pk).any(axis=1) for one in known if one.void_reason}
    excluded = {key: int(rows[mine, 2:6].sum()) for key, mine in of_key.items()}
    return Counts(kept, left_wins + right_wins.T, ties, both_bad, consistent, inconsistent, excluded)


def slices_of(board: Board) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The subsets and the categories that have battles, each in sequence. Looked for when a count has become new."""

    def find() -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = list(PairCount.objects.filter(board=board).order_by().values_list("subset", "category").distinct())
        subsets, categories = ({pair[index] for pair in found} - {""} for index in (0, 1))
        return tuple(sorted(subsets)), tuple(sorted(categories))

    newest = PairCount.objects.order_by("-pk").values_list("pk", flat=True).first()
    return memoize("slices", (board.slug, newest), find)


def _rows(board: Board, subset: str, category: str) -> IntArray:
    """One row per pair: left, right, and the columns, summed over slices by the database."""
    chosen = {name: value for name, value in (("subset", subset), ("category", category)) if value}
    pairs = PairCount.objects.filter(board=board, **chosen).order_by()
    found = pairs.values_list("left_id", "right_id", *COLUMNS)
    if any(slices_of(board)):
        found = pairs.values_list("left_id", "right_id").annotate(**{f"all_{name}": Sum(name) for name in COLUMNS})
    with connection.cursor() as cursor:  # integers straight from the cursor: twice as fast as through the query set
        cursor.execute(*found.query.sql_with_params())
        numbers = np.fromiter(chain.from_iterable(cursor.fetchall()), dtype=np.int64)
    return numbers.reshape(-1, 2 + len(COLUMNS))
