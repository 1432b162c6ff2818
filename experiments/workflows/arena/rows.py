"""What becomes of messages in an arena run: filtered, replaced where they hold no words, and altered by an operator."""

from collections.abc import Mapping
from typing import Any

from experiments.engine.projections import RowWriter, changed, kept, message_of, source
from experiments.models import Call, Message, Run, Step
from experiments.workflows.arena import records
from experiments.workflows.arena.records import (
    Intervened,
    InterventionData,
    MessageFiltered,
    MessageFilteredData,
    MessageReplaced,
)
from experiments.workflows.base.events import EventData, MessageAltered
from experiments.workflows.base.records import Projection, Record


class FilteredMessage(RowWriter[MessageFiltered]):
    endings = ("/filter", "/filtered")

    def write(self, step: Step, record: Record, finding: MessageFiltered) -> list[EventData]:
        details = {**finding.filter.model_dump(mode="json"), "call": _id(source(step, record))}
        return changed(message_of(step, finding.message), MessageFilteredData, text=finding.text, filter=details)


class MessageReadAs(RowWriter[MessageReplaced]):
    endings = ("/nothing",)

    def write(self, step: Step, record: Record, finding: MessageReplaced) -> list[EventData]:
        return changed(message_of(step, finding.message), MessageAltered, text=finding.text)


class Interventions(RowWriter[Intervened]):
    def write(self, step: Step, record: Record, finding: Intervened) -> list[EventData]:
        """A message that was altered reads differently from now on; what it said before is kept with it."""
        call = source(step, record)
        of_friend = {"model": call.model.label, "call": _id(call)} if call else {}
        by = _operator(step, record)
        told = kept(step, InterventionData(**finding.model_dump(exclude_unset=True), **of_friend, by=by))
        if not finding.message_seat:
            return told
        said = Message.objects.select_related("call__model", "step").filter(run_id=step.run_id, superseded=False)
        message = said.filter(turn=finding.message_turn, seat=finding.message_seat).latest("seq")
        operator = {"kind": "altered", "by": by, "original": message.text}
        return [*told, *changed(message, MessageAltered, text=finding.text, operator=operator)]


def _operator(step: Step, record: Record) -> str:
    """Who did it: the person who spoke at the pause, or the owner who planned it."""
    pause = Step.objects.filter(run_id=step.run_id, kind="listen", key=record.key.rpartition("/")[0]).first()
    if pause and pause.data.get("by"):
        return str(pause.data["by"])
    return Run.objects.select_related("experiment__owner").get(pk=step.run_id).experiment.owner.get_username()


def _id(call: Call | None) -> str | None:
    return str(call.pk) if call else None


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {
    records.MESSAGE_FILTERED: FilteredMessage(),
    records.MESSAGE_READ_AS: MessageReadAs(),
    records.INTERVENTION: Interventions(),
}
