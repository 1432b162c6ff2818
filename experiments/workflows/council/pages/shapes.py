"""What the counts of a council have to look like in a document that is to be taken over."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from experiments.reports.found_shapes import Order, Reason, Seats, check_order
from experiments.reports.shape_types import Count, Kept, Seat, Word


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
