"""How far an instrument and people, people among themselves, or several judges of one instrument agree on a quantity.

What is compared are pairs of values of one unit. Each stands for as many units as the sample says, and pairs of one run
are not independent: intervals are by runs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple
from uuid import UUID

import numpy as np

from experiments.review.coefficients import FEW, Figure
from experiments.review.instruments.quantities import Quantity
from leaderboard.ratings.agreement import (
    alpha_interval_of_items,
    alpha_of_table,
    kappa_interval_of_items,
    kappa_of_table,
)
from leaderboard.ratings.prevalence import Rate, ratio
from leaderboard.ratings.values import FloatArray, IntArray, Reason, Undefined

ROUNDS = 500


class Pair(NamedTuple):
    """Two values of one unit. weight: how many units it stands for. run: what it is clustered by."""

    first: float
    second: float
    weight: float
    run: UUID


@dataclass(frozen=True, slots=True)
class Agreement:
    """pairs: of how many values, in so many runs. percent: the share that is the same. kappa: Cohen's, by the squared
    distance where values have an order. alpha: Krippendorff's, at the quantity's level. table: pairs by the value of
    the first (rows) and the second (columns), in the order of the quantity's values.
    """

    pairs: int
    runs: int
    percent: Rate
    kappa: Figure
    alpha: Figure
    table: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """How a judge finds one value. precision: the share of what it says to be so that people say, too; recall: the
    share of what people say to be so that it finds; specificity: the share of the rest that it leaves alone.
    """

    value: float
    word: str
    precision: Rate
    recall: Rate
    specificity: Rate


def agreement(quantity: Quantity, pairs: Sequence[Pair]) -> Agreement:
    """Of one quantity. Coefficients of fewer than FEW pairs are Undefined: they would be accidents."""
    first, second, weights, runs = _columns(pairs)
    places = {value: place for place, value in enumerate(quantity.values)}
    rows, columns = (np.array([places[value] for value in values.tolist()], dtype=int) for values in (first, second))
    groups = int(runs.max(initial=-1)) + 1
    counts = np.zeros((len(places), len(places)), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    percent = ratio(first == second, np.ones(len(pairs)), runs, weights=weights)
    table = tuple(tuple(row) for row in counts.tolist())
    if len(pairs) < FEW:
        few = Undefined(Reason.TOO_FEW_UNITS if pairs else Reason.NOTHING_PAIRED)
        return Agreement(len(pairs), groups, percent, Figure(few, few), Figure(few, few), table)
    tables = np.zeros((groups, len(places), len(places)))
    np.add.at(tables, (runs, rows, columns), weights * (len(pairs) / weights.sum()))
    total = tables.sum(axis=0)
    kappa = Figure(
        kappa_of_table(total, weights=quantity.weights),
        kappa_interval_of_items(tables, weights=quantity.weights, rounds=ROUNDS),
    )
    alpha = Figure(
        alpha_of_table(total, quantity.values, quantity.level),
        alpha_interval_of_items(tables, quantity.values, quantity.level, rounds=ROUNDS),
    )
    return Agreement(len(pairs), groups, percent, kappa, alpha, table)


def detections(quantity: Quantity, pairs: Sequence[Pair]) -> list[Detection]:
    """Of each value that is not a step of a scale: yes alone of yes and no. pairs: the judge's value first."""
    if quantity.is_scale:
        return []
    first, second, weights, runs = _columns(pairs)
    found = []
    for value, word in zip(quantity.values, quantity.words, strict=True):
        if quantity.is_binary and not value:
            continue
        said, so = (first == value) * 1.0, (second == value) * 1.0
        rates = [ratio(said * so, whole, runs, weights=weights) for whole in (said, so)]
        specificity = ratio((1 - said) * (1 - so), 1 - so, runs, weights=weights)
        found.append(Detection(value, word, rates[0], rates[1], specificity))
    return found


def pairs_of_people(values: Iterable[tuple[dict[int, float], float, UUID]]) -> list[Pair]:
    """Every two people's values of a unit, its weight shared among them. values: by person, the weight, the run."""
    found = []
    for by_person, weight, run in values:
        people = sorted(by_person)
        count = len(people) * (len(people) - 1) / 2
        for one, other in combinations(people, 2):
            found.append(Pair(by_person[one], by_person[other], weight / count, run))
    return found


def _columns(pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """First and second values, weights, and numbers of runs."""
    numbers = np.array([pair[:3] for pair in pairs], dtype=np.float64).reshape(-1, 3)
    known = {run: number for number, run in enumerate(dict.fromkeys(pair.run for pair in pairs))}
    runs = np.array([known[pair.run] for pair in pairs], dtype=np.int64)
    return numbers[:, 0], numbers[:, 1], numbers[:, 2], runs
