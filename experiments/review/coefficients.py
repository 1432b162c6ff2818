"""Coefficients of agreement on one question of a rubric, from the values that people gave.

A figure of too few items is Undefined: below `FEW` of them a coefficient is an accident.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean

import numpy as np

from leaderboard.ratings.agreement import (
    Level,
    Weights,
    alpha_interval,
    cohen_interval,
    cohen_kappa,
    fleiss_interval,
    fleiss_kappa,
    krippendorff_alpha,
)
from leaderboard.ratings.statistics import Interval
from leaderboard.ratings.values import FloatArray, Reason, Undefined

FEW = 5  # items with two values
MOST_PAIRS = 45
ROUNDS = 1000
ROUNDS_OF_PAIRS = 300

Values = dict[int, dict[int, float]]  # by person, by item's number


@dataclass(frozen=True, slots=True)
class Figure:
    """A coefficient with its 95 % interval; Undefined, with the reason, where there is none."""

    value: float | Undefined
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class Pair:
    """Cohen's kappa of two people, weighted by the squared distance on ordered scales. items: that both answered."""

    first: str
    second: str
    items: int
    kappa: Figure


@dataclass(frozen=True, slots=True)
class WithJudge:
    """A judge's own scores beside people's. items: with both. judge, people: means. difference: mean of judge less the
    mean of people. corrected: how many scores people would have had otherwise, and the mean of what they put instead.
    """

    items: int
    judge: float | None
    people: float | None
    difference: float | None
    alpha: Figure
    corrections: int
    corrected: float | None


@dataclass(frozen=True, slots=True)
class Measure:
    """How far people agree on one scale, one label, or one choice of a label with several. items: with two values or
    more. answers: values in all. unsaid: how often somebody could not say.
    """

    name: str
    title: str
    level: Level
    items: int
    answers: int
    unsaid: int
    alpha: Figure
    fleiss: Figure
    pairs: tuple[Pair, ...]
    judge: WithJudge | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question of the rubric got: values by person and item. categories: in their order."""

    name: str
    title: str
    level: Level
    values: Values
    categories: tuple[float, ...]
    unsaid: int = 0
    judge: str = ""
    is_scale: bool = False

    @property
    def span(self) -> float:
        return (max(self.categories) - min(self.categories)) or 1.0 if self.level != "nominal" else 1.0

    def distance(self, first: float, second: float) -> float:
        """0 to 1."""
        return float(first != second) if self.level == "nominal" else abs(first - second) / self.span

    def of_items(self) -> dict[int, dict[int, float]]:
        found: dict[int, dict[int, float]] = defaultdict(dict)
        for person, of_person in self.values.items():
            for item, value in of_person.items():
                found[item][person] = value
        return found

    def measured(self, names: Mapping[int, str], judged: Mapping[int, float], corrected: Sequence[float]) -> Measure:
        items = self.of_items()
        paired = sorted(item for item, of_item in items.items() if len(of_item) > 1)
        rows = [[self.values[person].get(item, np.nan) for item in paired] for person in sorted(self.values)]
        matrix = np.array(rows, dtype=np.float64).reshape(len(rows), len(paired))
        return Measure(
            name=self.name,
            title=self.title,
            level=self.level,
            items=len(paired),
            answers=sum(map(len, items.values())),
            unsaid=self.unsaid,
            alpha=_alpha(matrix, self.level, len(paired)),
            fleiss=self._fleiss(items),
            pairs=tuple(self._pairs(names)),
            judge=self._with_judge(items, judged, corrected) if self.judge else None,
        )

    def _fleiss(self, items: Mapping[int, Mapping[int, float]]) -> Figure:
        """Of the items with the most usual number of answers, as it needs the same number everywhere."""
        sizes = [len(of_item) for of_item in items.values() if len(of_item) > 1]
        if not sizes:
            return _nothing(Reason.NOTHING_PAIRED)
        usual = max(set(sizes), key=lambda size: (sizes.count(size), size))
        rows = [of_item for of_item in items.values() if len(of_item) == usual]
        counts = [[list(of_item.values()).count(one) for one in self.categories] for of_item in rows]
        if len(rows) < FEW:
            return _nothing(Reason.TOO_FEW_UNITS)
        return Figure(fleiss_kappa(counts), fleiss_interval(counts, rounds=ROUNDS))

    def _pairs(self, names: Mapping[int, str]) -> list[Pair]:
        found = []
        for first, second in combinations(sorted(self.values, key=lambda person: names[person]), 2):
            if both := sorted(set(self.values[first]) & set(self.values[second])):
                one, two = ([self.values[person][item] for item in both] for person in (first, second))
                kappa = cohen(one, two, self.level, self.categories)
                found.append(Pair(names[first], names[second], len(both), kappa))
        return sorted(found, key=lambda pair: -pair.items)[:MOST_PAIRS]

    def _with_judge(
        self, items: Mapping[int, Mapping[int, float]], judged: Mapping[int, float], corrected: Sequence[float]
    ) -> WithJudge:
        both = sorted(set(items) & set(judged))
        people = [mean(items[item].values()) for item in both]
        judge = [judged[item] for item in both]
        matrix = np.array([judge, people], dtype=np.float64).reshape(2, len(both))
        return WithJudge(
            items=len(both),
            judge=mean(judge) if both else None,
            people=mean(people) if both else None,
            difference=mean(judge) - mean(people) if both else None,
            alpha=_alpha(matrix, "interval", len(both)),
            corrections=len(corrected),
            corrected=mean(corrected) if corrected else None,
        )


def cohen(first: Sequence[float], second: Sequence[float], level: Level, categories: Sequence[float]) -> Figure:
    """Unweighted for nominal categories; on an ordered scale a disagreement counts by its squared distance."""
    if len(first) < FEW:
        return _nothing(Reason.TOO_FEW_UNITS)
    weights: Weights = "none" if level == "nominal" else "quadratic"
    value = cohen_kappa(first, second, weights=weights, categories=categories)
    around = cohen_interval(first, second, weights=weights, categories=categories, rounds=ROUNDS_OF_PAIRS)
    return Figure(value, around)


def _alpha(matrix: FloatArray, level: Level, items: int) -> Figure:
    if not items:
        return _nothing(Reason.NOTHING_PAIRED)
    if items < FEW:
        return _nothing(Reason.TOO_FEW_UNITS)
    return Figure(krippendorff_alpha(matrix, level), alpha_interval(matrix, level, rounds=ROUNDS))


def _nothing(reason: Reason) -> Figure:
    return Figure(Undefined(reason), Undefined(reason))
