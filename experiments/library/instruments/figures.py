"""Rates and means of the dimensions of an instrument, by judge, with intervals.

Units of one run are no independent evidence: intervals are those of clusters, one for each run.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import QuerySet

from experiments.models import Annotation
from experiments.workflows.base.instruments import Categories, Definition, Dimension, Quotation, ScaleDimension, YesNo
from leaderboard.ratings.statistics import mean_estimate, share_of_items
from leaderboard.ratings.values import Reason, Undefined


@dataclass(frozen=True, slots=True)
class Figure:
    """What one judge gave in one dimension. choice: the category that `value` is the rate of, "" for the others. value:
    a rate from 0 to 1 where `is_rate`, else a mean; None without a value. low, high: its 95 % interval, None where
    there is none. n: units with a value, from so many `runs`; missing: units without; unverified: findings whose
    quotation does not stand in the transcript.
    """

    dimension: Dimension
    judge: str
    choice: str
    is_rate: bool
    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    runs: int
    unverified: int


def figures(definition: Definition, rows: QuerySet[Annotation]) -> list[Figure]:
    """In the order of the definition, for each judge; of categories one for each choice."""
    found: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = defaultdict(list)
    told = rows.order_by("judge").values_list("judge", "dimension", "run", "value", "is_verified")
    for judge, name, run, value, is_verified in told:
        found[judge, name].append((run, value, is_verified))
    judges = sorted({judge for judge, _name in found})
    return [
        figure
        for dimension in definition.dimensions
        for judge in judges
        for figure in _figures(dimension, judge, found[judge, dimension.name])
    ]


def _figures(dimension: Dimension, judge: str, told: Sequence[tuple[Any, Any, Any]]) -> Iterator[Figure]:
    known = [(run, value) for run, value, _is_verified in told if value is not None]
    runs = np.unique([str(run) for run, _value in known], return_inverse=True)[1].reshape(-1)
    counts = {
        "n": len(known),
        "missing": len(told) - len(known),
        "runs": len(set(runs.tolist())),
        "unverified": sum(is_verified is False for _run, _value, is_verified in told),
    }
    if not isinstance(dimension, YesNo | Quotation | Categories):
        values = np.array([value for _run, value in known], dtype=np.float64)
        mean = mean_estimate(values, runs, empty=Reason.TOO_FEW_UNITS)
        # No mean is beyond the ends of its scale, so the interval ends there.
        ends = (dimension.low, dimension.high) if isinstance(dimension, ScaleDimension) else (0.0, np.inf)
        low, high = (None, None) if isinstance(mean.interval, Undefined) else np.clip(mean.interval, *ends).tolist()
        value = None if isinstance(mean.value, Undefined) else mean.value
        yield Figure(dimension, judge, "", False, value, low, high, **counts)
        return
    choices = [(choice.name, choice.title) for choice in dimension.choices] if isinstance(dimension, Categories) else []
    for name, title in choices or [("", "")]:
        happened = np.array([_has(dimension, value, name) for _run, value in known], dtype=np.float64)
        wholes = np.bincount(runs, minlength=1) if known else np.zeros(0)
        share = share_of_items(np.bincount(runs, happened) if known else np.zeros(0), wholes)
        low, high = share.interval or (None, None)
        yield Figure(dimension, judge, title, True, share.value, low, high, **counts)


def _has(dimension: Dimension, value: Any, choice: str) -> bool:
    if isinstance(dimension, Categories):
        return choice in value if isinstance(value, list) else value == choice
    return bool(value)
