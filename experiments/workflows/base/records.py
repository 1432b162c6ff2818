"""What workflows state: findings as classes, each with the rows that it becomes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from experiments.workflows.base.events import (
    EventData,
    JsonObject,
    JudgeEvaluationCompletedData,
    MessageCompleted,
    MessageParsedData,
    MessageSupersededData,
    Number,
    Part,
    Seat,
)


@dataclass(frozen=True, slots=True)
class Projection:
    """The rows that findings become, by name. The row writer of that name writes, shows, copies and restores them."""

    name: str


ANNOUNCED = Projection("announced")  # no row: the event says it all
TURN_STARTED = Projection("turn_started")  # its step alone
KEPT = Projection("kept")  # with its step, as it stands
SPOKEN_BY_PERSON = Projection("spoken_by_person")  # a message in a person's words
MESSAGE_PARSED = Projection("message_parsed")
MESSAGE_SUPERSEDED = Projection("message_superseded")
SEAT_REPLACED = Projection("seat_replaced")  # kept with its step, with the names of the models
JUDGE_STARTED = Projection("judge_started")
TURN_JUDGED = Projection("turn_judged")
OF_STEPS = {  # of steps that state no finding, by their kind
    "ask": Projection("asked"),
    "execute": Projection("executed"),
    "listen": Projection("heard"),
    "offer": Projection("heard"),
}


class Finding(EventData):
    """tells: the data of its event, where rows add to the finding."""

    into: ClassVar[Projection] = ANNOUNCED
    tells: ClassVar[type[EventData] | None] = None


@dataclass(frozen=True, slots=True)
class Record:
    """A finding, stated once. source: key of the Ask whose call it rests on."""

    key: str
    finding: Finding
    turn: int | None = None
    source: str = ""

    @property
    def kind(self) -> str:
        return self.finding.type

    @property
    def data(self) -> JsonObject:
        return self.finding.data()


class TurnStarted(Finding):
    into = TURN_STARTED
    type: Literal["turn_started"] = "turn_started"
    turn: int


class TurnCompleted(Finding):
    type: Literal["turn_completed"] = "turn_completed"
    turn: int


class StageStarted(Finding):
    """Stage `number` of `of`, from 1."""

    into = KEPT
    type: Literal["stage_started"] = "stage_started"
    turn: int
    stage: str
    number: int
    of: int


class MessageSent(Finding):
    """Words of a person. parsed: what they are, under `kind`, where a workflow tells several apart."""

    into = SPOKEN_BY_PERSON
    tells = MessageCompleted
    type: Literal["message_sent"] = "message_sent"
    seat: Seat
    text: str
    parsed: JsonObject | None = None


class MessageParsed(Finding):
    """What the structured answer of the step `message` says; it reads as `text`, and `flags` join its own."""

    into = MESSAGE_PARSED
    tells = MessageParsedData
    type: Literal["message_parsed"] = "message_parsed"
    message: str
    parsed: JsonObject
    text: str
    flags: list[str]


class MessageSuperseded(Finding):
    """Another answer takes the place of that of the step `message`."""

    into = MESSAGE_SUPERSEDED
    tells = MessageSupersededData
    type: Literal["message_superseded"] = "message_superseded"
    message: str


class SeatReplacement(EventData):
    """The model of the seat `by` is asked for `seat`, under `key`. instead_of: who was asked last, where that is not
    the seat's own model. reason: the kind of its error.
    """

    type: Literal["seat_replaced"] = "seat_replaced"
    key: str
    seat: Seat
    by: Seat
    reason: str
    error: str
    instead_of: Seat = ""


class SeatReplacedData(SeatReplacement):
    """model, failed_model: the names of the models of `by` and of who was asked last."""

    model: str = ""
    failed_model: str = ""


class SeatReplaced(SeatReplacement, Finding):
    into = SEAT_REPLACED
    tells = SeatReplacedData

    @property
    def failed(self) -> Seat:
        """Whose model was asked last."""
        return self.instead_of or self.seat


class JudgeEvaluationStarted(Finding):
    into = JUDGE_STARTED
    type: Literal["judge_evaluation_started"] = "judge_evaluation_started"
    key: str
    turn: int


class JudgmentFound(Part):
    """Of one subject in a turn. scores: None when none was given; `unscored_reason` says why some or all are absent.
    saw: what the scores rest on, see `TurnToJudge.saw`.
    """

    subject: Seat
    scores: dict[str, Number] | None
    unscored_reason: str
    rationale: str
    confidence: Number | None
    saw: dict[str, str]


class JudgeEvaluationCompleted(Finding):
    """dynamics: the judge's words on how those who spoke influenced each other."""

    into = TURN_JUDGED
    tells = JudgeEvaluationCompletedData
    type: Literal["judge_evaluation_completed"] = "judge_evaluation_completed"
    turn: int
    judgments: list[JudgmentFound]
    dynamics: str


SHARED: tuple[type[Finding], ...] = (
    *(TurnStarted, TurnCompleted, StageStarted, SeatReplaced),
    *(MessageSent, MessageParsed, MessageSuperseded),
    *(JudgeEvaluationStarted, JudgeEvaluationCompleted),
)
