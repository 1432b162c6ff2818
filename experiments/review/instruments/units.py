"""What an instrument has judged, unit by unit."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from experiments.models import Annotation, Experiment, InstrumentVersion
from experiments.models.instruments import AnnotationQuerySet

READ = ("run", "message", "unit", "place", "turn", "subject", "judge", "dimension", "value")


@dataclass(frozen=True, slots=True)
class Unit:
    """What was judged at once: a message, or a turn or a run as a whole, or one participant's part of it (`seat`). key:
    what a queue's items call it. values: by judge and dimension, None where the judge gave none.
    """

    key: str
    run: UUID
    message: UUID | None
    turn: int | None
    seat: str
    values: dict[tuple[str, str], Any] = field(default_factory=dict)


def units_of(annotations: AnnotationQuerySet) -> dict[str, Unit]:
    """The units that annotations are about, by their keys; of a judge's several on one dimension the last counts."""
    found: dict[str, Unit] = {}
    rows = annotations.filter(person__isnull=True).order_by("pk").values_list(*READ)
    for run, message, kind, place, turn, subject, judge, dimension, value in rows.iterator(chunk_size=5_000):
        is_message = kind == "message"
        key = f"message:{message}" if is_message else f"{kind}:{run}:{place}:{subject}"
        if key not in found:
            seat = "" if is_message else subject
            found[key] = Unit(key, run, message if is_message else None, turn if kind == "turn" else None, seat)
        found[key].values[judge, dimension] = value
    return found


def annotations_of(version: InstrumentVersion, scan: Experiment) -> AnnotationQuerySet:
    """What an experiment has judged with a version. A scan leaves out what its judges had judged with it before, unless
    it judges again; then that counts in its place.
    """
    if "runs" not in scan.config or scan.config.get("again"):
        return Annotation.objects.filter(version=version, made_in__experiment=scan)
    judges = scan.participants.values("model")
    return Annotation.objects.filter(version=version, run__in=scan.config["runs"], model__in=judges).newest()
