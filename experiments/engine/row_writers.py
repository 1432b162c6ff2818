"""What a projection's row writer is made of. It has a side for each way in which rows come to be: they are written as a
run is played, shown on its page, copied into a branch, and restored from a document.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from pydantic import BaseModel
from rest_framework.serializers import ModelSerializer

from experiments.api.serializers import TranscriptSerializer
from experiments.library.search import indexing
from experiments.models import Call, Message, Run, Step
from experiments.workflows.base.events import EventData, JsonObject, MessageData, Stored
from experiments.workflows.base.records import Finding, Record

F = TypeVar("F", bound=Finding)
M = TypeVar("M", bound=Model)
StepOf = Callable[[Any], tuple[str, str]]  # from a row that is imported: the key and the purpose of a step


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a page is made of: the steps by their keys, and the messages as they are shown, by their steps' ids."""

    steps: Mapping[str, Step]
    messages: Mapping[int, JsonObject]


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows that the document of a run lists.

    name: of the list; line: of one row, where each is a line, and of the field of a step that names its row. rows: of a
    run, in order. shape: of a row that is imported; `most`: how many there may be at most. step: the key and the
    purpose of the step that left a row, where a document has no steps; None for rows to which no step leads.
    needs_steps: they are not restored without the steps that the document has.
    """

    name: str
    line: str
    rows: Callable[[Run], QuerySet[Any]]
    serializer: type[ModelSerializer[Any]]
    shape: type[BaseModel]
    most: int
    step: StepOf | None = None
    needs_steps: bool = False


@dataclass(frozen=True, slots=True)
class Restoring:
    """A run that is restored from a document. steps: by their keys; ids: new ones, by those of the document; calls and
    step_of, the step that left a row: by the document's ids.
    """

    run: Run
    steps: Mapping[str, Step]
    ids: Mapping[str, str]
    calls: Mapping[UUID, Call]
    step_of: Mapping[UUID, Step]


class RowWriter(Generic[F]):
    """Of findings that become no rows of their own; subclasses override the sides that differ.

    endings: how the keys of steps end that say something about a message; a branch from the message has them too.
    is_copied: whether a branch has steps of this projection at all. listed: the rows in the document of a run.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    is_copied: ClassVar[bool] = True
    listed: ClassVar[Listed | None] = None

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
        """Write the rows of the step for its copy in a branch."""

    def wrong(self, rows: Sequence[Any], executed: Collection[str]) -> Iterator[tuple[str, str]]:
        """What is wrong with the listed rows of a document, with the places in a row. executed: the keys of steps in
        which code is run.
        """
        return iter(())

    def restore(self, rows: Sequence[Any], into: Restoring) -> None:
        """Write the listed rows of a document, which are right."""


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
