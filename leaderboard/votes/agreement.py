"""How far judges agree with people, and people with each other, on the same outputs of the same sample.

"Neither" is one answer here: a tie, and both bad, which models are not asked about. What is looked at is bounded: the
newest votes, and the newest battles of a judge. Intervals draw items anew, an item being two outputs of one sample: the
votes on one item are no independent evidence, since all of them meet the same verdict.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from experiments.models import Battle, Board, Dataset, Verdict
from leaderboard.boards.bias import in_shown_order
from leaderboard.ratings import Bias, Undefined, fit, position_bias
from leaderboard.ratings.agreement import Interval, Reason, kappa_interval_of_items, kappa_of_table, spearman
from leaderboard.ratings.statistics import Share, share_of_items
from leaderboard.ratings.values import FloatArray
from leaderboard.votes import voting

MOST_VOTES = 20_000
MOST_ITEMS = 5_000
MOST_BATTLES = 4_000
ANSWER = {"left": 0, "right": 1, "tie": 2, "both_bad": 2}
ANSWERS = 3


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
class Leaning:
    """How often what was shown first was chosen, of the judgments that chose a side; and how many points in Elo
    standing first is worth.
    """

    first: Share
    bias: Bias | Undefined


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge's board against people's. ranks: Spearman's correlation of ratings, of `rated` contestants."""

    board: Board
    votes: Agreement
    ranks: float | Undefined
    rated: int
    leaning: Leaning


@dataclass(frozen=True, slots=True)
class Report:
    """people: of two votes on the same outputs, the ceiling for any judge. is_whole: whether all votes were read."""

    votes: int
    voters: int
    is_whole: bool
    judges: tuple[JudgeAgreement, ...]
    people: Agreement
    leaning: Leaning


def report(dataset: Dataset) -> Report:
    """Every board of the dataset that is not people's, against people's."""
    people = Board.objects.filter(dataset=dataset, kind=Board.Kind.PEOPLE).first()
    judges = Board.objects.filter(dataset=dataset).exclude(kind=Board.Kind.PEOPLE).select_related("judge_model")
    votes, is_whole = _newest_votes(people)
    found = [_judged(board, people, votes) for board in judges.order_by("pk")]
    voters = votes.order_by().values("ballot").distinct().count()
    return Report(votes.count(), voters, is_whole, tuple(found), _among_people(votes), _of_people(votes))


def agreement_of_tables(tables: FloatArray) -> Agreement:
    """tables[k, i, j]: on item k, how often the first said i and the second j, of left, right and neither."""
    return Agreement(*_shares(tables), kappa_of_table(tables.sum(axis=0)), kappa_interval_of_items(tables))


def _shares(tables: FloatArray) -> tuple[Share, Share]:
    """The same answer of all, and the same side of those in which both chose one; by item."""
    found = []
    for chosen in (tables, tables[:, :2, :2]):
        same, all_of = np.trace(chosen, axis1=1, axis2=2), chosen.sum(axis=(1, 2))
        found.append(share_of_items(same, all_of))
    return found[0], found[1]


def _newest_votes(people: Board | None) -> tuple[QuerySet[Battle], bool]:
    if people is None:
        return Battle.objects.none(), True
    votes = Battle.objects.filter(board=people, left__void_reason="", right__void_reason="").counted()
    after = votes.order_by("-pk").values_list("pk", flat=True)[MOST_VOTES : MOST_VOTES + 1]
    oldest = next(iter(after), None)
    return (votes, True) if oldest is None else (votes.filter(pk__gt=oldest), False)


def _judged(board: Board, people: Board | None, votes: QuerySet[Battle]) -> JudgeAgreement:
    same = {name: OuterRef(name) for name in ("left", "right", "sample")}
    verdict = Battle.objects.filter(board=board, ballot="", **same).counted().values("winner")[:1]
    both = votes.order_by().annotate(verdict=Subquery(verdict)).filter(verdict__isnull=False)
    said = {answer: Count("pk", filter=Q(winner=answer)) for answer in ANSWER}
    items = both.values("left", "right", "sample", "verdict").annotate(**{f"n_{name}": n for name, n in said.items()})
    rows = list(items.values_list("verdict", *(f"n_{name}" for name in ANSWER)))
    tables = np.zeros((len(rows), ANSWERS, ANSWERS))
    for item, (judged, *counts) in enumerate(rows):
        for answer, count in zip(ANSWER.values(), counts, strict=True):
            tables[item, ANSWER[judged], answer] += count
    ranks, rated = _ranks(board, people)
    return JudgeAgreement(board, agreement_of_tables(tables), ranks, rated, _of_judge(board))


def _ranks(board: Board, people: Board | None) -> tuple[float | Undefined, int]:
    if people is None:
        return Undefined(Reason.NOTHING_PAIRED), 0
    keys = list(board.dataset.contestants.filter(void_reason="").order_by("pk").values_list("pk", flat=True))
    judged, voted = (fit(voting.pair_table(one, keys)).values for one in (board, people))
    return spearman(judged, voted), int((~(np.isnan(judged) | np.isnan(voted))).sum())


def _among_people(votes: QuerySet[Battle]) -> Agreement:
    """Of every two votes on the same item; each such pair counts once in either direction, and half."""
    items = votes.order_by().values("left", "right", "sample")
    several = items.annotate(n=Count("pk")).filter(n__gte=2).order_by("-sample", "left", "right")
    shared = several.values_list("left", "right", "sample")[:MOST_ITEMS]
    counts = list(_answers(votes, list(shared)).values())
    pairs = [np.outer(one, one) - np.diag(one) for one in counts]
    tables = np.array(pairs).reshape(-1, ANSWERS, ANSWERS)
    return Agreement(*_shares(tables / 2), kappa_of_table(tables.sum(axis=0)), kappa_interval_of_items(tables))


def _answers(votes: QuerySet[Battle], shared: list[tuple[int, int, int]]) -> dict[tuple[int, int, int], FloatArray]:
    """How often each answer was given, by item."""
    wanted = set(shared)
    rows = votes.filter(sample__in={sample for _left, _right, sample in shared}).order_by()
    counts: dict[tuple[int, int, int], FloatArray] = {}
    for left, right, sample, said in rows.values_list("left", "right", "sample", "winner"):
        if (item := (left, right, sample)) in wanted:
            counts.setdefault(item, np.zeros(ANSWERS))[ANSWER[said]] += 1
    return counts


def _of_judge(board: Board) -> Leaning:
    """Of the newest battles' verdicts: in the original order left was shown first, in the other one right."""
    newest = Battle.objects.filter(board=board).order_by("-pk").values_list("pk", flat=True)
    oldest = next(iter(newest[MOST_BATTLES : MOST_BATTLES + 1]), 0)
    rows = Verdict.objects.filter(battle__board=board, battle__gt=oldest, battle__void_reason="").exclude(winner="")
    found = rows.values_list("battle__left", "battle__right", "battle__sample", "order", "winner").order_by()
    return _leaning((*of, order == Verdict.Order.ORIGINAL, said) for *of, order, said in found)


def _of_people(votes: QuerySet[Battle]) -> Leaning:
    return _leaning(votes.filter(shown_left_first__isnull=False).order_by().values_list(*PLACED))


PLACED = ("left", "right", "sample", "shown_left_first", "winner")


def _leaning(rows: Iterable[Any]) -> Leaning:
    """rows: left, right, the sample, whether left was shown first, and the answer. Those of a sample go together."""
    battles, items, shown = in_shown_order(rows)
    if not shown:
        return Leaning(Share(0, 0), Undefined(Reason.NO_BATTLES))
    chosen, first = battles.score != 0.5, battles.score == 1.0
    share = share_of_items(np.bincount(items, first), np.bincount(items, chosen))
    return Leaning(share, position_bias(battles, clusters=items))


AGREEMENT_REASONS = {
    "nothing_paired": _("no output was compared by both"),
    "constant": _("all answers are the same, so agreement cannot be told from chance"),
    "too_few_units": _("too few to tell"),
    "mostly_undefined": _("too few to tell"),
    "no_battles": _("nothing was judged in single orders"),
    "separated": _("one side always wins, so no finite number fits"),
    "confounded": _("who stood first goes with who it was, so that one cannot be told from the other"),
}
