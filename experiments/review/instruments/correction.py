"""Rates of a scan: as its judges give them, and corrected by people's labels of a sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from experiments.review.instruments.labels import Labels
from experiments.review.instruments.quantities import Figure, Quantity, figures, stratum_of
from experiments.review.instruments.units import Unit
from experiments.workflows.base.instruments import Definition
from leaderboard.ratings.prevalence import Rate, corrected, ratio, rogan_gladen, standing_for
from leaderboard.ratings.values import FloatArray, IntArray, Reason


@dataclass(frozen=True, slots=True)
class Corrected:
    """One rate or mean by one judge. raw: the judge's own, over `units` that it scored. by_labels: corrected by the
    labels, by prediction-powered inference; rogan_gladen: by sensitivity and specificity, of shares alone. labels: how
    many units that people labeled it rests on.
    """

    figure: Figure
    judge: str
    units: int
    labels: int
    raw: Rate
    by_labels: Rate
    rogan_gladen: Rate | None

    @property
    def is_mean(self) -> bool:
        return self.figure.category is None


def corrections(
    definition: Definition, quantity: Quantity, judge: str, units: Mapping[str, Unit], labels: Labels | None
) -> list[Corrected]:
    """The rates of one quantity by one judge; none where it has scored nothing."""
    scored = [one for one in units.values() if one.values.get((judge, quantity.dimension.name)) is not None]
    return [_corrected(definition, figure, judge, scored, labels) for figure in figures(quantity)] if scored else []


def _corrected(
    definition: Definition, figure: Figure, judge: str, scored: Sequence[Unit], labels: Labels | None
) -> Corrected:
    is_share = figure.category is not None
    f, runs = _judged(figure, judge, scored)
    bounds = {"low": figure.low, "high": figure.high}
    raw = ratio(f, np.ones(len(f)), runs) if is_share else corrected(f, f, clusters=runs, **bounds)
    strata = {one.key: name for one in scored if labels and (name := stratum_of_unit(definition, labels, one))}
    drawn_from = [one for one in scored if one.key in strata]
    if labels is None or not drawn_from:
        nothing = Rate.missing(Reason.UNLABELED)
        return Corrected(figure, judge, len(scored), 0, raw, nothing, nothing if is_share else None)
    f, runs = _judged(figure, judge, drawn_from)
    said = [said_of(figure.quantity, labels, one.key).values() for one in drawn_from]
    y = np.array([np.mean([*map(figure.of_person, values)]) if values else np.nan for values in said])
    names = np.array([strata[one.key] for one in drawn_from])
    by_labels = corrected(f, y, strata=names, clusters=runs, **bounds)
    known = ~np.isnan(y)
    gladen = _rogan_gladen(raw, f[known], y[known], runs[known], standing_for(names, known)[known])
    return Corrected(figure, judge, len(scored), int(known.sum()), raw, by_labels, gladen if is_share else None)


def _judged(figure: Figure, judge: str, units: Sequence[Unit]) -> tuple[FloatArray, IntArray]:
    """The judge's values, and numbers of the runs."""
    dimension, numbers = figure.quantity.dimension.name, dict[UUID, int]()
    values = np.array([figure.of_instrument(one.values[judge, dimension]) for one in units])
    return values, np.array([numbers.setdefault(one.run, len(numbers)) for one in units])


def _rogan_gladen(raw: Rate, f: FloatArray, y: FloatArray, runs: IntArray, weights: FloatArray) -> Rate:
    sensitivity = ratio(f * y, y, runs, weights=weights)
    return rogan_gladen(raw, sensitivity, ratio((1 - f) * (1 - y), 1 - y, runs, weights=weights))


def stratum_of_unit(definition: Definition, labels: Labels, unit: Unit) -> str:
    """By what a unit was drawn: the value that the sample's judge gave it; empty for one that could not be drawn."""
    value = unit.values.get((labels.sample.judge, labels.sample.dimension))
    if value is None or unit.run not in labels.runs:
        return ""
    return stratum_of(definition.by_name[labels.sample.dimension], value)


def said_of(quantity: Quantity, labels: Labels, key: str) -> dict[int, float]:
    """What people said of a unit, by person."""
    said = {person: quantity.of_person(answer) for person, answer in labels.answers.get(key, {}).items()}
    return {person: value for person, value in said.items() if value is not None}
