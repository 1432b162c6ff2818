"""What a projection's row writer is made of. It has a side for each way in which rows come to be: they are written as a
run is played, shown on its page, copied into a branch, and restored from a document.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model, QuerySet

from experiments.models import Call, Message, Step
from experiments.search import indexing
from experiments.serializers import TranscriptSerializer
from experiments.workflows.base.events import EventData, JsonObject, MessageData, Stored
from experiments.workflows.base.records import Finding, Record

F = TypeVar("F", bound=Finding)
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a page is made of: the steps by their keys, and the messages as they are shown, by their steps' ids."""

    steps: Mapping[str, Step]
    messages: Mapping[int, JsonObject]


class RowWriter(Generic[F]):
    """Of findings that become no rows of their own; subclasses override the sides that differ.

    endings: how the keys of steps end that say something about a message; a branch from the message has them too.
    is_copied: whether a branch has steps of this projection at all.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    is_copied: ClassVar[bool] = True

    def write(self, step: Step, record: Record, finding: F) -> list[EventData]:
        """In the transaction of the step. Returns the events to be written in the same one."""
        return [finding]

    def with_rows(self, steps: QuerySet[Step]) -> QuerySet[Step]:
        """The steps with the rows that `entries` and `copy` read, so that no query is made for each."""
        return steps

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        """What the run page shows of the step, as the latest of its events tells it."""
        if step.data:
            yield stored(step.purpose, step.data)

    def copy(self, step: Step, into: Step) -> None:
        """The rows of the step for its copy in a branch."""


def kept(step: Step, told: EventData) -> list[EventData]:
    """Keep the event's data with the step, for pages."""
    step.data = told.data()
    step.save(update_fields=["data"])
    return [told]


def stored(type_: str, data: JsonObject) -> Stored:
    """An event as it was told before; its data were validated then."""
    return Stored.model_construct(type=type_, stored=data)


def copied(row: M, into: Step, leaving: tuple[str, ...] = (), **changes: Any) -> M:
    """The same row for the step of another run, not saved. leaving: fields that begin anew."""
    own = ("run", "step", *leaving)
    fields = [field for field in row._meta.concrete_fields if not field.primary_key and field.name not in own]
    values = {field.attname: getattr(row, field.attname) for field in fields}
    return type(row)(**{**values, "run_id": into.run_id, "step": into, **changes})


def source(step: Step, record: Record) -> Call | None:
    """The last call of the step that the record rests on."""
    calls = Call.objects.filter(run_id=step.run_id, step__key=record.source)
    return calls.select_related("model").order_by("attempt").last()


# --- messages ---


def message_data(message: Message) -> JsonObject:
    return dict(TranscriptSerializer(message).data)


def message_of(step: Step, key: str) -> Message:
    return Message.objects.select_related("call", "step").get(run_id=step.run_id, step__key=key)


def changed(message: Message, told: type[MessageData], **fields: Any) -> list[EventData]:
    """Save the fields. told: the event that shows the message as it is then."""
    for name, value in fields.items():
        setattr(message, name, value)
    message.save(update_fields=list(fields))
    if "text" in fields:
        indexing.messages(message.pk)
    return [told.model_validate(message_data(message))]
