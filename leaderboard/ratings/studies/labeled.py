"""Contrasts of what a judge found, corrected by what people said of a sample of the same units.

Judges err, and may err more in one condition than in another: then a contrast is off, however many runs there are. Each
side is corrected by its own labels; the sides have no run in common, so that their intervals give that of the
difference. What is decided is decided by the contrast as it was planned; this stands beside it.
"""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.prevalence import Rate, corrected, ratio, rogan_gladen, standing_for
from leaderboard.ratings.studies.analysis import Contrast, Outcome, Plan, Row, sides
from leaderboard.ratings.values import FloatArray, Reason, Undefined


@dataclass(frozen=True, slots=True)
class Unit:
    """What a judge judged at once in a run. stratum: of the sample; "" for what could not be drawn. share: of the value
    of its run, which the shares of all of its units make up. judged: the judge's value; label: people's mean, None
    where nobody was asked.
    """

    run: str
    outcome: str
    stratum: str
    share: float
    judged: float
    label: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """low, high: of the 95 % interval; None with the value or without it, for the reason `missing`."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """first, second: by people's labels. difference: of first less second. gladen: the same by sensitivity and
    specificity, None where values are not 1 and 0. labels: units with a label, of each side.
    """

    contrast: str
    outcome: str
    labels: tuple[int, int]
    first: Estimate
    second: Estimate
    difference: Estimate
    gladen: Estimate | None


def corrected_contrasts(plan: Plan, rows: Sequence[Row], units: Sequence[Unit]) -> list[Correction]:
    """One for each contrast of an outcome that has units, planned ones first.

    A side is prediction-powered inference (`prevalence.corrected`) over its units, clustered by runs; every stratum of
    the other factors counts alike, and within it every run, as in the contrast itself. The interval of the difference
    is made of the limits of the sides: d - √((p₁ - l₁)² + (u₂ - p₂)²) to d + √((u₁ - p₁)² + (p₂ - l₂)²).
    Source: Zou & Donner, "Construction of confidence limits about effect measures", Stat. Med. 27 (2008).
    """
    by_outcome: dict[str, dict[str, list[Unit]]] = defaultdict(lambda: defaultdict(list))
    for unit in units:
        by_outcome[unit.outcome][unit.run].append(unit)
    several = (*plan.contrasts, *plan.explored)
    return [_corrected(plan, one, rows, by_outcome[one.outcome]) for one in several if one.outcome in by_outcome]


def _corrected(plan: Plan, contrast: Contrast, rows: Sequence[Row], units: Mapping[str, list[Unit]]) -> Correction:
    others = [name for name in plan.factors if name not in {*contrast.first, *contrast.second}]
    outcome = next(one for one in plan.outcomes if one.name == contrast.outcome)
    found = [_Side.of(kept, outcome, others, units) for _all, kept in sides(plan, contrast, rows)]
    rates = [side.by_labels() for side in found]
    is_share = all(side.is_share for side in found)
    return Correction(
        contrast=contrast.name,
        outcome=contrast.outcome,
        labels=(rates[0].units, rates[1].units),
        first=_estimate(rates[0]),
        second=_estimate(rates[1]),
        difference=_difference(*map(_estimate, rates)),
        gladen=_difference(*(_estimate(side.gladen()) for side in found)) if is_share else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The units of one side, as arrays of one length. weights: their mean is 1; labels: NaN where there is none. ends:
    of the values.
    """

    ends: tuple[float, float]
    judged: FloatArray
    labels: FloatArray
    weights: FloatArray
    strata: Sequence[str]
    runs: Sequence[str]

    @classmethod
    def of(
        cls, rows: Sequence[Row], outcome: Outcome, others: Sequence[str], units: Mapping[str, list[Unit]]
    ) -> "_Side":
        known = [row for row in rows if row.values[outcome.name] is not None and row.run in units]
        levels = [tuple(row.levels[name] for name in others) for row in known]
        runs = {row.run: 1 / (len(set(levels)) * levels.count(own)) for row, own in zip(known, levels, strict=True)}
        every = [unit for row in known for unit in units[row.run]]
        weights = np.array([runs[unit.run] * unit.share * len(every) for unit in every], dtype=np.float64)
        is_bounded = outcome.least is not None and outcome.most is not None
        return cls(
            ends=(outcome.least or 0.0, outcome.most or 0.0) if is_bounded else (-math.inf, math.inf),
            judged=np.array([unit.judged for unit in every], dtype=np.float64),
            labels=np.array([math.nan if unit.label is None else unit.label for unit in every], dtype=np.float64),
            weights=weights,
            strata=[unit.stratum for unit in every],
            runs=[unit.run for unit in every],
        )

    @property
    def is_share(self) -> bool:
        """The judge says 1 or 0."""
        return bool(np.isin(self.judged, (0.0, 1.0)).all())

    def by_labels(self) -> Rate:
        if not len(self.judged) or "" in self.strata:
            return Rate.missing(Reason.UNLABELED, int((~np.isnan(self.labels)).sum()))
        f, y = self.judged * self.weights, self.labels * self.weights
        low, high = (float(self.weights.max()) * end for end in self.ends)
        return corrected(f, y, strata=self.strata, clusters=self.runs, low=low, high=high)

    def gladen(self) -> Rate:
        known = ~np.isnan(self.labels)
        if not known.any() or "" in self.strata:
            return Rate.missing(Reason.UNLABELED)
        runs, ones = np.array(self.runs), np.ones(len(self.judged))
        f, y = self.judged[known], self.labels[known]
        weights = (standing_for(self.strata, known) * self.weights)[known]
        sensitivity = ratio(f * y, y, runs[known], weights=weights)
        specificity = ratio((1 - f) * (1 - y), 1 - y, runs[known], weights=weights)
        return rogan_gladen(ratio(self.judged, ones, runs, weights=self.weights), sensitivity, specificity)


def _estimate(rate: Rate) -> Estimate:
    if isinstance(rate.value, Undefined):
        return Estimate(missing=str(rate.value.reason))
    if isinstance(rate.interval, Undefined):
        return Estimate(rate.value, missing=str(rate.interval.reason))
    return Estimate(rate.value, *rate.interval)


def _difference(first: Estimate, second: Estimate) -> Estimate:
    if first.value is None or second.value is None:
        return Estimate(missing=first.missing or second.missing)
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Estimate(value, missing=first.missing or second.missing)
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, value - below, value + above)


# --- as a table ---

COLUMNS = {
    "run": "the id of the run",
    "outcome": "the outcome of the plan whose value it is a part of",
    "stratum": "what the sample was drawn by; empty for a unit that could not be drawn",
    "share": "of the value of its run; all units of a run and an outcome make up 1",
    "judged": "the judge's value",
    "label": "the mean of what people said; empty where nobody was asked",
}


def written(units: Sequence[Unit]) -> str:
    """CSV (RFC 4180), in which numbers are as exact as they were."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for unit in units:
        label = "" if unit.label is None else repr(unit.label)
        writer.writerow([unit.run, unit.outcome, unit.stratum, repr(unit.share), repr(unit.judged), label])
    return text.getvalue()


def read(text: str) -> list[Unit]:
    """The units that were written. Raises KeyError for a missing column and ValueError for what is no number."""
    return [
        Unit(
            run=line["run"],
            outcome=line["outcome"],
            stratum=line["stratum"],
            share=float(line["share"]),
            judged=float(line["judged"]),
            label=float(line["label"]) if line["label"] else None,
        )
        for line in csv.DictReader(io.StringIO(text))
    ]
