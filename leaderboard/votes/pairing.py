"""Which pair somebody is asked about, and on which sample: where least is known, and nothing they have seen."""

import secrets
from collections.abc import Iterator

import numpy as np
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Sum

from experiments.models import Battle, Board, Contestant, Output, PairCount
from leaderboard.ratings import Table, fit
from leaderboard.ratings.values import FloatArray

PAIRS_TRIED = 40
UNRATED = 1000.0

Task = tuple[int, int, int]  # keys of the sample, of the left and of the right contestant


def task(board: Board, ballot: str) -> Task | None:
    """The pair with the fewest votes, of these the closest in rating, on a sample that the ballot has not seen.

    Where it has seen them all, a pair on a sample that it has not voted on. None when nothing is left.
    """
    standing = board.dataset.contestants.filter(void_reason="")
    keys = sorted(standing.filter(Exists(_outputs().filter(contestant=OuterRef("pk")))).values_list("pk", flat=True))
    mine = Battle.objects.filter(board=board, ballot=ballot, shown_left_first__isnull=False)
    unseen = _outputs().exclude(sample__in=mine.values("sample"))
    for _number, (left, right) in zip(range(PAIRS_TRIED), pairs(board, keys), strict=False):
        if sample := _common(unseen, left, right):
            return sample, left, right
    return _any(unseen, keys, mine) or _any(_outputs(), keys, mine)


def pairs(board: Board, keys: list[int]) -> Iterator[tuple[int, int]]:
    """All pairs of these contestants' keys, which rise: those with the fewest votes first, among them the closest."""
    votes, gaps = _known(board, keys)
    lefts, rights = np.triu_indices(len(keys), k=1)
    lots = np.random.default_rng(secrets.randbits(64)).random(len(lefts))
    for place in np.lexsort((lots, gaps[lefts, rights], votes[lefts, rights])):
        yield keys[lefts[place]], keys[rights[place]]


def table(board: Board, keys: list[int]) -> Table:
    """How these contestants fared against each other on a board, in the sequence of their keys."""
    return _tables(board, keys)[0]


def _known(board: Board, keys: list[int]) -> tuple[FloatArray, FloatArray]:
    """Votes on each pair, and the distance of their ratings in Elo: two tables, contestants × contestants."""
    found, votes = _tables(board, keys)
    values = fit(found).values
    ratings = np.where(np.isnan(values), UNRATED, values)
    return votes, np.abs(np.subtract.outer(ratings, ratings))


def _tables(board: Board, keys: list[int]) -> tuple[Table, FloatArray]:
    place = {key: number for number, key in enumerate(keys)}
    wins, ties, votes = (np.zeros((len(keys), len(keys))) for _table in range(3))
    for left, right, left_wins, right_wins, tied, bad in _counts(board):
        if left in place and right in place:
            i, j = place[left], place[right]
            wins[i, j], wins[j, i] = left_wins, right_wins
            ties[i, j] = ties[j, i] = tied
            votes[i, j] = votes[j, i] = left_wins + right_wins + tied + bad
    return Table(wins, ties, tuple(map(str, keys))), votes


def _counts(board: Board) -> QuerySet[PairCount, tuple[int, ...]]:
    sums = [Sum(name) for name in ("left_wins", "right_wins", "ties", "both_bad")]
    grouped = PairCount.objects.filter(board=board).order_by().values("left", "right").annotate(*sums)
    return grouped.values_list("left", "right", "left_wins__sum", "right_wins__sum", "ties__sum", "both_bad__sum")


def _outputs() -> QuerySet[Output]:
    return Output.objects.exclude(text="", image__isnull=True).order_by("sample_id")


def _common(outputs: QuerySet[Output], left: int, right: int) -> int | None:
    """A sample on which both have an output: the first from a place drawn by lot, around the end if need be."""
    ends = outputs.filter(contestant=left).order_by()
    first, last = (ends.order_by(by).values_list("sample", flat=True).first() for by in ("sample_id", "-sample_id"))
    if first is None or last is None:
        return None
    theirs = _outputs().filter(contestant=right, sample=OuterRef("sample"))
    both = outputs.filter(Exists(theirs), contestant=left).values_list("sample", flat=True)
    start = first + secrets.randbelow(last - first + 1)
    return both.filter(sample__gte=start).first() or both.filter(sample__lt=start).first()


def _any(outputs: QuerySet[Output], keys: list[int], mine: QuerySet[Battle]) -> Task | None:
    """Any pair on any of these samples that the ballot has not voted on."""
    pair = Q(left=OuterRef(OuterRef("contestant")), right=OuterRef("contestant"), sample=OuterRef("sample"))
    others = _outputs().filter(sample=OuterRef("sample"), contestant__gt=OuterRef("contestant"), contestant__in=keys)
    left_over = others.exclude(Exists(mine.filter(pair))).values("contestant")[:1]
    found = outputs.filter(contestant__in=keys).annotate(right=Subquery(left_over)).filter(right__isnull=False)
    return found.values_list("sample", "contestant", "right").first()


def have_outputs(battle: Battle) -> bool:
    """Whether there still is something to compare: both outputs, of contestants that were not left out since."""
    pair = Contestant.objects.filter(pk__in=[battle.left_id, battle.right_id], void_reason="")
    made = _outputs().filter(sample=battle.sample_id, contestant__in=pair)
    return made.filter(contestant__dataset=F("sample__dataset")).count() == 2
