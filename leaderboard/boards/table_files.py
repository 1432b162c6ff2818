"""The tables beside a board's ratings as CSV files: each pair, each slice, the history, and the milestones."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from accounts.csv_cells import cell
from leaderboard.boards import milestones, tables
from leaderboard.boards.compute import current
from leaderboard.boards.downloads import COLUMNS
from leaderboard.models import Ladder

Rows = Iterator[Sequence[Any]]
PAIR = ("name", "against", "wins", "losses", "ties", "both_bad", "win_rate")
POINT = ("at", "occasion", "name", "rating", "lower", "upper", "battles")
MILESTONE = ("milestone", "version", "date", "taken", "battles", "note", "name", "rating", "lower", "upper")


def pairs(ladder: Ladder, asked: QueryDict) -> Rows:
    """Each contestant against each that it met, in the sequence of the board, or of a slice of it."""
    yield PAIR
    matrix = tables.pair_matrix(ladder, current(ladder, tables.read_choice(asked).of), whole=True)
    lines = matrix.lines if matrix else ()
    for line in lines:
        for other, one in zip(lines, line.cells, strict=True):
            if one:
                yield (line.row.name, other.row.name, *(getattr(one, name) for name in PAIR[2:]))


def slices(ladder: Ladder, _asked: QueryDict) -> Rows:
    """Contestants in the slices of every kind that the board has, as many of each as its page shows."""
    yield ("by", "value", *COLUMNS)
    for facet in tables.facets(current(ladder).standings):
        found = tables.by_slices(ladder, facet.name)
        for line in found.lines if found else ():
            for value, row in line.cells:
                if row:
                    yield (facet.name, value, *(getattr(row, name) for name in COLUMNS))


def history(ladder: Ladder, asked: QueryDict) -> Rows:
    """What each contestant, or each named one, was rated whenever the board was computed, newest first."""
    yield POINT
    points, names = ladder.points.order_by("-pk"), [name.replace("\0", "") for name in asked.getlist("name")]
    yield from (points.filter(name__in=names) if names else points).values_list(*POINT)


def published(ladder: Ladder, asked: QueryDict) -> Rows:
    """The ratings of each milestone as published, of a version or date where one is asked for, newest first."""
    yield MILESTONE
    version, date = (asked.get(name, "").replace("\0", "") for name in ("version", "date"))
    for one in milestones.listed(ladder, version=version, date=date):
        about = (one.name, one.version, one.dated, one.taken, one.battles, one.note)
        for rating in milestones.published(one):
            yield (*about, rating.name, rating.rating, rating.lower, rating.upper)


FILES: Mapping[str, Callable[[Ladder, QueryDict], Rows]] = {
    "matrix": pairs, "slices": slices, "history": history, "milestones": published,
}  # fmt: skip


def as_csv(rows: Rows) -> str:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    written = io.StringIO()
    csv.writer(written).writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()
