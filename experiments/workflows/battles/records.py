"""What a run of battles states."""

from typing import Literal

from experiments.workflows.base.events import EventData, JsonObject, Number, Part, Seat
from experiments.workflows.base.records import Finding, Projection

BATTLE = Projection("battle")
Winner = Literal["", "left", "right", "tie"]


class VerdictFound(Part):
    """In one order of the sides. key: of the step that counts. winner: empty for `unread_reason`."""

    order: Literal["original", "swapped"]
    key: str
    winner: Winner
    scores: JsonObject | None
    confidence: Number | None
    rationale: str
    unread_reason: str


class BattleJudgedData(EventData):
    """battle: its id. left_name, right_name: of the contestants."""

    type: Literal["battle_judged"] = "battle_judged"
    battle: int
    sample: int
    left: int
    right: int
    winner: Winner
    is_consistent: bool | None
    open_reason: str
    seat: Seat
    left_name: str = ""
    right_name: str = ""


class BattleJudged(Finding):
    """seat: of the judge. sample, left, right: keys of the sample and the contestants. winner: empty as long as it is
    open, for `open_reason`; is_consistent: whether both orders say the same, None as long as it is open.
    """

    into = BATTLE
    tells = BattleJudgedData
    type: Literal["battle_judged"] = "battle_judged"
    seat: Seat
    sample: int
    left: int
    right: int
    winner: Winner
    is_consistent: bool | None
    open_reason: str
    verdicts: list[VerdictFound]


RECORDS: tuple[type[Finding], ...] = (BattleJudged,)
