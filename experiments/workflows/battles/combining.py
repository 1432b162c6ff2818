"""Two verdicts on a pair, one in each order, become the battle's result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.workflows.battles.judged import Judged
from experiments.workflows.battles.records import VerdictFound

Order = Literal["original", "swapped"]
Winner = Literal["", "left", "right", "tie"]
ORDERS: tuple[Order, ...] = ("original", "swapped")
SHOWN: Mapping[Order, str] = {"original": "with the left output first", "swapped": "with the right output first"}
LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said in one order, in terms of the battle. key: of the step that counts.

    scores: "left" and "right" to the criteria's names to numbers, and under "absent" why others were not taken, where
    some were not; None when there are none. winner: "" when none could be read, and `unread_reason` says why.
    """

    order: Order
    key: str
    winner: Winner
    scores: Mapping[str, Any] | None = None
    confidence: float | None = None
    rationale: str = ""
    unread_reason: str = ""

    @property
    def found(self) -> VerdictFound:
        return VerdictFound(
            order=self.order,
            key=self.key,
            winner=self.winner,
            scores=dict(self.scores) if self.scores is not None else None,
            confidence=self.confidence,
            rationale=self.rationale,
            unread_reason=self.unread_reason,
        )


@dataclass(frozen=True, slots=True)
class Result:
    """winner: "" when the battle stays open, and `open_reason` says why. is_consistent: None as long as it is open."""

    winner: Winner
    is_consistent: bool | None
    open_reason: str = ""


def verdict_of(order: Order, key: str, judged: Judged) -> Verdict:
    """What a judge said of the first and the second, said of left and right."""
    sides: dict[str, Winner] = {"first": "left", "second": "right", "tie": "tie"}
    if order == "swapped":
        sides |= {"first": "right", "second": "left"}
    scores: dict[str, Any] = {sides[side]: dict(given) for side, given in (judged.scores or {}).items()}
    if judged.absent:
        scores = {"left": {}, "right": {}, **scores, "absent": list(judged.absent)}
    return Verdict(
        order=order,
        key=key,
        winner=sides[judged.winner] if judged.winner else "",
        scores=scores or None,
        confidence=judged.confidence,
        rationale=judged.rationale,
        unread_reason=judged.unread_reason[:LONGEST_REASON],
    )


def combined(verdicts: Sequence[Verdict]) -> Result:
    """Both orders agree: that winner, or the tie. They differ: a tie, and inconsistent. One is missing: open."""
    by_order = {verdict.order: verdict for verdict in verdicts}
    missing = [order for order in ORDERS if order not in by_order or not by_order[order].winner]
    if missing:
        return Result("", None, _why_open(by_order, missing))
    winners = {by_order[order].winner for order in ORDERS}
    return Result(winners.pop(), is_consistent=True) if len(winners) == 1 else Result("tie", is_consistent=False)


def _why_open(by_order: Mapping[Order, Verdict], missing: Sequence[Order]) -> str:
    """The reason, said once where both orders have the same."""
    reasons = {order: by_order[order].unread_reason for order in missing if order in by_order}
    if len(set(reasons.values())) == 1:
        return next(iter(reasons.values()))
    room = LONGEST_REASON // 2 - 35
    return " ".join(f"{SHOWN[order].capitalize()}: {_cut(reason, room)}" for order, reason in reasons.items())


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
