"""What events tell, as classes: of the engine here, of a workflow's own in its `records`.

Written strictly: a field that its class does not have is an error where the event is made. Read leniently: events of
earlier releases lack fields, and imported ones may have more. The data of an event have the order of the fields, and
leave out those that were not given.
"""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue

JsonObject = dict[str, JsonValue]
Number = int | float
Seat = str


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoredPart(BaseModel):
    """A JSON field of a row, as it was stored: rows of earlier releases may have other names in it."""

    model_config = ConfigDict(extra="allow", frozen=True)


class EventData(Part):
    """type: of the event; no part of its data."""

    type: str

    def data(self) -> JsonObject:
        return self.model_dump(mode="json", exclude={"type"}, exclude_unset=True)

    @classmethod
    def read(cls, data: Mapping[str, JsonValue]) -> Self:
        """The data of a stored event. Raises ValidationError when they are of another form."""
        return cls.model_validate({**data, "type": cls.model_fields["type"].default}, extra="ignore")


class Stored(EventData):
    """Data that are told again as they stand, whatever their type."""

    stored: JsonObject

    def data(self) -> JsonObject:
        return dict(self.stored)


# --- runs ---


class PersonSeated(Part):
    """user: empty for an invitation, and where readers are not told who it is. seconds: that each answer may take."""

    user: str
    name: str
    seconds: int
    blind: bool


class Seated(Part):
    """model: empty for a person."""

    seat: Seat
    model: str
    label: str
    persona: str
    params: JsonObject
    person: PersonSeated | None = None


class BranchedFrom(Part):
    """parent: the run; message: from which the branch goes on; by: who asked for it."""

    parent: str
    message: str
    by: str


class ExperimentCreated(EventData):
    """The first event: what the run is a run of."""

    type: Literal["experiment_created"] = "experiment_created"
    workflow: str
    title: str
    seed: int
    config: JsonObject
    cast: list[Seated]
    branch: BranchedFrom | None = None


class ExperimentStarted(EventData):
    type: Literal["experiment_started"] = "experiment_started"
    state: str


class ExperimentState(EventData):
    """The run changed its state or its terms. by: the person who requested it, if any."""

    type: Literal["experiment_state"] = "experiment_state"
    state: str
    by: str = ""
    is_held: bool = False
    mode: str = ""
    max_turns: int | None = None
    limits: JsonObject | None = None


class StepRefused(Part):
    key: str
    purpose: str
    seat: Seat
    turn: int | None


class BudgetReached(Part):
    """A budget that had no room for the next call. left: None without such a limit; cost: of the call in US dollars,
    None where its price is unknown; ask, admins: who decides on the budget.
    """

    id: str
    kind: str
    name: str
    period: str
    cost_left: str | None
    tokens_left: int | None
    cost: str | None
    tokens: int
    is_unpriced: bool
    ask: list[str]
    admins: list[str]


class Ending(EventData):
    """refused: the step that a limit did not allow; budget: the one that was reached."""

    type: Literal["experiment_stopped", "experiment_error"]
    state: str
    reason: str
    message: str
    refused: StepRefused | None = None
    budget: BudgetReached | None = None


class ExperimentStopped(Ending):
    """The run is over: completed, or stopped."""

    type: Literal["experiment_stopped"] = "experiment_stopped"


class ExperimentError(Ending):
    """The run has failed."""

    type: Literal["experiment_error"] = "experiment_error"


# --- pauses ---


class AtPause(EventData):
    """key: of the step; reason: for which the workflow pauses there."""

    key: str
    reason: str
    seat: Seat
    turn: int | None


class Pause(AtPause):
    """What a person may say. default: what is said when they say nothing of their own; error: why they are asked."""

    type: Literal["waiting_for_user", "offer_opened"]
    default: str
    actions: list[str]
    error: str
    can_continue: bool = True


class WaitingForUser(Pause):
    type: Literal["waiting_for_user"] = "waiting_for_user"


class OfferOpened(Pause):
    """The run has finished its turns, and offers to continue."""

    type: Literal["offer_opened"] = "offer_opened"


class Said(AtPause):
    """What a person said at a pause. edited: whether it differs from the default."""

    type: Literal["said"] = "said"
    action: str | None = None
    text: str | None = None
    edited: bool | None = None
    by: str | None = None


class AtTurnOfPerson(EventData):
    """A person in a seat is asked. key, purpose: of the step."""

    key: str
    seat: Seat
    turn: int | None
    purpose: str


class PersonAsked(AtTurnOfPerson):
    """until: when the time for the answer ends."""

    type: Literal["person_asked"] = "person_asked"
    until: str


class PersonAbsent(AtTurnOfPerson):
    """The person gave no answer in time, as `message` says."""

    type: Literal["person_absent"] = "person_absent"
    message: str


class StepSkipped(StepRefused, EventData):
    """Nothing was asked at this step, because a limit was reached."""

    type: Literal["step_skipped"] = "step_skipped"


# --- calls ---


class CallTrouble(EventData):
    """call: its id; attempt: from 1."""

    type: Literal["call_lost", "call_failed", "call_retried"]
    call: str
    seat: Seat
    turn: int | None
    attempt: int
    purpose: str


class CallLost(CallTrouble):
    """Its worker ended while it was under way."""

    type: Literal["call_lost"] = "call_lost"


class CallError(CallTrouble):
    """kind, message: of the error."""

    type: Literal["call_failed", "call_retried"]
    kind: str
    message: str


class CallFailed(CallError):
    """Nothing more is asked for its step. partial: what had arrived by then, where no message has it."""

    type: Literal["call_failed"] = "call_failed"
    partial: str = ""


class CallRetried(CallError):
    """seconds: until the next attempt."""

    type: Literal["call_retried"] = "call_retried"
    seconds: Number | None = None


class SolutionVerdict(Part):
    name: str
    verdict: str


class SolutionExecuted(EventData):
    """What the sandbox found. passed: tests, of `of`; complaint: why nothing could be run."""

    type: Literal["solution_executed"] = "solution_executed"
    key: str
    execution: str
    turn: int
    seat: Seat
    purpose: str
    state: str
    verdicts: list[SolutionVerdict]
    passed: int
    of: int
    complaint: str = ""
    backend: str = ""
    is_unsafe: bool = False
    seconds: float | None = None
    error: str = ""


# --- messages ---


class FilterFound(StoredPart):
    """confidence: of the filter, 0 to 1. call: in which it was asked."""

    changed: bool = False
    removed: list[str] = []
    confidence: Number | None = None
    reasoning: str = ""
    status: str = ""
    call: str | None = None


class OperatorChange(StoredPart):
    kind: str = ""
    by: str = ""
    original: str = ""


class Usage(Part):
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None


class MessageShown(Part):
    """A message as it is now. text: as the others see it; raw_text: as produced; cost: in US dollars."""

    id: str
    turn: int
    seat: Seat
    purpose: str = ""
    model: str = ""
    text: str
    raw_text: str
    parsed: JsonObject | None = None
    reasoning: str = ""
    filter: FilterFound | None = None
    logprobs: None = None
    finish_reason: str = ""
    flags: list[str] = []
    operator: OperatorChange | None = None
    superseded: bool = False
    usage: Usage | None = None
    cost: str | None = None
    call: str | None = None
    created: str


class MessageData(MessageShown, EventData):
    """An event about a message, which it shows as it is from then on."""


class MessageCompleted(MessageData):
    type: Literal["message_completed"] = "message_completed"


class MessageAltered(MessageData):
    """It reads differently from now on."""

    type: Literal["message_altered"] = "message_altered"


class MessageParsedData(MessageData):
    """What its structured answer says was read."""

    type: Literal["message_parsed"] = "message_parsed"


class MessageSupersededData(MessageData):
    """Another answer takes its place."""

    type: Literal["message_superseded"] = "message_superseded"


# --- judgments ---


class JudgmentShown(Part):
    """scores: None when none was given; `unscored_reason` says why some or all are absent."""

    id: str = ""
    turn: int | None = None
    subject: Seat
    judge: str
    judge_seat: Seat = ""
    scores: dict[str, Number] | None
    unscored_reason: str = ""
    rationale: str = ""
    dynamics: str = ""
    confidence: Number | None = None
    flags: list[str] = []
    saw: dict[str, str] = {}


class JudgeEvaluationCompletedData(EventData):
    type: Literal["judge_evaluation_completed"] = "judge_evaluation_completed"
    key: str
    turn: int | None
    judgments: list[JudgmentShown]


class JudgedTurn(Part):
    """A turn of a seat; None where no score was given."""

    turn: int
    goal_deviation: Number | None
    cooperation: Number | None
    sentiment: dict[str, Number | None]
    unscored_reason: str
    rationale: str
    confidence: Number | None


class SeatMetrics(Part):
    """goal_deviation, cooperation: the latest; turns_to_deviate: the first turn with a deviation above 20."""

    tokens: int | None
    goal_deviation: Number | None
    turns_to_deviate: int | None
    cooperation: Number | None
    turns: list[JudgedTurn]


class ModelMetrics(EventData):
    type: Literal["model_metrics"] = "model_metrics"
    seat: Seat
    metrics: SeatMetrics


OF_ENGINE: tuple[type[EventData], ...] = (
    *(ExperimentCreated, ExperimentStarted, ExperimentState, ExperimentStopped, ExperimentError),
    *(WaitingForUser, OfferOpened, Said, PersonAsked, PersonAbsent, StepSkipped),
    *(CallLost, CallFailed, CallRetried, SolutionExecuted),
    *(MessageCompleted, MessageAltered, ModelMetrics),
)
