"""What a judge found becomes annotations, in the transaction of its step and its event, with quotations checked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.engine.excerpts import material_of
from experiments.engine.projections import Loaded, RowWriter, copied, kept, source
from experiments.models import Annotation, InstrumentVersion, Message, Participant, Run, Step
from experiments.workflows.base.events import EventData, JsonObject
from experiments.workflows.base.instruments import Categories, Dimension
from experiments.workflows.base.material import Material
from experiments.workflows.base.measuring import ANNOTATIONS, MeasuredFound, UnitJudged, UnitJudgedData, ValueShown
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.base.steps import Excerpt


class UnitsJudged(RowWriter[UnitJudged]):
    def write(self, step: Step, record: Record, finding: UnitJudged) -> list[EventData]:
        """An annotation for every subject and dimension; none where the transcript was deleted meanwhile."""
        run_id = finding.run or str(step.run_id)
        run = Run.objects.filter(pk=run_id).select_related("experiment").first()
        told = UnitJudgedData(key=finding.key, seat=finding.seat, run=run_id, unit=finding.unit, place=finding.place)
        if run is None:
            return kept(step, told)
        messages = {one.seq: one for one in run.messages.select_related("step").only("seq", "seat", "step__key")}
        named = (one.seq for one in messages.values() if finding.message and one.step.key == finding.message)
        place = next(named, finding.place)
        excerpt = Excerpt(
            "transcript",
            unit=finding.unit,
            place=place,
            step=finding.message,
            length=finding.length,
            sees=finding.sees,
        )
        material = material_of(run, excerpt)
        seated = Participant.objects.filter(experiment__runs=step.run_id, seat=finding.seat)
        judge = seated.select_related("model").get().model
        same = {
            "run": run,
            "message": messages.get(place) if finding.unit == "message" else None,
            "unit": finding.unit,
            "place": place,
            "turn": finding.turn,
            "version_id": finding.version,
            "judge": judge.label,
            "model": judge,
            "made_in_id": step.run_id,
            "step": step,
            "call": source(step, record),
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
        live = {} if finding.run else _as_shown(rows, finding)
        return kept(step, told.model_copy(update={**counts, **live, "place": place}))

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        """What is found of a run while it is played stands where judging began."""
        if f"{step.key.removesuffix('/judged')}/started" not in loaded.steps:
            yield from super().entries(step, loaded)

    def copy(self, step: Step, into: Step) -> None:
        """In a branch messages have numbers of their own."""
        into.data = {**step.data, "run": str(into.run_id)}
        into.save(update_fields=["data"])
        keys = dict(step.run.messages.values_list("seq", "step__key"))
        own = {one.step.key: one for one in Message.objects.filter(run=into.run_id).select_related("step")}
        moved = {seq: own[key] for seq, key in keys.items() if key in own}
        Annotation.objects.bulk_create(_moved(row, into, moved) for row in step.annotations.all())


def _moved(row: Annotation, into: Step, moved: Mapping[int, Message]) -> Annotation:
    """The annotation for the copy of its step. moved: the messages of the branch, by the numbers of the others."""
    citations = [
        {**one, "message": str(said.pk) if said else None, "seq": said.seq if said else one["seq"]}
        for one in row.citations
        for said in (moved.get(one["seq"]),)
    ]
    is_numbered = row.unit not in ("turn", "run")
    place = moved[row.place].seq if is_numbered else row.place
    message = moved[row.place].pk if row.message_id else None
    return copied(row, into, made_in_id=into.run_id, place=place, message_id=message, citations=citations)


def _as_shown(rows: Sequence[Annotation], finding: UnitJudged) -> dict[str, object]:
    """What the event of a run that is judged while it is played says beside the counts."""
    version = InstrumentVersion.objects.select_related("instrument").get(pk=finding.version)
    dimensions = version.parsed.by_name
    shown = [
        ValueShown(
            subject=row.subject or (row.message.seat if row.message else ""),
            title=dimensions[row.dimension].title,
            value=_in_words(dimensions[row.dimension], row.value),
            unscored_reason=row.unscored_reason,
            quotes=[one["quote"] for one in row.citations],
            is_verified=row.is_verified,
        )
        for row in rows
    ]
    return {"turn": finding.turn, "instrument": version.instrument.title, "judge": rows[0].judge, "shown": shown}


def _in_words(dimension: Dimension, value: Any) -> Any:
    titles = {one.name: one.title for one in dimension.choices} if isinstance(dimension, Categories) else {}
    said = [titles.get(str(one), one) for one in (value if isinstance(value, list) else [value])]
    return said if isinstance(value, list) else said[0]


def measured_fields(measured: MeasuredFound, material: Material | None, messages: Mapping[int, Message]) -> JsonObject:
    """The fields of an annotation that one dimension fills. messages: by their numbers."""
    citations = []
    for one in measured.citations:
        said = material.quoted_in(one.message, one.quote) if material else None
        number = said.number if said else one.message
        message = messages.get(number) if number is not None else None
        cited = {"message": str(message.pk) if message else None, "seq": number, "quote": one.quote}
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
