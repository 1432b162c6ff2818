"""What judgments owe to the order and the length of the outputs shown, from the newest whose order is recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models.functions import Length

from experiments.models import Battle, Board, Output, Verdict
from leaderboard.boards.caching import memoize
from leaderboard.models import Ladder
from leaderboard.ratings import Battles, Bias, Undefined, length_bias, position_bias
from leaderboard.ratings.statistics import Share, share_of_items
from leaderboard.ratings.values import IntArray, Reason

MOST_JUDGED = 2000  # battles whose verdicts are read, two of each
MOST_VOTES = 50_000
KEYS_AT_ONCE = 10_000
SHOWN_FIRST: dict[str, bool] = {Verdict.Order.ORIGINAL: True, Verdict.Order.SWAPPED: False}
Shown = tuple[int, int, int]  # who was shown first, who second, and on which sample
CHANGES_APART = 500  # the estimate is made anew after so many changes of the board


@dataclass(frozen=True, slots=True)
class OrderEffects:
    """first: how often what was shown first was chosen, of the judgments that chose a side. In Elo, with their 95 %
    intervals, position: what being shown first is worth; length: what one standard deviation of relative length is.
    judgments: how many these rest on; those on one sample are one observation.
    """

    first: Share
    position: Bias | Undefined
    length: Bias | Undefined
    judgments: int


def of_judge(ladder: Ladder) -> OrderEffects | None:
    """None where the order is recorded of no judgment, as of imports without an audit log."""
    found = current_effects(ladder.board) if ladder.board else None
    return found if found and found.judgments else None


def current_effects(board: Board) -> OrderEffects:
    return memoize("bias", state_of_effects(board), lambda: effects_of(board))


def state_of_effects(board: Board) -> tuple[int, int, int]:
    """Changes with each change of a new board, and later once in CHANGES_APART of them."""
    return board.pk, board.changes // CHANGES_APART, board.changes if board.changes < CHANGES_APART else 0


def effects_of(board: Board) -> OrderEffects:
    """From the verdicts of single orders; where a board has none, from battles that tell what was shown first."""
    battles = Battle.objects.filter(board=board, left__void_reason="", right__void_reason="")
    newest = battles.filter(voided__isnull=True).order_by("-id").values_list("pk", flat=True)[:MOST_JUDGED]
    fields = ("battle__left_id", "battle__right_id", "battle__sample_id", "order", "winner")
    read = Verdict.objects.filter(battle__in=list(newest), winner__in=Battle.SCORES).order_by("pk").values_list(*fields)
    rows = [(left, right, sample, SHOWN_FIRST[order], winner) for left, right, sample, order, winner in read]
    if not rows:
        placed = battles.counted().filter(shown_left_first__isnull=False).order_by("-pk")
        columns = ("left_id", "right_id", "sample_id", "shown_left_first", "winner")
        rows = list(placed.values_list(*columns)[:MOST_VOTES])
    found, samples, shown = in_shown_order(rows)
    if not rows:
        nothing = Undefined(Reason.NO_BATTLES)
        return OrderEffects(Share(0, 0), nothing, nothing, 0)
    chosen, first = found.score != 0.5, found.score == 1.0
    share = share_of_items(np.bincount(samples, first), np.bincount(samples, chosen))
    length: Bias | Undefined = Undefined(Reason.CONSTANT)
    if board.dataset.modality == "text":
        lengths = _lengths(sorted({sample for *_pair, sample in shown}))
        first_lengths, second_lengths = ([lengths.get((one[side], one[2]), 0) for one in shown] for side in (0, 1))
        length = length_bias(found, first_lengths, second_lengths, clusters=samples)
    return OrderEffects(share, position_bias(found, clusters=samples), length, len(rows))


def _lengths(samples: Sequence[int]) -> dict[tuple[int, int], int]:
    """Characters of each output, by contestant and sample."""
    found: dict[tuple[int, int], int] = {}
    for start in range(0, len(samples), KEYS_AT_ONCE):
        chosen = Output.objects.filter(sample__in=samples[start : start + KEYS_AT_ONCE]).order_by()
        rows = chosen.annotate(letters=Length("text")).values_list("contestant_id", "sample_id", "letters")
        found |= {(contestant, sample): letters for contestant, sample, letters in rows}
    return found


def in_shown_order(rows: Iterable[tuple[int, int, int, bool | None, str]]) -> tuple[Battles, IntArray, list[Shown]]:
    """Battles of those who were shown first against those shown second, with the sample of each, numbered from 0.

    rows: keys of left, right and sample, whether left was shown first, and the winner; “both bad” counts as a tie.
    """
    shown, scores = [], []
    for left, right, sample, is_left_first, winner in rows:
        shown.append((left, right, sample) if is_left_first else (right, left, sample))
        scores.append(Battle.SCORES.get(winner, 0.5) if is_left_first else 1.0 - Battle.SCORES.get(winner, 0.5))
    keys = sorted({key for first, second, _sample in shown for key in (first, second)})
    place = {key: number for number, key in enumerate(keys)}
    firsts, seconds = [place[first] for first, *_rest in shown], [place[second] for _first, second, _sample in shown]
    samples = np.unique([sample for *_pair, sample in shown], return_inverse=True)[1].reshape(-1)
    return Battles(firsts, seconds, scores, list(map(str, keys))), samples, shown
