"""What a council states, beside what every workflow does."""

from typing import Literal

from experiments.workflows.base.events import EventData, MessageShown, Part, Seat
from experiments.workflows.base.records import KEPT, Finding, Projection

BALLOT = Projection("council_ballot")
TITLE = Projection("council_title")


class BallotShown(Part):
    id: str
    turn: int
    count: int
    reviewer: Seat
    model: str
    labels: dict[str, Seat]
    order: list[list[Seat]] | None
    abstained_reason: str = ""
    flags: list[str] = []
    reading: str = ""
    superseded: bool = False
    call: str | None = None


class BallotReadData(EventData):
    """message: the review, None where the reviewer wrote none."""

    type: Literal["ballot_read"] = "ballot_read"
    ballot: BallotShown
    message: MessageShown | None


class BallotRead(Finding):
    """A reviewer's ballot. labels: what it called the answers, in the order in which they were shown, to seats. order:
    groups of equals, the best first; None when it abstains, for `abstained_reason`. reading: how it was read. message:
    the key of its review, None where it wrote none.
    """

    into = BALLOT
    tells = BallotReadData
    type: Literal["ballot_read"] = "ballot_read"
    reviewer: Seat
    count: int
    labels: dict[str, Seat]
    order: list[list[Seat]] | None
    abstained_reason: str
    flags: list[str]
    reading: str
    message: str | None


class CountedBallot(Part):
    """offered: everybody whom the reviewer was shown."""

    reviewer: Seat
    order: list[list[Seat]]
    offered: list[Seat]


class Abstention(Part):
    reviewer: Seat
    reason: str


class BallotsCounted(Finding):
    """Everything that is computed of the ballots of a turn rests on this. skipped: why nothing was ranked; best: who
    leads by Borda's count.
    """

    into = KEPT
    type: Literal["ballots_counted"] = "ballots_counted"
    turn: int
    count: int
    seats: list[Seat]
    ballots: list[CountedBallot]
    abstained: list[Abstention]
    own_answers: Literal["included", "excluded"]
    skipped: str
    best: list[Seat]


class ConcludedByRank(Finding):
    """No chair could conclude, for `reason`: the best ranked answer stands in, that of the step `message`."""

    into = KEPT
    type: Literal["concluded_by_rank"] = "concluded_by_rank"
    key: str
    turn: int
    seat: Seat
    message: str
    reason: str


class Titled(Finding):
    into = TITLE
    type: Literal["titled"] = "titled"
    title: str


RECORDS: tuple[type[Finding], ...] = (BallotRead, BallotsCounted, ConcludedByRank, Titled)
