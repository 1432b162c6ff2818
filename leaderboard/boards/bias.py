"""What a judge's verdicts owe to the side and the length of answers, from a bounded sample of them."""

from dataclasses import dataclass

import numpy as np

from experiments.models import Battle, Board, Output, Verdict
from leaderboard.boards.caching import memoize
from leaderboard.models import Ladder
from leaderboard.ratings import Battles, Bias, Undefined, length_bias, position_bias
from leaderboard.ratings.values import IntArray

MOST_VERDICTS = 4000
SHOWN_FIRST = {Verdict.Order.ORIGINAL: True, Verdict.Order.SWAPPED: False}
SCORES = {Battle.Winner.LEFT: 1.0, Battle.Winner.RIGHT: 0.0, Battle.Winner.TIE: 0.5}
CHANGES_APART = 500  # the estimate is made anew after so many changes of the board


@dataclass(frozen=True, slots=True)
class Leaning:
    """In Elo, each with its 95 % interval, None where it cannot be told. position: what being shown first is worth;
    length: what one standard deviation of relative length is. verdicts: the newest, on which both rest; those on one
    sample are one observation.
    """

    position: tuple[float, float, float] | None
    length: tuple[float, float, float] | None
    verdicts: int


def of_judge(ladder: Ladder) -> Leaning | None:
    """None where a board has no verdicts of single orders: votes, and imports without an audit log."""
    board = ladder.board
    if board is None:
        return None
    key = (ladder.slug, board.changes // CHANGES_APART, board.changes if board.changes < CHANGES_APART else 0)
    return memoize("bias", key, lambda: (leaning(board),))[0]


def leaning(board: Board) -> Leaning | None:
    """Estimated together with the ratings, from the newest verdicts that could be read."""
    newest = Battle.objects.filter(board=board, voided__isnull=True).order_by("-id").values_list("pk", flat=True)
    read = Verdict.objects.filter(battle__in=list(newest[: MOST_VERDICTS // 2]), winner__in=SCORES)
    fields = ("battle__left_id", "battle__right_id", "battle__sample_id", "order", "winner")
    rows = list(read.order_by("pk").values_list(*fields))
    if not rows:
        return None
    shown = [_shown(*row) for row in rows]
    keys = sorted({key for first, second, _sample, _score in shown for key in (first, second)})
    place = {key: index for index, key in enumerate(keys)}
    found = Battles(
        [place[first] for first, *_rest in shown],
        [place[second] for _first, second, *_rest in shown],
        [score for *_rest, score in shown],
        [str(key) for key in keys],
    )
    samples = np.unique([sample for *_sides, sample, _score in shown], return_inverse=True)[1].reshape(-1)
    return Leaning(_said(position_bias(found, clusters=samples)), _length(board, found, shown, samples), len(rows))


def _shown(left: int, right: int, sample: int, order: str, winner: str) -> tuple[int, int, int, float]:
    """Who was shown first and second, on which sample, and the first one's score."""
    score = SCORES[Battle.Winner(winner)]
    if SHOWN_FIRST[Verdict.Order(order)]:
        return left, right, sample, score
    return right, left, sample, 1.0 - score


def _length(
    board: Board, battles: Battles, shown: list[tuple[int, int, int, float]], numbers: IntArray
) -> tuple[float, float, float] | None:
    if board.dataset.modality != "text":
        return None
    samples = {sample for _first, _second, sample, _score in shown}
    texts = Output.objects.filter(sample__in=samples).order_by().values_list("contestant_id", "sample_id", "text")
    lengths = {(contestant, sample): len(text) for contestant, sample, text in texts.iterator()}
    first = np.array([lengths.get((one, sample), 0) for one, _other, sample, _score in shown], dtype=np.float64)
    second = np.array([lengths.get((other, sample), 0) for _one, other, sample, _score in shown], dtype=np.float64)
    return _said(length_bias(battles, first, second, clusters=numbers))


def _said(found: Bias | Undefined) -> tuple[float, float, float] | None:
    return None if isinstance(found, Undefined) else (found.effect, found.lower, found.upper)
