"""What a judge's verdicts owe to the side and the length of answers, from a bounded sample of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from experiments.models import Battle, Board, Output, Verdict
from leaderboard.boards.caching import memoize
from leaderboard.models import Ladder
from leaderboard.ratings import Battles, Bias, Undefined, length_bias, position_bias
from leaderboard.ratings.values import IntArray

MOST_VERDICTS = 4000
SHOWN_FIRST: dict[str, bool] = {Verdict.Order.ORIGINAL: True, Verdict.Order.SWAPPED: False}
SCORES: dict[str, float] = {Battle.Winner.LEFT: 1.0, Battle.Winner.RIGHT: 0.0, Battle.Winner.TIE: 0.5}
Shown = tuple[int, int, int]  # who was shown first, who second, and on which sample
CHANGES_APART = 500  # the estimate is made anew after so many changes of the board


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """In Elo, each with its 95 % interval, None where there is none. position: what being shown first is worth;
    length: what one standard deviation of relative length is. verdicts: the newest, on which both rest; those on one
    sample are one observation.
    """

    position: tuple[float, float, float] | None
    length: tuple[float, float, float] | None
    verdicts: int


def of_judge(ladder: Ladder) -> JudgeBias | None:
    """None where a board has no verdicts of single orders: votes, and imports without an audit log."""
    board = ladder.board
    if board is None:
        return None
    key = (ladder.slug, board.changes // CHANGES_APART, board.changes if board.changes < CHANGES_APART else 0)
    return memoize("bias", key, lambda: (bias_of(board),))[0]


def bias_of(board: Board) -> JudgeBias | None:
    """Estimated together with the ratings, from the newest verdicts that could be read."""
    newest = Battle.objects.filter(board=board, voided__isnull=True).order_by("-id").values_list("pk", flat=True)
    read = Verdict.objects.filter(battle__in=list(newest[: MOST_VERDICTS // 2]), winner__in=SCORES)
    fields = ("battle__left_id", "battle__right_id", "battle__sample_id", "order", "winner")
    rows = list(read.order_by("pk").values_list(*fields))
    if not rows:
        return None
    found, samples, shown = in_shown_order(
        [(left, right, sample, SHOWN_FIRST[order], winner) for left, right, sample, order, winner in rows]
    )
    length = None
    if board.dataset.modality == "text":
        texts = Output.objects.filter(sample__in={sample for *_pair, sample in shown}).order_by()
        lengths = {
            (contestant, sample): len(text)
            for contestant, sample, text in texts.values_list("contestant_id", "sample_id", "text").iterator()
        }
        first, second = ([lengths.get((one[side], one[2]), 0) for one in shown] for side in (0, 1))
        length = _bounds(length_bias(found, first, second, clusters=samples))
    return JudgeBias(_bounds(position_bias(found, clusters=samples)), length, len(rows))


def in_shown_order(rows: Iterable[tuple[int, int, int, bool, str]]) -> tuple[Battles, IntArray, list[Shown]]:
    """Battles of those who were shown first against those shown second, with the sample of each, numbered from 0.

    rows: keys of left, right and sample, whether left was shown first, and the winner; “both bad” counts as a tie.
    """
    shown, scores = [], []
    for left, right, sample, is_left_first, winner in rows:
        shown.append((left, right, sample) if is_left_first else (right, left, sample))
        scores.append(SCORES.get(winner, 0.5) if is_left_first else 1.0 - SCORES.get(winner, 0.5))
    keys = sorted({key for first, second, _sample in shown for key in (first, second)})
    place = {key: number for number, key in enumerate(keys)}
    firsts, seconds = [place[first] for first, *_rest in shown], [place[second] for _first, second, _sample in shown]
    samples = np.unique([sample for *_pair, sample in shown], return_inverse=True)[1].reshape(-1)
    return Battles(firsts, seconds, scores, list(map(str, keys))), samples, shown


def _bounds(found: Bias | Undefined) -> tuple[float, float, float] | None:
    return None if isinstance(found, Undefined) else (found.effect, found.lower, found.upper)
