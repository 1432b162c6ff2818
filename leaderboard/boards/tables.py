"""The tables of one ladder: its rows as an address chooses them, and how often each contestant beat each other one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from leaderboard.boards import compute
from leaderboard.boards.combining import Combination, Combined, read_combination
from leaderboard.boards.compute import Current, current
from leaderboard.boards.contamination import Unseen
from leaderboard.boards.periods import RECENT, Period
from leaderboard.boards.ranking import MOST_IN_PERIOD, battles_within, counts_of
from leaderboard.boards.standings import WHOLE, Row, Slice, Standings
from leaderboard.boards.style import StyleControl, read_control
from leaderboard.models import Ladder

COLUMNS = {
    "rank": _("Rank"),
    "name": _("Contestant"),
    "rating": _("Rating"),
    "battles": _("Battles"),
    "win_rate": _("Win rate"),
    "consistency": _("Same in both orders"),
    "first": _("P(best)"),
}
FURTHER = {
    "adjusted": _("Adjusted for style"),
    "combined": _("People and judges"),
    "unseen": _("Unseen samples"),
}  # columns after the rating
EXPLAINED = {
    "rank": _("Interval of the rank at 95 percent. It follows pairwise differences of ratings, not overlaps."),
    "rating": _(
        "Bradley–Terry rating on the Elo scale, mean 1000. “> 1200” is the lower bound of an undefeated contestant."
    ),
    "interval": _("Interval of the rating at 95 percent. All battles on one prompt are one observation."),
    "adjusted": _("Rating with the style of the outputs held equal, in one fit with the ratings."),
    "combined": _("Rating from the battles of people and of judges in one fit."),
    "unseen": _("Rating from samples alone that were not public before either contestant was released."),
    "battles": _("Decided battles. Those in which both were bad are included, but count in no rating."),
    "results": _("Battles won, lost and tied."),
    "win_rate": _("Share of battles won; a tie counts half."),
    "consistency": _("Share of battles that the judge decided alike in both orders of the outputs."),
    "first": _("Probability of ranking first; not computed while an undefeated contestant ranks above the rated."),
    "mark": _("Contestants with the same mark beside their rank cannot be distinguished from the highest of them."),
}
RISING = ("rank", "name")  # the sequence in which a column is first sorted; the others fall
LONGEST_SEARCH = 200
LONGEST_SLICE = 200  # as long as the names of sources are
MOST_TABS = 12
MOST_SLICES = 12
MOST_SHOWN = 40
SHADES = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """What the address asks for; whatever it does not know is as if it were not there."""

    of: Slice = WHOLE
    search: str = ""
    sort: str = "rank"
    is_reversed: bool = False
    bootstrapped: bool = False
    control: str = ""
    combine: str = ""
    unseen: bool = False

    @property
    def controlled(self) -> tuple[str, ...]:
        """The style features that are held equal. Raises Invalid for one that does not exist."""
        return read_control(self.control)

    @property
    def combination(self) -> Combination | None:
        """How people and judges are combined. Raises Invalid for what is no weight."""
        return read_combination(self.combine)

    @property
    def period(self) -> Period:
        return Period.read(self.of.period)

    @property
    def sort_word(self) -> str:
        return f"-{self.sort}" if self.is_reversed else self.sort


@dataclass(frozen=True, slots=True)
class Further:
    """The ratings that stand beside the plain ones, where they were asked for."""

    style: StyleControl | None = None
    combined: Combined | None = None
    unseen: Unseen | None = None

    @property
    def columns(self) -> dict[str, StyleControl | Combined | Unseen]:
        """Those that have ratings, by a name of FURTHER."""
        found = {"adjusted": self.style, "combined": self.combined, "unseen": self.unseen}
        return {name: one for name, one in found.items() if one and not one.reason}


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's head. order: "ascending", "descending", or empty where another column sorts. sort: its link's word."""

    name: str
    label: Any
    order: str
    sort: str


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


def read_choice(asked: Mapping[str, str]) -> Choice:
    """since, until: a period as the two days of a form. Raises Invalid for a period that cannot be read."""
    names = (*Slice._fields, "since", "until", "search", "sort", "intervals", "control", "combine", "unseen")
    words = (asked.get(name, "").replace("\0", "") for name in names)
    *samples, period, since, until, search, sort, intervals, control, combine, unseen = words
    of = Slice(*(word[:LONGEST_SLICE] for word in samples))
    of = of._replace(period=Period.read(f"{since}..{until}" if since or until else period).word)
    column = sort.removeprefix("-")
    beside = {"adjusted": control, "combined": combine, "unseen": unseen}
    sorts = column in COLUMNS or beside.get(column)
    return Choice(
        of=of,
        search=search[:LONGEST_SEARCH].strip(),
        sort=column if sorts else "rank",
        is_reversed=bool(sorts) and sort.startswith("-"),
        bootstrapped=intervals == "bootstrap",
        control=control[:LONGEST_SEARCH],
        combine=combine[:LONGEST_SEARCH],
        unseen=bool(unseen),
    )


def further(ladder: Ladder, beside: Sequence[Ladder], chosen: Choice) -> Further:
    """beside: the other boards of the dataset that the reader may see. Raises Invalid for what cannot be computed."""
    names, combination = chosen.controlled, chosen.combination
    return Further(
        compute.styled(ladder, names, chosen.of) if names else None,
        compute.combined(ladder, beside, combination, chosen.of) if combination else None,
        compute.unseen(ladder, chosen.of) if chosen.unseen else None,
    )


@dataclass(frozen=True, slots=True)
class Facet:
    """One of the ways to slice a board, and its values. name: as in the address; word: what is chosen, or empty."""

    name: str
    label: Any
    values: tuple[str, ...]
    word: str

    @property
    def shown(self) -> tuple[str, ...]:
        """Those that fit beside each other, what is chosen among them."""
        first = self.values[:MOST_TABS]
        return first if not self.word or self.word in first else (*first, self.word)

    @property
    def hidden(self) -> tuple[str, ...]:
        return tuple(value for value in self.values[MOST_TABS:] if value != self.word)


FACETS = {
    "subset": (_("Subset"), "subsets"),
    "category": (_("Category"), "categories"),
    "source": (_("Source"), "sources"),
    "language": (_("Language"), "languages"),
    "period": (pgettext_lazy("slices", "Period"), "periods"),
}


def facets(found: Standings) -> list[Facet]:
    """The ways in which there is something to choose; the last days beside months."""
    every = [
        Facet(name, label, getattr(found, plural), getattr(found, name)) for name, (label, plural) in FACETS.items()
    ]
    chosen = [one for one in every if len(one.values) > 1 or one.word]
    return [_with_recent(one) if one.name == "period" else one for one in chosen]


def _with_recent(facet: Facet) -> Facet:
    values = (*RECENT, *facet.values)
    word = next((value for value in values if Period.read(value).word == facet.word), facet.word)
    return Facet(facet.name, facet.label, values, word)


@dataclass(frozen=True, slots=True)
class SlicedLine:
    """A contestant on the whole board and in each slice; None where it has no battle."""

    row: Row
    cells: tuple[tuple[str, Row | None], ...]


@dataclass(frozen=True, slots=True)
class Sliced:
    """Contestants by the values of one facet. battles: of each value that is shown; of: how many values there are."""

    facet: Facet
    battles: tuple[tuple[str, int], ...]
    lines: tuple[SlicedLine, ...]
    of: int


def by_slices(ladder: Ladder, asked: str) -> Sliced | None:
    """Contestants by subset, category, source, language or period, as asked for, or else the first that has several
    values. Of periods so many are shown as have no more battles than one may have. None without one.
    """
    whole = current(ladder).standings
    offered = facets(whole)
    if not offered:
        return None
    facet = next((one for one in offered if one.name == asked), offered[0])
    slices = {value: read_choice({facet.name: value}).of for value in facet.values[:MOST_SLICES]}
    if ladder.board and facet.name == "period":
        read = list(accumulate(battles_within(ladder.board, one.period) for one in slices.values()))
        slices = {value: slices[value] for value, many in zip(slices, read, strict=True) if many <= MOST_IN_PERIOD}
    found = {value: current(ladder, one).standings for value, one in slices.items()}
    rows = {value: {row.name: row for row in one.rows} for value, one in found.items()}
    return Sliced(
        facet,
        tuple((value, one.battles) for value, one in found.items()),
        tuple(SlicedLine(row, tuple((value, rows[value].get(row.name)) for value in found)) for row in whole.rows),
        len(facet.values),
    )


def headings(chosen: Choice, further: Further) -> list[Heading]:
    falls = (chosen.sort not in RISING) != chosen.is_reversed
    other = chosen.sort if chosen.is_reversed else f"-{chosen.sort}"
    order = "descending" if falls else "ascending"
    labels: dict[str, Any] = {}
    for name, label in COLUMNS.items():
        labels[name] = label
        labels |= {one: FURTHER[one] for one in further.columns if name == "rating"}
    return [
        Heading(name, label, order, other) if name == chosen.sort else Heading(name, label, "", name)
        for name, label in labels.items()
    ]


def shown_rows(found: Standings, chosen: Choice, further: Further) -> list[Row]:
    """The rows that the search finds, in the sequence asked for; those without the figure come last."""
    word = chosen.search.casefold()
    rows = [row for row in found.rows if word in row.name.casefold() or word in row.label.casefold()]
    if chosen.sort == "rank":
        return rows[::-1] if chosen.is_reversed else rows

    beside = further.columns.get(chosen.sort)
    ratings = {row.name: row.rating for row in beside.rows} if beside else {}

    def value(row: Row) -> Any:
        if chosen.sort in FURTHER:
            return ratings.get(row.name)
        return row.shown.casefold() if chosen.sort == "name" else getattr(row, chosen.sort)

    falls = (chosen.sort in RISING) == chosen.is_reversed
    known = sorted((row for row in rows if value(row) is not None), key=value, reverse=falls)
    return known + [row for row in rows if value(row) is None]


def pair_matrix(ladder: Ladder, current: Current, *, whole: bool = False) -> Matrix | None:
    """The first MOST_SHOWN contestants against each other, or all; None for a ladder that has no board."""
    if ladder.board is None:
        return None
    found = current.standings
    counts = counts_of(ladder.board, found.slice)
    place = {contestant.pk: index for index, contestant in enumerate(counts.contestants)}
    known = [row for row in found.rows if row.contestant in place]
    shown = known if whole else known[:MOST_SHOWN]
    where = [place[row.contestant] for row in shown if row.contestant is not None]
    among = np.ix_(where, where)
    every = (counts.table.wins, counts.table.ties, counts.both_bad)
    wins, ties, both_bad = (table[among].astype(int).tolist() for table in every)

    def cell(i: int, j: int) -> Cell | None:
        games = wins[i][j] + wins[j][i] + ties[i][j]
        if not games:
            return None
        rate = (wins[i][j] + ties[i][j] / 2) / games
        return Cell(wins[i][j], wins[j][i], ties[i][j], both_bad[i][j], rate, round(rate * SHADES))

    lines = (MatrixLine(row, tuple(cell(i, j) for j in range(len(shown)))) for i, row in enumerate(shown))
    return Matrix(tuple(lines), len(known))
