"""What an arena run states, beside what every workflow does."""

from typing import Literal

from experiments.workflows.base.events import EventData, MessageAltered, MessageData, Number, Part, Seat
from experiments.workflows.base.records import Finding, Projection

MESSAGE_FILTERED = Projection("arena_message_filtered")
MESSAGE_READ_AS = Projection("arena_message_read_as")
INTERVENTION = Projection("arena_intervention")  # kept with its step; where it names a message, that reads differently


class Filtered(Part):
    """confidence: of the filter, 0 to 1; None where it said none."""

    changed: bool
    removed: list[str]
    confidence: Number | None
    reasoning: str
    status: str


class MessageFilteredData(MessageData):
    type: Literal["message_filtered"] = "message_filtered"


class MessageFiltered(Finding):
    """The other side reads `text` of the message of the step `message`."""

    into = MESSAGE_FILTERED
    tells = MessageFilteredData
    type: Literal["message_filtered"] = "message_filtered"
    message: str
    text: str
    filter: Filtered


class MessageReplaced(Finding):
    """What the other side reads where a reply holds no words."""

    into = MESSAGE_READ_AS
    tells = MessageAltered
    type: Literal["message_replaced"] = "message_replaced"
    message: str
    text: str


class Intervention(EventData):
    """What an operator did to a side. message: both were told the same. question: to a friend. original, message_turn,
    message_seat: of the message that reads as `text` from now on. missed: why nothing came of it.
    """

    type: Literal["intervention"] = "intervention"
    key: str
    kind: Literal["friend", "note", "alter", "message"]
    seat: Seat
    turn: int
    question: str = ""
    text: str
    original: str = ""
    message_turn: int = 0
    message_seat: Seat = ""
    missed: str = ""


class InterventionData(Intervention):
    """model, call: of the friend who was asked; by: the operator."""

    model: str = ""
    call: str | None = None
    by: str


class Intervened(Intervention, Finding):
    into = INTERVENTION
    tells = InterventionData


RECORDS: tuple[type[Finding], ...] = (MessageFiltered, MessageReplaced, Intervened)
