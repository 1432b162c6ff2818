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
from leaderboard.boards.caching import memoize
from leaderboard.ratings import Bias, Undefined, fit, position_bias
from leaderboard.ratings.agreement import kappa_interval_of_items, kappa_of_table, spearman
from leaderboard.ratings.statistics import Interval, Share, share_of_items
from leaderboard.ratings.values import FloatArray, Reason
from leaderboard.votes import voting

MOST_VOTES = 20_000
MOST_ITEMS = 5_000
MOST_BATTLES = 4_000
CHANGES_APART = 200  # of a judge's board, after which the figures are computed again
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
class SideBias:
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
    leaning: SideBias


@dataclass(frozen=True, slots=True)
class Report:
    """people: of two votes on the same outputs, the ceiling for any judge. is_whole: whether all votes were read."""

    votes: int
    voters: int
    is_whole: bool
    judges: tuple[JudgeAgreement, ...]
    people: Agreement
    leaning: SideBias


def current_report(dataset: Dataset) -> Report:
    """Computed once per state of the boards: after each vote, and after CHANGES_APART changes of a judge's board."""
    states: list[Any] = []
    for pk, kind, changes in Board.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "kind", "changes"):
        is_exact = kind == Board.Kind.PEOPLE or changes < CHANGES_APART
        states.append((pk, changes if is_exact else -(changes // CHANGES_APART)))
    void = sorted(dataset.contestants.exclude(void_reason="").values_list("pk", flat=True))
    return memoize("agreement", (str(dataset.pk), states, void), lambda: report(dataset))


def report(dataset: Dataset) -> Report:
    """Every board of the dataset that is not people's, against people's."""
    people = Board.objects.filter(dataset=dataset, kind=Board.Kind.PEOPLE).first()
    judges = Board.objects.filter(dataset=dataset).exclude(kind=Board.Kind.PEOPLE).select_related("judge_model")
    votes, is_whole = Battle.objects.none(), True
    if people:
        votes = Battle.objects.filter(board=people, left__void_reason="", right__void_reason="").counted()
        after = votes.order_by("-pk").values_list("pk", flat=True)[MOST_VOTES : MOST_VOTES + 1]
        if (oldest := next(iter(after), None)) is not None:
            votes, is_whole = votes.filter(pk__gt=oldest), False
    found = [_judged(board, people, votes) for board in judges.order_by("pk")]
    voters = votes.order_by().values("ballot").distinct().count()
    placed = votes.filter(shown_left_first__isnull=False).order_by()
    leaning = _side_bias(placed.values_list("left", "right", "sample", "shown_left_first", "winner"))
    return Report(votes.count(), voters, is_whole, tuple(found), _among_people(votes), leaning)


def agreement_of_tables(tables: FloatArray, *, weight: float = 1.0) -> Agreement:
    """tables[k, i, j]: on item k, how often the first said i and the second j, of left, right and neither. weight: how
    many pairs of answers one of these is. Shares are of all answers, and of those in which both chose a side; by item.
    """
    exact, decisive = (
        share_of_items(np.trace(chosen, axis1=1, axis2=2), chosen.sum(axis=(1, 2)))
        for chosen in (tables * weight, tables[:, :2, :2] * weight)
    )
    return Agreement(exact, decisive, kappa_of_table(tables.sum(axis=0)), kappa_interval_of_items(tables))


def _judged(board: Board, people: Board | None, votes: QuerySet[Battle]) -> JudgeAgreement:
    same = {name: OuterRef(name) for name in ("left", "right", "sample")}
    verdict = Battle.objects.filter(board=board, ballot="", **same).counted().values("winner")[:1]
    both = votes.order_by().annotate(verdict=Subquery(verdict)).filter(verdict__isnull=False)
    said = {f"n_{answer}": Count("pk", filter=Q(winner=answer)) for answer in ANSWER}
    rows = list(both.values("left", "right", "sample", "verdict").annotate(**said).values_list("verdict", *said))
    tables = np.zeros((len(rows), ANSWERS, ANSWERS))
    for item, (judged, *counts) in enumerate(rows):
        for answer, count in zip(ANSWER.values(), counts, strict=True):
            tables[item, ANSWER[judged], answer] += count
    ranks: float | Undefined = Undefined(Reason.NOTHING_PAIRED)
    rated = 0
    if people:
        keys = list(board.dataset.contestants.filter(void_reason="").order_by("pk").values_list("pk", flat=True))
        judge, voted = (fit(voting.pair_table(one, keys)[0]).values for one in (board, people))
        ranks, rated = spearman(judge, voted), int((~(np.isnan(judge) | np.isnan(voted))).sum())
    # In the original order left was shown first, in the other one right.
    newest = Battle.objects.filter(board=board).order_by("-pk").values_list("pk", flat=True)
    oldest = next(iter(newest[MOST_BATTLES : MOST_BATTLES + 1]), 0)
    verdicts = Verdict.objects.filter(battle__board=board, battle__gt=oldest, battle__void_reason="")
    fields = ("battle__left", "battle__right", "battle__sample", "order", "winner")
    given = verdicts.exclude(winner="").order_by().values_list(*fields)
    leaning = _side_bias((*of, order == Verdict.Order.ORIGINAL, winner) for *of, order, winner in given)
    return JudgeAgreement(board, agreement_of_tables(tables), ranks, rated, leaning)


def _among_people(votes: QuerySet[Battle]) -> Agreement:
    """Of every two votes on the same item; each such pair counts once in either direction, and half."""
    items = votes.order_by().values("left", "right", "sample")
    several = items.annotate(n=Count("pk")).filter(n__gte=2).order_by("-sample", "left", "right")
    counts = {item: np.zeros(ANSWERS) for item in several.values_list("left", "right", "sample")[:MOST_ITEMS]}
    rows = votes.filter(sample__in={sample for _left, _right, sample in counts}).order_by()
    for left, right, sample, said in rows.values_list("left", "right", "sample", "winner"):
        if (item := (left, right, sample)) in counts:
            counts[item][ANSWER[said]] += 1
    pairs = [np.outer(one, one) - np.diag(one) for one in counts.values()]
    return agreement_of_tables(np.array(pairs).reshape(-1, ANSWERS, ANSWERS), weight=0.5)


def _side_bias(rows: Iterable[Any]) -> SideBias:
    """rows: left, right, the sample, whether left was shown first, and the answer. Those of a sample go together."""
    battles, items, shown = in_shown_order(rows)
    if not shown:
        return SideBias(Share(0, 0), Undefined(Reason.NO_BATTLES))
    chosen, first = battles.score != 0.5, battles.score == 1.0
    share = share_of_items(np.bincount(items, first), np.bincount(items, chosen))
    return SideBias(share, position_bias(battles, clusters=items))
