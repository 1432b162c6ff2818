"""How far the boards of a dataset agree, each two of them on the same outputs of the same sample: judges with people,
people who vote here with people elsewhere, judges with each other; and the people of a board with each other, the
ceiling for any judge.

"Neither" is one answer here: a tie, and both bad, which models are not asked about. What is looked at is bounded: the
newest judgments of a board, and the boards with the most. Intervals draw items anew, an item being two outputs of one
sample: the votes on one item are no independent evidence, since all of them meet the same verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _

from experiments.models import Battle, Board, Dataset
from experiments.models.battles import is_unnamed
from leaderboard.boards import bias
from leaderboard.boards.bias import OrderEffects
from leaderboard.boards.caching import memoize
from leaderboard.ratings import Undefined, fit
from leaderboard.ratings.agreement import kappa_interval_of_items, kappa_of_table, spearman
from leaderboard.ratings.statistics import Interval, Share, share_of_items
from leaderboard.ratings.values import FloatArray, IntArray
from leaderboard.votes import voting

MOST_JUDGMENTS = 100_000  # of a board
MOST_BOARDS = 12
CHANGES_APART = 200  # of a board, after which the figures are computed again
FEW_CHANGES = 5_000  # of a board of votes: up to it the figures follow every vote
ANSWER = {"left": 0, "right": 1, "tie": 2, "both_bad": 2}
ANSWERS = 3
AGREEMENT_REASONS = {
    "nothing_paired": _("no output was compared by both"),
    "constant": _("all answers are the same, so agreement cannot be distinguished from chance"),
    "too_few_units": _("too few values"),
    "mostly_undefined": _("too few values"),
    "no_battles": _("nothing was judged in single orders"),
    "separated": _("one side always wins, so there is no finite value"),
    "confounded": _("the side and the contestant always coincide, so their effects cannot be separated"),
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """exact: the same answer; decisive: the same side, where both chose one; compared: pairs of answers."""

    exact: Share
    decisive: Share
    kappa: float | Undefined
    interval: Interval | Undefined

    @property
    def compared(self) -> int:
        return self.exact.of


@dataclass(frozen=True, slots=True)
class Pair:
    """Two boards. ranks: Spearman's correlation of their ratings, of `rated` contestants."""

    first: Board
    second: Board
    answers: Agreement
    ranks: float | Undefined
    rated: int

    @property
    def people(self) -> int:
        """How many of the two are boards of people."""
        return sum(board.kind == Board.Kind.PEOPLE for board in (self.first, self.second))


@dataclass(frozen=True, slots=True)
class Answered:
    """What one board has to say. is_whole: whether all its judgments were read. voters: who cast votes, as far as they
    are told apart; unnamed: votes of which it is not known who cast them. among: of two people's votes on the same
    outputs, the ceiling for any judge; None of a judge.
    """

    board: Board
    judgments: int
    is_whole: bool
    voters: int
    unnamed: int
    among: Agreement | None
    order: OrderEffects


@dataclass(frozen=True, slots=True)
class Report:
    """Boards and pairs, those of people first. left_out: boards beyond those with the most judgments."""

    boards: tuple[Answered, ...]
    pairs: tuple[Pair, ...]
    left_out: int

    @property
    def people(self) -> tuple[Answered, ...]:
        return tuple(one for one in self.boards if one.among is not None)

    @property
    def votes(self) -> int:
        return sum(one.judgments for one in self.people)

    @property
    def voters(self) -> int:
        return sum(one.voters for one in self.people)

    @property
    def unnamed(self) -> int:
        return sum(one.unnamed for one in self.people)

    @property
    def is_whole(self) -> bool:
        return all(one.is_whole for one in self.boards)


def current_report(dataset: Dataset) -> Report:
    """Computed once per state of the boards: after each vote while there are few, else after CHANGES_APART changes."""
    states: list[Any] = []
    for pk, kind, changes in Board.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "kind", "changes"):
        is_exact = changes < (FEW_CHANGES if kind == Board.Kind.PEOPLE else CHANGES_APART)
        states.append((pk, changes if is_exact else -(changes // CHANGES_APART)))
    void = sorted(dataset.contestants.exclude(void_reason="").values_list("pk", flat=True))
    return memoize("agreement", (str(dataset.pk), states, void), lambda: report(dataset))


def report(dataset: Dataset) -> Report:
    boards = list(dataset.boards.select_related("dataset", "judge_model__provider"))
    boards.sort(key=lambda board: (board.kind != Board.Kind.PEOPLE, -board.changes, board.pk))
    chosen = boards[:MOST_BOARDS]
    keys = list(dataset.contestants.filter(void_reason="").order_by("pk").values_list("pk", flat=True))
    place = {key: number for number, key in enumerate(keys)}
    people = [board.pk for board in chosen if board.kind == Board.Kind.PEOPLE]
    answers = {board.pk: _read(board, place, people) for board in chosen}
    ratings = {board.pk: fit(voting.pair_table(board, keys)[0]).values for board in chosen}
    pairs = []
    for first, second in combinations(chosen, 2):
        a, b = ratings[first.pk], ratings[second.pk]
        rated = int((~(np.isnan(a) | np.isnan(b))).sum())
        both = _between(answers[first.pk], answers[second.pk])
        pairs.append(Pair(first, second, both, spearman(a, b), rated))
    pairs.sort(key=lambda pair: -pair.people)
    found = (
        Answered(
            board=board,
            judgments=len(mine.item),
            is_whole=mine.is_whole,
            voters=mine.voters,
            unnamed=mine.unnamed,
            among=_among(mine) if board.pk in people else None,
            order=bias.current_effects(board),
        )
        for board in chosen
        for mine in (answers[board.pk],)
    )
    return Report(tuple(found), tuple(pairs), len(boards) - len(chosen))


def agreement_of_tables(tables: FloatArray, *, weight: float = 1.0) -> Agreement:
    """tables[k, i, j]: on item k, how often the first said i and the second j, of left, right and neither. weight: how
    many pairs of answers one of these is. Shares are of all answers, and of those in which both chose a side; by item.
    """
    exact, decisive = (
        share_of_items(np.trace(chosen, axis1=1, axis2=2), chosen.sum(axis=(1, 2)))
        for chosen in (tables * weight, tables[:, :2, :2] * weight)
    )
    return Agreement(exact, decisive, kappa_of_table(tables.sum(axis=0)), kappa_interval_of_items(tables))


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """One row per judgment: the item, the same number on every board; the answer; and who gave it, numbered from 0."""

    item: IntArray
    answer: IntArray
    by: IntArray
    voters: int
    unnamed: int
    is_whole: bool

    def counts(self) -> tuple[IntArray, FloatArray]:
        """The items, rising, and how often each answer was given on each."""
        items, place = np.unique(self.item, return_inverse=True)
        cells = np.bincount(place.reshape(-1) * ANSWERS + self.answer, minlength=len(items) * ANSWERS)
        return items, cells.reshape(-1, ANSWERS).astype(np.float64)


def _read(board: Board, place: Mapping[int, int], people: list[int]) -> _Answers:
    """The newest judgments. Where a judge has more than are read, those on what people have voted on come first."""
    rows = Battle.objects.filter(board=board, left__void_reason="", right__void_reason="").counted()
    after = rows.order_by("-pk").values_list("pk", flat=True)[MOST_JUDGMENTS : MOST_JUDGMENTS + 1]
    oldest = next(iter(after), None)
    if oldest is not None and people and board.pk not in people:
        rows = rows.filter(sample__in=Battle.objects.filter(board__in=people).counted().values("sample"))
    elif oldest is not None:
        rows = rows.filter(pk__gt=oldest)
    columns = ("sample_id", "left_id", "right_id", "winner", "cast_by")
    found = list(rows.by_voter().order_by("-pk").values_list(*columns)[:MOST_JUDGMENTS])
    items = [(sample * len(place) + place[left]) * len(place) + place[right] for sample, left, right, *_rest in found]
    cast_by = [row[4] for row in found]
    voters, by = np.unique(np.array(cast_by, dtype=str), return_inverse=True)
    unnamed = sum(map(is_unnamed, cast_by))
    return _Answers(
        item=np.array(items, dtype=np.int64),
        answer=np.array([ANSWER[row[3]] for row in found], dtype=np.int64),
        by=by.reshape(-1),
        voters=sum(not is_unnamed(str(voter)) for voter in voters),
        unnamed=unnamed,
        is_whole=oldest is None,
    )


def _between(first: _Answers, second: _Answers) -> Agreement:
    """Of every answer on the one board with every answer on the other, on the same item."""
    (items, answers), (others, their_answers) = first.counts(), second.counts()
    _common, mine, theirs = np.intersect1d(items, others, assume_unique=True, return_indices=True)
    return agreement_of_tables(answers[mine][:, :, None] * their_answers[theirs][:, None, :])


def _among(found: _Answers) -> Agreement:
    """Of every two people's answers on the same item; each such pair counts once in either direction, and half. Two
    answers of one person are no pair.
    """
    items, answers = found.counts()
    tables = answers[:, :, None] * answers[:, None, :]
    place = np.searchsorted(items, found.item)
    each, of_each = np.unique(np.stack([place, found.by], axis=1), axis=0, return_inverse=True)
    cells = np.bincount(of_each.reshape(-1) * ANSWERS + found.answer, minlength=len(each) * ANSWERS)
    own = cells.reshape(-1, ANSWERS).astype(np.float64)
    np.subtract.at(tables, each[:, 0], own[:, :, None] * own[:, None, :])
    return agreement_of_tables(tables[tables.any(axis=(1, 2))], weight=0.5)
