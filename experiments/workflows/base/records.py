"""What workflows state: findings as classes, each with the rows that it becomes.

A finding is written strictly: a field that its class does not have is an error where it is made. Its data are stored
and told in the order of the fields, without those that were not given.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

Number = int | float
Seat = str


@dataclass(frozen=True, slots=True)
class Projection:
    """The rows that findings become, by name; whoever keeps the rows says how they are written."""

    name: str


ANNOUNCED = Projection("announced")  # no row: the event says it all
KEPT = Projection("kept")  # with its step, as it stands
SPOKEN_BY_PERSON = Projection("spoken_by_person")  # a message in a person's words
MESSAGE_PARSED = Projection("message_parsed")
MESSAGE_SUPERSEDED = Projection("message_superseded")
SEAT_REPLACED = Projection("seat_replaced")  # kept with its step, with the names of the models
TURN_JUDGED = Projection("turn_judged")


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Finding(Part):
    """`type` names the event that tells of it."""

    into: ClassVar[Projection] = ANNOUNCED
    type: str

    def data(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"type"}, exclude_unset=True)


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
    def data(self) -> dict[str, Any]:
        return self.finding.data()


class TurnStarted(Finding):
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
    type: Literal["message_sent"] = "message_sent"
    seat: Seat
    text: str
    parsed: dict[str, JsonValue] | None = None


class MessageParsed(Finding):
    """What the structured answer of the step `message` says; it reads as `text`, and `flags` join its own."""

    into = MESSAGE_PARSED
    type: Literal["message_parsed"] = "message_parsed"
    message: str
    parsed: dict[str, JsonValue]
    text: str
    flags: list[str]


class MessageSuperseded(Finding):
    """Another answer takes the place of that of the step `message`."""

    into = MESSAGE_SUPERSEDED
    type: Literal["message_superseded"] = "message_superseded"
    message: str


class SeatReplaced(Finding):
    """The model of the seat `by` is asked for `seat`, under `key`. instead_of: who was asked last, where that is not
    the seat's own model. reason: the kind of its error.
    """

    into = SEAT_REPLACED
    type: Literal["seat_replaced"] = "seat_replaced"
    key: str
    seat: Seat
    by: Seat
    reason: str
    error: str
    instead_of: Seat = ""

    @property
    def failed(self) -> Seat:
        """Whose model was asked last."""
        return self.instead_of or self.seat


class JudgeEvaluationStarted(Finding):
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
    type: Literal["judge_evaluation_completed"] = "judge_evaluation_completed"
    turn: int
    judgments: list[JudgmentFound]
    dynamics: str
