"""What the page of a ladder shows, chosen by its address: a slice, a sequence, a search, the kind of interval."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from leaderboard.boards.compute import Current
from leaderboard.boards.counts import counts_of
from leaderboard.boards.standings import Row, Standings
from leaderboard.models import Ladder

COLUMNS = {
    "rank": _("Rank"),
    "name": _("Contestant"),
    "rating": _("Rating"),
    "battles": _("Battles"),
    "win_rate": _("Win rate"),
    "consistency": _("Consistency"),
    "first": _("Best"),
}
RISING = ("rank", "name")  # the sequence in which a column is first sorted; the others fall
LONGEST_SEARCH = 200
LONGEST_SLICE = 100  # as long as the names of subsets and categories are


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address asks for; whatever it does not know is as if it were not there."""

    subset: str = ""
    category: str = ""
    search: str = ""
    sort: str = "rank"
    is_reversed: bool = False
    bootstrapped: bool = False

    @property
    def sort_word(self) -> str:
        return f"-{self.sort}" if self.is_reversed else self.sort


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's head. order: "ascending", "descending", or empty where another column sorts. sort: its link's word."""

    name: str
    label: Any
    order: str
    sort: str


def read_choice(asked: Mapping[str, str]) -> Choice:
    word = asked.get("sort", "")
    sort = word.removeprefix("-")
    is_known = sort in COLUMNS
    return Choice(
        subset=_plain(asked.get("subset", ""))[:LONGEST_SLICE],
        category=_plain(asked.get("category", ""))[:LONGEST_SLICE],
        search=_plain(asked.get("search", ""))[:LONGEST_SEARCH].strip(),
        sort=sort if is_known else "rank",
        is_reversed=is_known and word.startswith("-"),
        bootstrapped=asked.get("intervals") == "bootstrap",
    )


def headings(chosen: Choice) -> list[Heading]:
    return [_heading(name, label, chosen) for name, label in COLUMNS.items()]


def shown_rows(found: Standings, chosen: Choice) -> list[Row]:
    """The rows that the search finds, in the sequence asked for; those without the figure come last."""
    word = chosen.search.casefold()
    rows = [row for row in found.rows if word in row.name.casefold() or word in row.label.casefold()]
    if chosen.sort == "rank":
        return rows[::-1] if chosen.is_reversed else rows
    return _sorted(rows, chosen.sort, falls=(chosen.sort in RISING) == chosen.is_reversed)


def _plain(word: str) -> str:
    """Without what no database takes."""
    return word.replace("\0", "")


def _sorted(rows: Iterable[Row], column: str, *, falls: bool) -> list[Row]:
    def value(row: Row) -> Any:
        return row.shown.casefold() if column == "name" else getattr(row, column)

    listed = list(rows)
    known = [row for row in listed if value(row) is not None]
    return sorted(known, key=value, reverse=falls) + [row for row in listed if value(row) is None]


def _heading(name: str, label: Any, chosen: Choice) -> Heading:
    falls_first = name not in RISING
    if name != chosen.sort:
        return Heading(name, label, "", name)
    falls = falls_first != chosen.is_reversed
    return Heading(name, label, "descending" if falls else "ascending", name if chosen.is_reversed else f"-{name}")


MOST_SHOWN = 40
SHADES = 10


@dataclass(frozen=True, slots=True)
class Cell:
    """One against another. win_rate: 0 to 1, ties half; shade: 0 lost all, 5 even, 10 won all."""

    wins: int
    losses: int
    ties: int
    both_bad: int
    win_rate: float
    shade: int

    @property
    def battles(self) -> int:
        return self.wins + self.losses + self.ties


@dataclass(frozen=True, slots=True)
class MatrixLine:
    row: Row
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """In the sequence of the ladder. of: how many contestants there are in all."""

    lines: tuple[MatrixLine, ...]
    of: int

    @property
    def is_whole(self) -> bool:
        return len(self.lines) == self.of


def pair_matrix(ladder: Ladder, current: Current, *, whole: bool = False) -> Matrix | None:
    """The first MOST_SHOWN contestants against each other, or all; None for a ladder that has no board."""
    if ladder.board is None:
        return None
    found = current.standings
    counts = counts_of(ladder.board, found.subset, found.category)
    place = {contestant.pk: index for index, contestant in enumerate(counts.contestants)}
    known = [row for row in found.rows if row.contestant in place]
    shown = known if whole else known[:MOST_SHOWN]
    where = [place[row.contestant] for row in shown if row.contestant is not None]
    tables = [table[where][:, where].astype(int) for table in (counts.wins, counts.ties, counts.both_bad)]
    wins, ties, both_bad = (table.tolist() for table in tables)
    size = range(len(shown))
    lines = [
        MatrixLine(row, tuple(_cell(wins[i][j], wins[j][i], ties[i][j], both_bad[i][j]) for j in size))
        for i, row in enumerate(shown)
    ]
    return Matrix(tuple(lines), len(known))


def _cell(wins: int, losses: int, ties: int, both_bad: int) -> Cell | None:
    games = wins + losses + ties
    if not games:
        return None
    rate = (wins + ties / 2) / games
    return Cell(wins, losses, ties, both_bad, rate, round(rate * SHADES))
