"""What a judge found becomes annotations, in the transaction of its step and its event, with quotations checked."""

from collections.abc import Mapping
from typing import Any

from experiments.engine.excerpts import material_of
from experiments.engine.projections import RowWriter, kept, source
from experiments.models import Annotation, Run, Step
from experiments.workflows.base.events import EventData, JsonObject
from experiments.workflows.base.material import Material
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.base.steps import Excerpt
from experiments.workflows.scan.records import ANNOTATIONS, MeasuredFound, UnitJudged, UnitJudgedData


class UnitsJudged(RowWriter[UnitJudged]):
    def write(self, step: Step, record: Record, finding: UnitJudged) -> list[EventData]:
        """An annotation for every subject and dimension; none where the transcript was deleted meanwhile."""
        told = UnitJudgedData(**finding.model_dump(include={"key", "seat", "run", "unit", "place"}))
        run = Run.objects.filter(pk=finding.run).select_related("experiment").first()
        if run is None:
            return kept(step, told)
        scan = Run.objects.select_related("experiment").get(pk=step.run_id)
        config = scan.experiment.parsed_config()
        sees = config.definition.sees
        material = material_of(run, Excerpt("transcript", unit=finding.unit, place=finding.place, sees=sees))
        messages = dict(run.messages.values_list("seq", "pk"))
        call = source(step, record)
        judge = scan.experiment.participants.select_related("model").get(seat=finding.seat).model
        same = {
            "run": run,
            "message_id": messages.get(finding.place) if finding.unit == "message" else None,
            "unit": finding.unit,
            "place": finding.place,
            "turn": finding.turn,
            "version_id": config.version,
            "judge": judge.label,
            "model": judge,
            "made_in": scan,
            "step": step,
            "call": call,
        }
        rows = [
            Annotation(
                **same,
                subject=reply.subject,
                answered=reply.answered,
                rationale=reply.notes,
                confidence=reply.confidence,
                **measured_fields(measured, material, messages),
            )
            for reply in finding.replies
            for measured in reply.measured
        ]
        Annotation.objects.bulk_create(rows)
        counts = {
            "values": sum(row.value is not None for row in rows),
            "unscored": sum(row.value is None for row in rows),
            "unverified": sum(row.is_verified is False for row in rows),
        }
        return kept(step, told.model_copy(update=counts))


def measured_fields(measured: MeasuredFound, material: Material | None, messages: Mapping[int, Any]) -> JsonObject:
    """The fields of an annotation that one dimension fills. messages: ids by their numbers."""
    citations = []
    for one in measured.citations:
        said = material.quoted_in(one.message, one.quote) if material else None
        number = said.number if said else one.message
        message = messages.get(number) if number is not None else None
        cited = {"message": str(message) if message else None, "seq": number, "quote": one.quote}
        citations.append({**cited, "verified": said is not None})
    is_verified = bool(citations) and all(one["verified"] for one in citations)
    return {
        "dimension": measured.dimension,
        "value": measured.value,
        "found": None if measured.value is None else measured.found,
        "unscored_reason": measured.unscored_reason,
        "citations": citations,
        "is_verified": is_verified if citations or measured.needs_citation else None,
    }


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {ANNOTATIONS: UnitsJudged()}
