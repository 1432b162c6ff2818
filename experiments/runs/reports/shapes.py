"""What a run's document has to look like to be taken over: `document.document` writes it, `importing` reads it.

Names that are not known are passed over, so that documents of later versions can be read.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal, Self, cast
from uuid import UUID

from pydantic import AliasChoices, Field, Strict, StringConstraints, ValidationError, create_model, model_validator

from experiments.engine.projections import listed_writers
from experiments.models.run import PAUSES, RunMode, RunState
from experiments.models.work import Call, Step
from experiments.runs.reports.document import REPORT_VERSION
from experiments.runs.reports.shape_types import (
    Count,
    Flags,
    Key,
    Line,
    LongText,
    Moment,
    Money,
    Number,
    Parsed,
    Pause,
    RowShape,
    Scores,
    Seat,
    Seconds,
    Shape,
    Share,
    Slug,
    Truth,
    Word,
    findings,
)
from experiments.setup.casting import SeatParams
from experiments.workflows import REGISTRY

# The size of the file bounds what all of them take; these leave room for the largest contest that can be set up.
MOST_MESSAGES = 10_000
MOST_JUDGMENTS = 80_000
MOST_CALLS = 200_000
MOST_STEPS = 300_000
HIGHEST_VOTE = 10


class PersonShape(Shape):
    user: Annotated[str, StringConstraints(max_length=150)] = ""
    name: Annotated[str, StringConstraints(max_length=100)] = ""
    seconds: Annotated[int, Field(ge=1, le=604_800)] = 600
    blind: Truth = False


class CastShape(Shape):
    """model: empty for a person."""

    seat: Seat
    model: Slug | Literal[""]
    persona: Annotated[str, StringConstraints(max_length=100)] = ""
    params: SeatParams = SeatParams()
    person: PersonShape | None = None

    @model_validator(mode="after")
    def somebody_is_seated(self) -> Self:
        if not self.model and self.person is None:
            raise ValueError("A participant is a model or a person.")
        return self


class ExperimentShape(Shape):
    workflow: Literal[*REGISTRY]  # type: ignore[valid-type]  # the members are the registry's, known when it runs
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    config: dict[str, object]
    cast: Annotated[list[CastShape], Field(max_length=50)] = []
    created: Moment | None = None


class RunShape(Shape):
    """turn: how many turns were completed; None leaves it to be seen from the rest."""

    state: RunState
    seed: Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63)] = 0
    mode: RunMode = RunMode.AUTOMATIC
    overrides: dict[str, object] = {}
    turn: Count | None = None
    stop_reason: Word = ""
    error: LongText = ""
    created: Moment | None = None
    started: Moment | None = None
    ended: Moment | None = None
    waited_seconds: Seconds = 0


class FilterShape(Shape):
    changed: Truth
    removed: Annotated[list[LongText], Field(max_length=1000)] = []
    confidence: Share | None = None
    reasoning: LongText = ""
    status: Literal["kept", "filtered", "emptied", "failed", "refused"]
    call: UUID | None = None


class OperatorShape(Shape):
    kind: Word
    by: Annotated[str, StringConstraints(max_length=150)] = ""
    original: LongText = ""


class MessageShape(RowShape):
    """raw_text None: the text as the others see it is the text as produced."""

    turn: Count
    seat: Seat
    purpose: Word = "reply"
    model: Line = ""
    text: LongText
    raw_text: LongText | None = None
    parsed: Parsed | None = None
    reasoning: LongText = ""
    filter: FilterShape | None = None
    operator: OperatorShape | None = None
    superseded: Truth = False
    flags: Flags = []
    finish_reason: Word = ""
    call: UUID | None = None
    created: Moment | None = None


class JudgmentShape(RowShape):
    """judge_seat: of a judge who is a contestant too, whose scores are from 0 to 10."""

    turn: Count
    subject: Seat
    judge: Line = ""
    judge_seat: Seat | Literal[""] = ""
    scores: Scores | None = None
    unscored_reason: Annotated[str, StringConstraints(max_length=500)] = ""
    rationale: LongText = ""
    dynamics: LongText = ""
    confidence: Share | None = None
    flags: Flags = []
    saw: dict[Literal["messages", "reasoning"], Line] = {}

    @model_validator(mode="after")
    def votes_of_contestants_are_in_range(self) -> Self:
        if self.judge_seat and not all(0 <= score <= HIGHEST_VOTE for score in (self.scores or {}).values()):
            raise ValueError("A vote is from 0 to 10.")
        return self


class LogprobAlternative(Shape):
    token: LongText
    logprob: Number | None


class LogprobShape(Shape):
    token: LongText
    logprob: Number | None
    alternatives: Annotated[list[LogprobAlternative], Field(max_length=100)] = []


class CallShape(RowShape):
    step: Key
    seat: Annotated[str, StringConstraints(max_length=40)] = ""
    turn: Count | None = None
    purpose: Word = "reply"
    prompt_version: Annotated[str, StringConstraints(max_length=16)] = ""
    attempt: Annotated[int, Strict(), Field(ge=1, le=32_000)] = 1
    state: Call.State = Call.State.COMPLETED
    model: Slug
    simulated: Truth = False
    request: dict[str, object] = {}
    text: LongText = ""
    reasoning: LongText = ""
    logprobs: Annotated[list[LogprobShape], Field(max_length=1_000_000)] | None = None
    finish_reason: Word = ""
    native_finish_reason: Annotated[str, StringConstraints(max_length=80)] = ""
    served_model: Line = ""
    served_provider: Line = ""
    generation_id: Line = ""
    system_fingerprint: Line = ""
    warnings: Annotated[list[LongText], Field(max_length=1000)] = []
    error_kind: Word = ""
    error: LongText = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    usage_is_estimated: Truth = False
    reserved: Money | None = None
    cost: Money | None = None
    cost_source: Annotated[str, StringConstraints(max_length=12)] = ""
    sent: Moment | None = None
    first_byte_seconds: Seconds | None = None
    seconds: Seconds | None = None


class StepShape(Shape):
    """message, judgments: ids of the rows that the step left; left: of one that a row writer lists. source: the call
    that its findings rest on.
    """

    key: Key
    kind: Literal["ask", "execute", "record", "listen", "offer"]
    purpose: Word
    seat: Annotated[str, StringConstraints(max_length=40)] = ""
    turn: Count | None = None
    state: Step.State = Step.State.DONE
    prompt_version: Annotated[str, StringConstraints(max_length=16)] = ""
    data: dict[str, object] = {}
    ended: Moment | None = None
    message: UUID | None = None
    judgments: Annotated[list[UUID], Field(max_length=1000)] = []
    left: UUID | None = Field(
        None,
        validation_alias=AliasChoices("left", *(listed.line for listed, _writer in listed_writers() if listed.step)),
    )
    source: UUID | None = None

    @model_validator(mode="after")
    def the_finding_has_its_form(self) -> Self:
        """What pages and reports read out of a step is as they expect it."""
        if shape := Pause if self.kind in PAUSES else findings().get(self.purpose):
            try:
                shape.model_validate(self.data)
            except ValidationError as error:
                problem = error.errors()[0]
                where = ".".join(map(str, ("data", *problem["loc"])))
                raise ValueError(f"{where}: {problem['msg'].removeprefix('Value error, ')}") from error
        return self


class LineageShape(Shape):
    parent: UUID | None = None


class RecordShape(Shape):
    """A run's document. Without `steps` they are made up from what was said, judged and called. `record_shape` is the
    one that has the lists of row writers, too.
    """

    report_version: Annotated[int, Strict(), Field(ge=1, le=REPORT_VERSION)]
    run: RunShape
    experiment: ExperimentShape
    lineage: LineageShape = LineageShape()
    messages: Annotated[list[MessageShape], Field(max_length=MOST_MESSAGES)]
    judgments: Annotated[list[JudgmentShape], Field(max_length=MOST_JUDGMENTS)] = []
    calls: Annotated[list[CallShape], Field(max_length=MOST_CALLS)] = []
    steps: Annotated[list[StepShape], Field(max_length=MOST_STEPS)] = []

    def rows(self, name: str) -> Sequence[Any]:
        """The rows of a list."""
        return cast("Sequence[Any]", getattr(self, name))

    @property
    def with_ids(self) -> dict[str, Sequence[RowShape]]:
        """The lists of rows to which others may refer."""
        own = [listed.name for listed, _writer in listed_writers() if issubclass(listed.shape, RowShape)]
        return {name: self.rows(name) for name in ("messages", "judgments", *own, "calls")}


@cache
def record_shape() -> type[RecordShape]:
    lists: dict[str, Any] = {
        listed.name: (Annotated[list[listed.shape], Field(max_length=listed.most)], [])  # type: ignore[name-defined]  # known when it runs
        for listed, _writer in listed_writers()
    }
    return create_model("Record", __base__=RecordShape, **lists)
