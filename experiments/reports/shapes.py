"""What a run's document has to look like to be taken over: `document.document` writes it, `importing` reads it.

Names that are not known are passed over, so that documents of later versions can be read.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
)

from experiments.casting import SeatParams
from experiments.models.ids import new_id
from experiments.models.run import RunMode, RunState
from experiments.models.work import Call, Step
from experiments.reports.document import REPORT_VERSION
from experiments.workflows import REGISTRY
from experiments.workflows.judge import RANGES

MOST_MESSAGES = 5_000  # they are stored in one transaction, which other writers wait for
MOST_CALLS = 30_000
MOST_STEPS = 60_000
LONGEST_TEXT = 2_000_000
LARGEST_COUNT = 2**31 - 1


def _no_number(value: Any) -> Any:
    """A moment is written as text: a bare number may mean seconds, milliseconds or a year."""
    if isinstance(value, int | float):
        raise ValueError("A date with its time zone is needed, such as 2026-03-01T12:00:00Z.")
    return value


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("A number is needed.")
    return value


def _in_range(scores: dict[str, float]) -> dict[str, float]:
    for name, value in scores.items():
        low, high = RANGES.get(name, (value, value))
        if not low <= value <= high:
            raise ValueError(f"{name} is {value:g}, and has to be between {low:g} and {high:g}.")
    return scores


Count = Annotated[int, Strict(), Field(ge=0, le=LARGEST_COUNT)]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-1e15, le=1e15)]
Seconds = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Money = Annotated[
    Decimal, BeforeValidator(_no_truth), Field(ge=0, max_digits=20, decimal_places=10, allow_inf_nan=False)
]
Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_no_number),
    Field(ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(2200, 1, 1, tzinfo=UTC)),
]
Truth = Annotated[bool, Strict()]
LongText = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Slug = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x20\x7f]+$")]
Word = Annotated[str, StringConstraints(max_length=40, pattern=r"^[^\x00-\x1f\x7f]*$")]
Seat = Annotated[str, StringConstraints(max_length=40, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
ScoreName = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z][a-z0-9_]*$")]


class Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class RowShape(Shape):
    """A row that others refer to. Hand-written documents need not number those that nothing refers to."""

    id: UUID = Field(default_factory=new_id)


class CastShape(Shape):
    seat: Seat
    model: Slug
    persona: Annotated[str, StringConstraints(max_length=100)] = ""
    params: SeatParams = SeatParams()


class ExperimentShape(Shape):
    workflow: Literal[*REGISTRY]  # type: ignore[valid-type]
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    config: dict[str, Any]
    cast: Annotated[list[CastShape], Field(max_length=50)] = []
    created: Moment | None = None


class RunShape(Shape):
    """turn: how many turns were completed; None leaves it to be seen from the rest."""

    state: RunState
    seed: Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63)] = 0
    mode: RunMode = RunMode.AUTOMATIC
    overrides: dict[str, Any] = {}
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
    model: Line = ""
    text: LongText
    raw_text: LongText | None = None
    reasoning: LongText = ""
    filter: FilterShape | None = None
    operator: OperatorShape | None = None
    superseded: Truth = False
    flags: Annotated[list[Word], Field(max_length=20)] = []
    finish_reason: Word = ""
    call: UUID | None = None
    created: Moment | None = None


class JudgmentShape(RowShape):
    turn: Count
    subject: Seat
    judge: Line = ""
    scores: Annotated[dict[ScoreName, Number], Field(max_length=100), AfterValidator(_in_range)] | None = None
    unscored_reason: Annotated[str, StringConstraints(max_length=500)] = ""
    rationale: LongText = ""
    dynamics: LongText = ""
    confidence: Share | None = None


class LogprobAlternative(Shape):
    token: LongText
    logprob: Number | None


class LogprobShape(Shape):
    token: LongText
    logprob: Number | None
    alternatives: Annotated[list[LogprobAlternative], Field(max_length=100)] = []


class CallShape(RowShape):
    step: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    seat: Annotated[str, StringConstraints(max_length=40)] = ""
    turn: Count | None = None
    purpose: Word = "reply"
    prompt_version: Annotated[str, StringConstraints(max_length=16)] = ""
    attempt: Annotated[int, Strict(), Field(ge=1, le=32_000)] = 1
    state: Call.State = Call.State.COMPLETED
    model: Slug
    simulated: Truth = False
    request: dict[str, Any] = {}
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
    """message, judgments: the ids of the rows that the step left. source: the call that its judgments rest on."""

    key: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    kind: Literal["ask", "record", "listen"]
    purpose: Word
    seat: Annotated[str, StringConstraints(max_length=40)] = ""
    turn: Count | None = None
    state: Step.State = Step.State.DONE
    prompt_version: Annotated[str, StringConstraints(max_length=16)] = ""
    data: dict[str, Any] = {}
    ended: Moment | None = None
    message: UUID | None = None
    judgments: Annotated[list[UUID], Field(max_length=1000)] = []
    source: UUID | None = None


class LineageShape(Shape):
    parent: UUID | None = None


class RecordShape(Shape):
    """A run's document. Without `steps` they are made up from what was said, judged and called."""

    report_version: Annotated[int, Strict(), Field(ge=1, le=REPORT_VERSION)]
    run: RunShape
    experiment: ExperimentShape
    lineage: LineageShape = LineageShape()
    messages: Annotated[list[MessageShape], Field(max_length=MOST_MESSAGES)]
    judgments: Annotated[list[JudgmentShape], Field(max_length=MOST_MESSAGES)] = []
    calls: Annotated[list[CallShape], Field(max_length=MOST_CALLS)] = []
    steps: Annotated[list[StepShape], Field(max_length=MOST_STEPS)] = []
