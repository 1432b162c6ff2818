"""What ballots and counts of a council have to look like in a document that is to be taken over."""

from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from experiments.runs.reports.shape_types import (
    Count,
    Flags,
    Kept,
    Label,
    Line,
    Order,
    Reason,
    RowShape,
    Seat,
    Seats,
    Word,
    check_order,
)


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
        check_order(self.order or (), self.labels.values())
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
            check_order(cast.order, cast.offered)
        return self


FINDINGS: dict[str, type[Kept]] = {"ballots_counted": Counted}
