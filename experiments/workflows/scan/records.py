"""What a scan states."""

from typing import Any, Literal

from experiments.workflows.base.events import EventData, Number, Part, Seat
from experiments.workflows.base.material import Unit
from experiments.workflows.base.records import Finding, Projection

ANNOTATIONS = Projection("annotations")


class CitationFound(Part):
    """message: the number that the judge named; None for none."""

    message: int | None
    quote: str


class MeasuredFound(Part):
    """Of one dimension, see `instruments.Measured`."""

    dimension: str
    value: Any
    unscored_reason: str
    citations: list[CitationFound]
    found: bool
    needs_citation: bool


class ReplyFound(Part):
    """Of one subject, see `instruments.Reply`."""

    subject: Seat
    measured: list[MeasuredFound]
    answered: bool
    notes: str
    confidence: Number | None


class UnitJudgedData(EventData):
    """key: of the step whose answer it is. run: whose transcript the unit is in. values, unscored, unverified: how many
    annotations have a value, have none, and have a value whose quotation is not in the transcript.
    """

    type: Literal["unit_judged"] = "unit_judged"
    key: str
    seat: Seat
    run: str
    unit: Unit
    place: int
    values: int = 0
    unscored: int = 0
    unverified: int = 0


class UnitJudged(Finding):
    """What the judge in `seat` says of one unit, as far as it could be read."""

    into = ANNOTATIONS
    tells = UnitJudgedData
    type: Literal["unit_judged"] = "unit_judged"
    key: str
    seat: Seat
    run: str
    unit: Unit
    place: int
    turn: int | None
    replies: list[ReplyFound]


RECORDS: tuple[type[Finding], ...] = (UnitJudged,)
