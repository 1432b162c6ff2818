"""Ballots of a council, and the title that it finds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field, StringConstraints, model_validator

from experiments.api.serializers import BallotSerializer
from experiments.engine.projections import (
    Listed,
    Loaded,
    Restoring,
    RowWriter,
    copied,
    kept,
    message_data,
    message_of,
    source,
)
from experiments.library.search import indexing
from experiments.models import Ballot, Experiment, Message, Run, Step
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
from experiments.workflows.base.events import EventData, JsonObject
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.council import records
from experiments.workflows.council.records import BallotRead, BallotReadData, Titled


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


ENDING = "/ballot"  # of the step of a ballot: the rest of its key is that of the review


MOST_BALLOTS = 5_000
ROWS_AT_ONCE = 200


def ballots(run: Run) -> QuerySet[Ballot]:
    """In the order in which they were read, turn by turn."""
    return run.ballots.order_by("turn", "count", "id")


def _step_of(ballot: BallotShape) -> tuple[str, str]:
    return f"turn/{ballot.turn}/review/{ballot.reviewer}{ENDING}", "ballot_read"


class Ballots(RowWriter[BallotRead]):
    endings = (ENDING,)
    listed = Listed("ballots", "ballot", ballots, BallotSerializer, BallotShape, MOST_BALLOTS, _step_of)

    def write(self, step: Step, record: Record, finding: BallotRead) -> list[EventData]:
        """A reviewer's ballot takes the place of an earlier one of the same turn."""
        call = source(step, record)
        fields = finding.model_dump(exclude={"type", "message"})
        same = {"run_id": step.run_id, "turn": step.turn or 0, "reviewer": fields.pop("reviewer")}
        earlier = list(Ballot.objects.select_related("step").filter(**same, superseded=False))
        Ballot.objects.filter(pk__in=[ballot.pk for ballot in earlier]).update(superseded=True)
        ballot = Ballot.objects.create(**same, step=step, call=call, model=call.model.label if call else "", **fields)
        said = message_data(message_of(step, finding.message)) if finding.message else None
        return [*map(_superseded, earlier), _told(ballot, said)]

    def with_rows(self, steps: QuerySet[Step]) -> QuerySet[Step]:
        return steps.select_related("ballot")

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        if hasattr(step, "ballot"):
            review = loaded.steps.get(step.key.removesuffix(ENDING))
            yield _told(step.ballot, loaded.messages.get(review.pk) if review else None)

    def copy(self, step: Step, into: Step) -> None:
        if hasattr(step, "ballot"):
            copied(step.ballot, into).save()

    def restore(self, rows: Sequence[BallotShape], into: Restoring) -> None:
        Ballot.objects.bulk_create(
            (
                Ballot(
                    **found.model_dump(exclude={"id", "call"}),
                    id=into.ids[str(found.id)],
                    run=into.run,
                    step=into.step_of[found.id],
                    call=into.calls.get(found.call) if found.call else None,
                )
                for found in rows
            ),
            ROWS_AT_ONCE,
        )


def _superseded(ballot: Ballot) -> BallotReadData:
    ballot.superseded = True
    reviews = Message.objects.select_related("call", "step").filter(run_id=ballot.run_id)
    review = reviews.filter(step__key=ballot.step.key.removesuffix(ENDING)).first()
    return _told(ballot, message_data(review) if review else None)


def _told(ballot: Ballot, review: JsonObject | None) -> BallotReadData:
    return BallotReadData.model_validate({"ballot": BallotSerializer(ballot).data, "message": review})


class Titles(RowWriter[Titled]):
    def write(self, step: Step, record: Record, finding: Titled) -> list[EventData]:
        """A title that a model found takes the place of the first words; never of one that a person gave."""
        told = kept(step, finding)
        experiment = Run.objects.select_related("experiment").get(pk=step.run_id).experiment
        first_words = " ".join(experiment.parsed_config().summary().split())
        if not first_words.startswith(experiment.title.removesuffix("…")):
            return []
        Experiment.objects.filter(pk=experiment.pk).update(title=finding.title)
        indexing.setup(experiment.pk)
        return told


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {records.BALLOT: Ballots(), records.TITLE: Titles()}
