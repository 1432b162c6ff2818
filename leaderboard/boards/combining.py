"""Ratings of a board from people and judges together: its battles, and those of the other kind on the same dataset."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import F
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.models import Board, Contestant
from experiments.workflows.battles.campaign.sampled import read_battles
from leaderboard.boards import ranking
from leaderboard.boards.standings import WHOLE, Slice
from leaderboard.boards.style import MOST_ADJUSTED, Adjusted, adjusted_rows
from leaderboard.boards.titles import board_title
from leaderboard.models import Ladder
from leaderboard.ratings import Battles, Shared, Undefined, corrected, pooled, tally

CORRECTED, POOLED = "corrected", "pooled"
WEIGHTS = ("0.1", "0.25", "0.5", "1")  # that a page offers
MOST_WEIGHT = 100.0


@dataclass(frozen=True, slots=True)
class Combination:
    """What is asked for. weight: how many votes of people one verdict counts as; None: `CORRECTED`."""

    weight: float | None

    @property
    def method(self) -> str:
        return CORRECTED if self.weight is None else POOLED


@dataclass(frozen=True, slots=True)
class Source:
    """A board that is in the fit. kind: as of `Board`. weight: of each of its battles; null where verdicts correct what
    few votes leave open. battles: how many are in the fit.
    """

    slug: str
    title: str
    kind: str
    weight: float | None
    battles: int

    @property
    def is_people(self) -> bool:
        return self.kind == Board.Kind.PEOPLE


@dataclass(frozen=True, slots=True)
class Combined:
    """method: "pooled" or "corrected". weight: see `leaderboard.ratings.combined`. votes, verdicts: battles of people
    and of judges; both: votes on outputs that a judge has compared, too. reason: why there is no combined rating at
    all, a code of `Reason`; empty otherwise.
    """

    method: str
    weight: float | None
    sources: tuple[Source, ...]
    rows: tuple[Adjusted, ...]
    votes: int
    verdicts: int
    both: int
    reason: str = ""

    def row(self, name: str) -> Adjusted | None:
        return next((row for row in self.rows if row.name == name), None)


def read_combination(word: str) -> Combination | None:
    """What a word asks for: CORRECTED, or how many votes one verdict counts as; empty for nothing.

    Raises Invalid for another word, and a number that is no weight.
    """
    if not word:
        return None
    if word == CORRECTED:
        return Combination(None)
    try:
        weight = float(word)
    except ValueError:
        weight = 0.0
    if not 0 < weight <= MOST_WEIGHT:
        said = _("“%(word)s” is no weight. Give a number above 0, up to %(most)s, or “%(corrected)s”.")
        raise Invalid({"combine": [said % {"word": word[:40], "most": f"{MOST_WEIGHT:g}", "corrected": CORRECTED}]})
    return Combination(weight)


def boards_beside(ladder: Ladder, beside: Sequence[Ladder]) -> tuple[Board, ...]:
    """The boards that a combined rating of this one is made of, itself first: a judge's with all of people, one of
    people with all of judges. beside: the others of its dataset that the reader may see. Empty where there is no other
    kind.
    """
    if ladder.board is None:
        return ()
    is_of_people = ladder.board.kind == Board.Kind.PEOPLE
    others = [one.board for one in beside if one.board and (one.board.kind == Board.Kind.PEOPLE) != is_of_people]
    return (ladder.board, *sorted(others, key=lambda board: board.pk)) if others else ()


def combined(boards: Sequence[Board], asked: Combination, of: Slice = WHOLE) -> Combined:
    """The contestants of these boards, or of a slice of them, in one fit; samples are clusters, whoever decided.

    Raises Invalid where there is nothing to combine, and for more battles than a page has time for.
    """
    if not boards:
        said = _("This board cannot be combined: its dataset has no other board that people, or else judges, decided.")
        raise Invalid({"combine": [said]})
    counts = [ranking.counts_of(board, of) for board in boards]
    if sum(map(ranking.to_read, counts)) > MOST_ADJUSTED:
        said = _(
            "Boards of more than %(n)s battles cannot be combined here. Filter them by subset, category or period."
        )
        raise Invalid({"combine": [said % {"n": f"{MOST_ADJUSTED:,}"}]})
    contestants: dict[int, Contestant] = {one.pk: one for count in counts for one in count.contestants}
    sequence = sorted(contestants.values(), key=lambda one: one.name)
    names = tuple(one.name for one in sequence)
    keys = {one.pk: place for place, one in enumerate(sequence)}
    battles, rows = read_battles([board.pk for board in boards], keys, names, {"on": F("board_id")}, of.battles)

    def those(chosen: Sequence[Board]) -> Shared:
        at = np.flatnonzero(np.isin(rows[:, 4], [board.pk for board in chosen]))
        return Shared(Battles(battles.left[at], battles.right[at], battles.score[at], names), rows[at, 0])

    people = those([board for board in boards if board.kind == Board.Kind.PEOPLE])
    judges = those([board for board in boards if board.kind != Board.Kind.PEOPLE])
    found = corrected(people, judges) if asked.weight is None else pooled(people, judges, asked.weight)
    sources = tuple(
        Source(
            slug=board.slug,
            title=board_title(board),
            kind=board.kind,
            weight=1.0 if board.kind == Board.Kind.PEOPLE else asked.weight,
            battles=int((rows[:, 4] == board.pk).sum()),
        )
        for board in boards
    )
    sizes = (len(people.battles), len(judges.battles))
    if isinstance(found, Undefined):
        return Combined(asked.method, asked.weight, sources, (), *sizes, both=0, reason=str(found.reason))
    table = tally(people.battles if asked.weight is None else battles)
    placed = adjusted_rows(ranking.ranking_of(found.intervals, table))
    return Combined(asked.method, round(found.weight, 6), sources, placed, *sizes, both=found.both)
