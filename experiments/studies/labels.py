"""What people said of what an instrument found in the runs of a study, for `leaderboard.ratings.studies.labeled`."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING
from uuid import UUID

from experiments.models import InstrumentVersion, ReviewAnswer, ReviewQueue, Study
from experiments.review.instruments.correction import stratum_of_unit
from experiments.review.instruments.labels import Labels, labels_of
from experiments.review.instruments.quantities import Quantity, quantities
from experiments.review.instruments.units import Unit, units_of
from experiments.studies.outcomes import annotations_of, number_of
from experiments.studies.plan import Annotation, Outcome, Plan
from experiments.workflows.base.instruments import Categories, Definition, Quotation
from leaderboard.ratings.studies.labeled import Unit as Labeled

if TYPE_CHECKING:
    from accounts.models import User


def labeled_units(study: Study, plan: Plan, *, reader: "User") -> list[Labeled]:
    """The units of each outcome that an instrument found and people labeled. Labels of a blind queue count once it is
    closed, since everybody who sees the study sees what comes of them. Of several scans that of most labels counts.
    An outcome that asks whether anything happened, or how much at most, is of whole runs: single units correct it only
    where each run has one.
    """
    runs = set(study.planned_runs.filter(run__isnull=False).values_list("run", flat=True))
    return [unit for outcome in plan.outcomes for unit in _of_outcome(outcome, runs, reader)]


def _of_outcome(outcome: Outcome, runs: Collection[UUID], reader: "User") -> Iterator[Labeled]:
    source = outcome.source
    if not isinstance(source, Annotation) or outcome.kind == "time":
        return
    version = InstrumentVersion.objects.visible_to(reader).get(pk=source.version)
    labels = _labels(version, runs, reader)
    quantity = _quantity(version.parsed, source)
    if labels is None or quantity is None:
        return
    units = [
        (unit, [value for value in _values(unit, source, outcome) if value is not None])
        for unit in units_of(annotations_of(source, runs, reader)).values()
    ]
    by_run: dict[UUID, list[tuple[Unit, float]]] = defaultdict(list)
    for unit, values in units:
        if values:
            by_run[unit.run].append((unit, fmean(values)))
    if source.over in ("any", "most") and any(len(several) > 1 for several in by_run.values()):
        return
    for run, several in by_run.items():
        last = max(unit.turn or 0 for unit, _judged in several)
        counted = [(unit, f) for unit, f in several if source.over != "last" or (unit.turn or 0) == last]
        turns = Counter(unit.turn or 0 for unit, _judged in counted)
        for unit, judged in counted:
            yield Labeled(
                run=str(run),
                outcome=outcome.name,
                stratum=stratum_of_unit(version.parsed, labels, unit),
                share=1 / (len(turns) * turns[unit.turn or 0]),
                judged=judged,
                label=_label(quantity, source, outcome, list(labels.answers.get(unit.key, {}).values())),
            )


def _labels(version: InstrumentVersion, runs: Collection[UUID], reader: "User") -> Labels | None:
    found = [
        labels
        for labels in labels_of(version, reader).values()
        if labels.answers
        and not labels.runs.isdisjoint(runs)
        and all(not one.is_blind or one.state != ReviewQueue.State.OPEN for one in labels.queues)
    ]
    return max(found, key=lambda one: len(one.answers), default=None)


def _quantity(definition: Definition, source: Annotation) -> Quantity | None:
    """What reviewers answer of the outcome; None where they are asked something else: how many of several choices, how
    many passages.
    """
    dimension = definition.by_name[source.dimension]
    if isinstance(dimension, Quotation) or (isinstance(dimension, Categories) and not source.category):
        return None
    return next(
        one for one in quantities(definition) if one.dimension == dimension and one.choice in ("", source.category)
    )


def _values(unit: Unit, source: Annotation, outcome: Outcome) -> Iterator[float | None]:
    for (_judge, dimension), value in unit.values.items():
        if dimension == source.dimension:
            number = number_of(value, source.category)
            yield None if number is None else _counted(number, source, outcome)


def _counted(value: float, source: Annotation, outcome: Outcome) -> float:
    return float(value > source.threshold) if outcome.kind == "rate" else value


def _label(quantity: Quantity, source: Annotation, outcome: Outcome, answers: Sequence[ReviewAnswer]) -> float | None:
    """The mean of what people said of a unit; None where nobody said anything of it."""
    said = [value for answer in answers if (value := quantity.of_person(answer)) is not None]
    if isinstance(quantity.dimension, Categories) and not quantity.choice:
        said = [float(quantity.dimension.names[int(value)] == source.category) for value in said]
    return fmean(_counted(value, source, outcome) for value in said) if said else None
