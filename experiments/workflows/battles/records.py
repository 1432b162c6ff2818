"""What a run of battles states."""

from typing import Literal

from pydantic import JsonValue

from experiments.workflows.base.records import Finding, Number, Part, Projection, Seat

BATTLE = Projection("battle")


class VerdictFound(Part):
    """In one order of the sides. key: of the step that counts. winner: empty for `unread_reason`."""

    order: Literal["original", "swapped"]
    key: str
    winner: Literal["", "left", "right", "tie"]
    scores: dict[str, JsonValue] | None
    confidence: Number | None
    rationale: str
    unread_reason: str


class BattleJudged(Finding):
    """seat: of the judge. sample, left, right: keys of the sample and the contestants. winner: empty as long as it is
    open, for `open_reason`; is_consistent: whether both orders say the same, None as long as it is open.
    """

    into = BATTLE
    type: Literal["battle_judged"] = "battle_judged"
    seat: Seat
    sample: int
    left: int
    right: int
    winner: Literal["", "left", "right", "tie"]
    is_consistent: bool | None
    open_reason: str
    verdicts: list[VerdictFound]
