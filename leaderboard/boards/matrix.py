"""Who beat whom how often: every pair of a ladder."""

from dataclasses import dataclass

from leaderboard.boards.compute import Current
from leaderboard.boards.counts import counts_of
from leaderboard.boards.standings import Row
from leaderboard.models import Ladder

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
class Line:
    row: Row
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """In the sequence of the ladder. of: how many contestants there are in all."""

    lines: tuple[Line, ...]
    of: int

    @property
    def is_whole(self) -> bool:
        return len(self.lines) == self.of


def matrix(ladder: Ladder, current: Current, *, whole: bool = False) -> Matrix | None:
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
        Line(row, tuple(_cell(wins[i][j], wins[j][i], ties[i][j], both_bad[i][j]) for j in size))
        for i, row in enumerate(shown)
    ]
    return Matrix(tuple(lines), len(known))


def _cell(wins: int, losses: int, ties: int, both_bad: int) -> Cell | None:
    games = wins + losses + ties
    if not games:
        return None
    rate = (wins + ties / 2) / games
    return Cell(wins, losses, ties, both_bad, rate, round(rate * SHADES))
