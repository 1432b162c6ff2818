"""What councils and debates leave in a document: parsed answers, ballots, counts, stages and replacements.

What is known of each kind has to have its form, because pages and reports draw it; names that are not known are kept.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator

from experiments.reports.contest_shapes import FINDINGS_OF_CODING, ProblemRead, SolutionRead
from experiments.reports.shape_types import Count, Flags, Kept, Key, Line, LongText, RowShape, Seat, Word

Reason = Annotated[str, StringConstraints(max_length=500)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Reference = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Seats = Annotated[list[Seat], Field(max_length=50)]
Order = Annotated[list[Annotated[list[Seat], Field(min_length=1, max_length=50)]], Field(max_length=50)]
Texts = Annotated[list[LongText], Field(max_length=1000)]


class Point(Kept):
    id: Reference
    contents: LongText


class Deed(Point):
    """Something to do or to leave, and the points that it follows from."""

    sources: Annotated[list[Reference], Field(max_length=1000)] = []


Points = Annotated[list[Point], Field(max_length=1000)]
Deeds = Annotated[list[Deed], Field(max_length=1000)]


class Brief(Kept):
    kind: Literal["brief"]
    objective: LongText = ""
    context: LongText = ""
    preferences: Texts = []
    missing: Texts = []
    clarifying_questions: Texts = []


class PointsRead(Kept):
    kind: Literal["points"]
    speaker: LongText = ""
    new_perspectives: Points = []
    counterpoints: Points = []


class Actions(Kept):
    kind: Literal["actions"]
    recommended: Deeds = []
    discouraged: Deeds = []


class Unread(Kept):
    kind: Literal["unread"]
    reason: LongText = ""


class Other(Kept):
    """A person's words, told apart by what they are, and kinds that are not known yet."""

    kind: Word


def _kind(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return kind if kind in ("brief", "points", "actions", "unread", "problem", "solution") else "other"


Parsed = Annotated[
    Annotated[Brief, Tag("brief")]
    | Annotated[PointsRead, Tag("points")]
    | Annotated[Actions, Tag("actions")]
    | Annotated[Unread, Tag("unread")]
    | Annotated[ProblemRead, Tag("problem")]
    | Annotated[SolutionRead, Tag("solution")]
    | Annotated[Other, Tag("other")],
    Discriminator(_kind),
]


class BallotShape(RowShape):
    """labels: names under which the reviewer saw the answers, to seats, in the order in which they were shown."""

    turn: Count
    count: Annotated[Count, Field(ge=1)] = 1
    reviewer: Seat
    model: Line = ""
    labels: Annotated[dict[Label, Seat], Field(max_length=50)] = {}
    order: Order | None = None
    abstained_reason: Reason = ""
    flags: Flags = []
    reading: Annotated[str, StringConstraints(max_length=12)] = ""
    superseded: bool = False
    call: UUID | None = None

    @model_validator(mode="after")
    def only_what_was_shown_is_ranked(self) -> Self:
        _check_order(self.order or (), self.labels.values())
        return self


class Cast(Kept):
    """One ballot of a count."""

    reviewer: Seat
    order: Order
    offered: Seats


class Abstained(Kept):
    reviewer: Seat
    reason: Reason


class Counted(Kept):
    turn: Count
    count: Count
    seats: Seats
    ballots: Annotated[list[Cast], Field(max_length=50)]
    abstained: Annotated[list[Abstained], Field(max_length=50)]
    own_answers: Word
    skipped: Word
    best: Seats

    @model_validator(mode="after")
    def only_survivors_are_ranked(self) -> Self:
        if len(set(self.seats)) != len(self.seats) or not set(self.best) <= set(self.seats):
            raise ValueError("Each seat stands once among those that are counted.")
        for cast in self.ballots:
            if len(set(cast.offered)) != len(cast.offered) or not set(cast.offered) <= set(self.seats):
                raise ValueError("A reviewer was shown an answer that is not counted, or one twice.")
            _check_order(cast.order, cast.offered)
        return self


class Stage(Kept):
    turn: Count
    stage: Word
    number: Count
    of: Count


class Replaced(Kept):
    key: Key
    seat: Seat
    by: Seat
    reason: Word
    error: LongText
    model: Line = ""
    failed_model: Line = ""


FINDINGS: dict[str, type[Kept]] = {
    "ballots_counted": Counted,
    "stage_started": Stage,
    "seat_replaced": Replaced,
    **FINDINGS_OF_CODING,
}


def _check_order(order: Sequence[Sequence[str]], shown: Any) -> None:
    ranked = [seat for group in order for seat in group]
    if len(set(ranked)) != len(ranked) or not set(ranked) <= set(shown):
        raise ValueError("A ballot ranks an answer that was not shown to its reviewer, or one twice.")
