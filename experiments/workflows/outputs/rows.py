"""Outputs that were made become rows, in the transaction of their step and their event."""

from collections.abc import Mapping
from typing import Any

from experiments.engine.projections import RowWriter, kept
from experiments.models import Call, Contestant, Output, Step
from experiments.workflows.base.events import EventData
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.outputs.records import OUTPUT, OutputMade, OutputMadeData


class OutputsMade(RowWriter[OutputMade]):
    def write(self, step: Step, record: Record, finding: OutputMade) -> list[EventData]:
        """A contestant's output, unless there is one already; a failure is kept with its step."""
        if not finding.failed:
            call = Call.objects.filter(run_id=step.run_id, step__key=finding.key).order_by("attempt").last()
            details = {"text": call.text if call else "", "call": call}
            Output.objects.get_or_create(sample_id=finding.sample, contestant_id=finding.contestant, defaults=details)
        contestant = Contestant.objects.filter(pk=finding.contestant).first()
        return kept(step, OutputMadeData(**finding.model_dump(exclude_unset=True), name=str(contestant or "")))


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {OUTPUT: OutputsMade()}
