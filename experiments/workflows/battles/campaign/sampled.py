"""Battles with the samples that they share, as numbers: what intervals are made of, read as they come."""

from collections.abc import Collection, Mapping
from itertools import chain

import numpy as np
from django.db import connection
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from numpy.typing import NDArray

from experiments.models import Battle
from leaderboard.ratings import Battles
from leaderboard.ratings.intervals import Shared

AT_ONCE = 20_000  # rows
DOUBLED: Mapping[str, int] = {winner: int(2 * score) for winner, score in Battle.SCORES.items()}
Numbers = NDArray[np.int64]


def shared_of(
    boards: Collection[int], keys: Mapping[int, int], names: tuple[str, ...], only: Q | None = None
) -> Shared:
    """The battles of the boards that ratings are made of, between those of the keys, each with its sample.

    keys: contestants' keys to their places in `names`; two keys of one name share a place, and are never compared.
    only: which battles; all without it.
    """
    battles, rows = read_battles(boards, keys, names, only=only)
    return Shared(battles, rows[:, 0])


def read_battles(
    boards: Collection[int],
    keys: Mapping[int, int],
    names: tuple[str, ...],
    columns: Mapping[str, Combinable] | None = None,
    only: Q | None = None,
) -> tuple[Battles, Numbers]:
    """The battles of `shared_of`, and of each its sample, left and right key, the left one's score twice, and columns.

    columns: whole numbers, by name, as the database computes them.
    """
    columns = columns or {}
    if not boards or not keys:
        return Battles([], [], [], names), np.zeros((0, 4 + len(columns)), dtype=np.int64)
    battles = Battle.objects.filter(only or Q(), board__in=list(boards), winner__in=DOUBLED).counted().order_by()
    rows = _numbers(battles, columns)
    place = np.full(max([*keys, int(rows[:, 1:3].max(initial=0))], default=0) + 1, -1, dtype=np.int64)
    place[list(keys)] = list(keys.values())
    left, right = place[rows[:, 1]], place[rows[:, 2]]
    inside = (left >= 0) & (right >= 0) & (left != right)
    return Battles(left[inside], right[inside], rows[inside, 3] / 2, names), rows[inside]


def _numbers(battles: QuerySet[Battle], columns: Mapping[str, Combinable]) -> Numbers:
    """Sample, left, right, twice the left one's score, and the columns, one row per battle."""
    said = [When(winner=winner, then=Value(doubled)) for winner, doubled in DOUBLED.items()]
    doubled = Case(*said, output_field=IntegerField())
    width = 4 + len(columns)
    rows = battles.annotate(doubled=doubled, **columns).values_list(
        "sample_id", "left_id", "right_id", "doubled", *columns
    )
    found = [np.zeros((0, width), dtype=np.int64)]
    with connection.cursor() as cursor:  # whole numbers as they come: twice as fast as through the query set
        cursor.execute(*rows.query.sql_with_params())
        while some := cursor.fetchmany(AT_ONCE):
            found.append(np.fromiter(chain.from_iterable(some), dtype=np.int64).reshape(-1, width))
    return np.concatenate(found)
