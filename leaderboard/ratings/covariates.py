"""Ratings with covariates held equal: Bradley-Terry strengths and the effects of several covariates, in one fit.

logit p(left wins) = strength left - strength right + effects · covariates, maximum likelihood, ties as half wins, with
the sandwich of `leaderboard.ratings.intervals`. Sources: Davidson & Beaver, "On extending the Bradley-Terry model to
incorporate within-pair order effects", Biometrics 33 (1977); the style control of Chiang et al., "Chatbot Arena"
(2024), and Li et al., "Does style matter?", lmsys.org (2024).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.bradley_terry import FINE, Fitted, fitted, laplacian, ratings_of
from leaderboard.ratings.intervals import (
    Intervals,
    OneSided,
    Shared,
    bounds_by_items,
    factor,
    sandwiched,
)
from leaderboard.ratings.values import ELO, MEAN, NORMAL, Battles, FloatArray, IntArray, Reason, Undefined

MOST_STEPS = 60
MOST_HALVINGS = 40
COARSE = 0.01  # nats: after a smaller step the curvature is as good as that at the maximum
SLOW = 0.2  # of the step before: where steps shrink by less, the curvature is computed anew
FURTHEST = 40.0  # nats: a battle decided by more than e^40 is explained without error
LEAST_PRECISION = 1e-9  # of an effect's own information that is left beside the strengths and the effects before it
DENSE = 4  # times as many numbers as labels: up to there a table of them is shorter work than sorting
CELLS = 1 << 19  # of the table clusters × parameters at a time, 4 MB
BLOCK = 1 << 16  # battles at a time, whose columns fit into a processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class Controlled:
    """intervals: the ratings with every covariate at 0, nan where `fit` has none; `one_sided` has no bounds.

    effects, errors, lower, upper: k, what one unit of a covariate adds to the left one's rating, in Elo, with its 95 %
    interval; nan with its entry of `reasons` for a covariate that was left out. moves: k × n, how far each rating would
    move, to first order, if that covariate alone were ignored. n: the battles that all of this rests on.
    """

    intervals: Intervals
    effects: FloatArray
    errors: FloatArray
    reasons: tuple[Reason | None, ...]
    moves: FloatArray
    n: int

    @property
    def lower(self) -> FloatArray:
        return self.effects - NORMAL * self.errors

    @property
    def upper(self) -> FloatArray:
        return self.effects + NORMAL * self.errors


def controlled(
    battles: Battles, covariates: ArrayLike, *, clusters: ArrayLike | None = None, at_least: bool = False
) -> Controlled | Undefined:
    """Strengths of all rated groups, and effects of k covariates (k × battles): above 0 they speak for the left one.

    clusters: one whole number per battle; battles of one are one observation, and errors are wider for few of them, as
    in `by_items`. at_least: see `by_items`. A covariate that never varies, or that follows from who battles whom and
    the covariates before it, is left out with its reason. Undefined where nothing is rated, for a single cluster, and
    where the covariates explain all battles without error. Raises ValueError for a number that is not finite, or where
    there is not one per battle.
    """
    x = np.atleast_2d(np.asarray(covariates, dtype=np.float64))
    if x.ndim != 2 or x.shape[1] != len(battles) or not np.isfinite(x).all():
        raise ValueError("a covariate has one finite number per battle")
    labels = np.arange(len(battles)) if clusters is None else np.asarray(clusters)
    if labels.shape != battles.left.shape:
        raise ValueError("clusters are given one per battle")
    found = fitted(battles, {})
    if not found.parts:
        return Undefined(Reason.NO_BATTLES if not len(battles) else Reason.SEPARATED)
    rows = _rows_of(found, battles, x, labels)
    if clusters is not None and int(rows.cluster.max(initial=-1)) < 1:
        return Undefined(Reason.TOO_FEW_UNITS)
    size, count = len(rows.members), len(x)
    start = np.append(found.solution.strengths[rows.members], np.zeros(count))
    chance = rows.chances(start)
    curvature = _products(rows, chance * (1.0 - chance))
    reasons = _left_out(rows, curvature)
    kept = np.array([place for place, reason in enumerate(reasons) if reason is None], dtype=np.int64)
    if len(kept) < count:
        chosen = np.append(np.arange(size), size + kept)
        rows, start, curvature = replace(rows, x=rows.x[kept]), start[chosen], curvature[np.ix_(chosen, chosen)]
    parameters = _maximise(rows, start, curvature)
    if parameters is None:
        return Undefined(Reason.SEPARATED)
    try:
        covariance, inverse = _covariance(rows, parameters, is_clustered=clusters is not None, at_least=at_least)
    except np.linalg.LinAlgError:  # at the end of a search that ran away every battle is as good as certain
        return Undefined(Reason.SEPARATED)
    if not (np.diag(inverse)[size:] > 0).all():
        return Undefined(Reason.SEPARATED)
    effects, errors, moves = np.full(count, np.nan), np.full(count, np.nan), np.full((count, len(found.order)), np.nan)
    effects[kept] = ELO * parameters[size:]
    errors[kept] = ELO * np.sqrt(np.maximum(np.diag(covariance)[size:], 0.0))
    own = found.order[rows.members]
    per_unit = inverse[:size, size:] / np.diag(inverse)[size:]
    moves[np.ix_(kept, own)] = -ELO * (per_unit * parameters[size:]).T
    intervals = _intervals(found, rows, parameters, covariance, Shared(battles, labels))
    return Controlled(intervals, effects, errors, tuple(reasons), moves, rows.n)


# --- the battles, sorted by pair: what strengths need is then summed by pair before it is spread over contestants ---


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Battles within rated groups. members: of whom, as places in the fit's sequence; part: the group of each.

    left, right: of each pair, as places among members; starts: where its battles begin, and their end. score, cluster:
    by battle, clusters numbered from 0; x: k × battles.
    """

    members: IntArray
    part: IntArray
    left: IntArray
    right: IntArray
    starts: IntArray
    score: FloatArray
    cluster: IntArray
    x: FloatArray

    @property
    def n(self) -> int:
        return len(self.score)

    @property
    def groups(self) -> list[IntArray]:
        """The members of each group."""
        return [np.flatnonzero(self.part == number) for number in np.unique(self.part)]

    @property
    def pair(self) -> IntArray:
        """The pair of each battle."""
        return np.repeat(np.arange(len(self.left)), np.diff(self.starts))

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Pairs and their battles, some of them at a time."""
        ends = np.searchsorted(self.starts, np.arange(BLOCK, self.n, BLOCK), side="right") - 1
        first = 0
        for last in [*np.unique(ends).tolist(), len(self.left)]:
            if last > first:
                yield slice(first, last), slice(int(self.starts[first]), int(self.starts[last]))
                first = last

    def margins(self, parameters: FloatArray, pairs: slice, rows: slice) -> FloatArray:
        """The log odds of the left ones' wins."""
        size = len(self.members)
        apart = parameters[self.left[pairs]] - parameters[self.right[pairs]]
        counts = np.diff(self.starts[pairs.start : pairs.stop + 1])
        return np.repeat(apart, counts) + parameters[size:] @ self.x[:, rows]

    def chances(self, parameters: FloatArray) -> FloatArray:
        """Of the left ones to win."""
        margins = np.concatenate([self.margins(parameters, *block) for block in self.blocks()])
        chances: FloatArray = 1.0 / (1.0 + np.exp(-margins))
        return chances

    def spread_over(self, by_pair: FloatArray) -> FloatArray:
        """The sum of numbers · (e left - e right), by contestant."""
        size = len(self.members)
        sums = np.bincount(self.left, by_pair, minlength=size) - np.bincount(self.right, by_pair, minlength=size)
        return np.asarray(sums, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """At some parameters: the log-likelihood, its gradient, the largest log odds of a battle, and minus the second
    derivative, where it was asked for.
    """

    likelihood: float
    gradient: FloatArray
    furthest: float
    curvature: FloatArray | None


def _rows_of(found: Fitted, battles: Battles, x: FloatArray, labels: IntArray) -> _Rows:
    members = np.concatenate(found.parts)
    part = np.concatenate([np.full(len(one), number) for number, one in enumerate(found.parts)])
    size = len(members)
    place = np.full(len(battles.contestants), -1, dtype=np.int64)
    place[found.order[members]] = np.arange(size)
    left, right = place[battles.left], place[battles.right]
    inside = (left >= 0) & (right >= 0) & (part[left] == part[right])
    cells = (left * size + right)[inside]
    narrow = cells.astype(np.uint16) if size * size <= 1 << 16 else cells  # whose sort is by radix
    order = np.argsort(narrow, kind="stable")
    cells = cells[order]
    starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1])) if len(cells) else np.zeros(0, dtype=np.int64)
    chosen = np.flatnonzero(inside)[order]
    return _Rows(
        members=members,
        part=part,
        left=cells[starts] // size,
        right=cells[starts] % size,
        starts=np.append(starts, len(cells)),
        score=battles.score[chosen],
        cluster=_numbered(labels[chosen]),
        x=np.take(x, chosen, axis=1),
    )


def _numbered(labels: IntArray) -> IntArray:
    """The labels as numbers from 0 without a gap, in their own sequence."""
    if not labels.size or labels.min() < 0 or labels.max() > DENSE * labels.size:
        return np.unique(labels, return_inverse=True)[1].reshape(-1)
    is_there = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    is_there[labels] = 1
    return (np.cumsum(is_there) - 1)[labels]


def _evaluated(rows: _Rows, parameters: FloatArray, *, is_curved: bool) -> _Point:
    """One pass over the battles; without the curvature a short one."""
    likelihood, furthest, of_x, of_pair = 0.0, 0.0, np.zeros(len(rows.x)), np.zeros(len(rows.left))
    weights = np.zeros(rows.n if is_curved else 0)
    for some, those in rows.blocks():
        margins, score = rows.margins(parameters, some, those), rows.score[those]
        small = np.exp(-np.abs(margins))
        chance = np.where(margins >= 0, 1.0, small) / (1.0 + small)
        surprise = score - chance
        likelihood += float(score @ margins - np.maximum(margins, 0.0).sum() - np.log1p(small).sum())
        furthest = max(furthest, float(np.abs(margins).max()))
        of_pair[some] = np.add.reduceat(surprise, rows.starts[some] - rows.starts[some.start])
        of_x += rows.x[:, those] @ surprise
        if is_curved:
            weights[those] = chance * (1.0 - chance)
    gradient = np.append(rows.spread_over(of_pair), of_x)
    return _Point(likelihood, gradient, furthest, _products(rows, weights) if is_curved else None)


def _products(rows: _Rows, weights: FloatArray) -> FloatArray:
    """The sum over battles of weights · outer products of (e left - e right, x)."""
    size, k = len(rows.members), len(rows.x)
    by_pair, crossed, squares = np.zeros(len(rows.left)), np.zeros((k, len(rows.left))), np.zeros((k, k))
    for some, those in rows.blocks():
        starts, weighed = rows.starts[some] - rows.starts[some.start], rows.x[:, those] * weights[those]
        by_pair[some] = np.add.reduceat(weights[those], starts)
        crossed[:, some] = np.add.reduceat(weighed, starts, axis=1)
        squares += weighed @ rows.x[:, those].T
    summed = np.bincount(rows.left * size + rows.right, by_pair, minlength=size * size)
    cells = np.asarray(summed, dtype=np.float64).reshape(size, size)
    matrix = np.zeros((size + k, size + k))
    matrix[:size, :size] = laplacian(cells + cells.T)
    for number in range(k):
        matrix[size + number, :size] = matrix[:size, size + number] = rows.spread_over(crossed[number])
    matrix[size:, size:] = squares
    return matrix


def _solvable(rows: _Rows, matrix: FloatArray) -> FloatArray:
    """Made invertible: equal shifts of all strengths of a group, which it does not see, get their mean diagonal."""
    whole = matrix.copy()
    for inside in rows.groups:
        whole[np.ix_(inside, inside)] += float(np.diag(matrix)[inside].sum()) / len(inside) ** 2
    return whole


def _left_out(rows: _Rows, curvature: FloatArray) -> list[Reason | None]:
    """Why covariates are left out: by what the information of each holds beside strengths and covariates before it."""
    size, k = len(rows.members), len(rows.x)
    whole = _solvable(rows, curvature)
    cross, own = whole[:size, size:], np.diag(whole)[size:]
    beside = whole[size:, size:] - cross.T @ np.linalg.solve(whole[:size, :size], cross)
    reasons: list[Reason | None] = []
    kept: list[int] = []
    for number in range(k):
        if not own[number] > 0:
            reasons.append(Reason.CONSTANT)
            continue
        before = beside[np.ix_(kept, kept)]
        left = beside[number, number] - beside[number, kept] @ np.linalg.solve(before, beside[kept, number])
        reasons.append(Reason.CONFOUNDED if left < LEAST_PRECISION * own[number] else None)
        kept += [number] if reasons[-1] is None else []
    return reasons


def _maximise(rows: _Rows, parameters: FloatArray, curvature: FloatArray) -> FloatArray | None:
    """Strengths and effects that maximise the likelihood, in nats, from some with their curvature.

    A step is halved until the likelihood does not fall; a small one is taken whole, and the curvature kept after it, as
    a pass without it takes a fraction of the time. None when no finite maximum is found.
    """
    size, furthest = len(rows.members), FURTHEST + float(np.ptp(parameters))
    point = _evaluated(rows, parameters, is_curved=False)
    widest = np.abs(rows.x).max(axis=1, initial=0.0)
    inverse, last = np.linalg.inv(_solvable(rows, curvature)), np.inf
    for _ in range(MOST_STEPS):
        step = inverse @ point.gradient
        largest = float(np.abs(step).max())
        at_most = 2 * float(np.abs(step[:size]).max(initial=0.0)) + float(np.abs(step[size:]) @ widest)
        is_slow = largest > SLOW * last
        last = largest
        for halvings in range(MOST_HALVINGS):
            following = parameters + step / 2**halvings
            nearby = _evaluated(rows, following, is_curved=largest > COARSE or is_slow)
            if at_most < np.log(2) or nearby.likelihood >= point.likelihood:
                break
        else:
            return None
        parameters, point = following, nearby
        if point.furthest > furthest:
            return None
        if largest < FINE:
            for inside in rows.groups:
                parameters[inside] -= parameters[inside].mean()
            return parameters
        if point.curvature is not None:
            try:
                inverse = np.linalg.inv(_solvable(rows, point.curvature))
            except np.linalg.LinAlgError:
                return None
    return None


# --- the sandwich ---


def _covariance(
    rows: _Rows, parameters: FloatArray, *, is_clustered: bool, at_least: bool
) -> tuple[FloatArray, FloatArray]:
    """Of strengths and effects, in nats², and the inverse of their information."""
    chance = rows.chances(parameters)
    expected, surprise = _products(rows, chance * (1.0 - chance)), rows.score - chance
    inverse = np.asarray(np.linalg.inv(_solvable(rows, expected)), dtype=np.float64)
    for inside in rows.groups:
        inverse[np.ix_(inside, inside)] -= inverse[np.ix_(inside, inside)].mean()
    factors = np.ones(len(parameters), dtype=np.float64)
    clusters = int(rows.cluster.max(initial=-1)) + 1
    if clusters == rows.n:
        meat = _products(rows, surprise**2)
        counts = _games(rows)
    else:
        meat, counts = _clustered(rows, surprise, clusters)
    if is_clustered:
        every = [*counts.tolist(), *[clusters] * len(rows.x)]
        factors[:] = [factor(count) for count in every]
    games = np.asarray(_games(rows), dtype=np.float64)
    return sandwiched(expected, meat, inverse, games, factors, at_least=at_least), inverse


def _games(rows: _Rows) -> IntArray:
    """How many battles each had."""
    size, battles = len(rows.members), np.diff(rows.starts)
    games = np.bincount(rows.left, battles, size) + np.bincount(rows.right, battles, size)
    return np.asarray(np.rint(games), dtype=np.int64)


def _clustered(rows: _Rows, surprise: FloatArray, clusters: int) -> tuple[FloatArray, IntArray]:
    """The sum over clusters of the outer product of a cluster's part of the gradient, and in how many clusters each
    contestant is.
    """
    size, k, pair = len(rows.members), len(rows.x), rows.pair
    order = np.argsort(rows.cluster, kind="stable")
    cluster, moved = rows.cluster[order], surprise[order]
    left, right = rows.left[pair][order], rows.right[pair][order]
    of_x = np.zeros((clusters, k))
    for number, one in enumerate(rows.x):
        of_x[:, number] = np.bincount(rows.cluster, surprise * one, minlength=clusters)
    total, counts = np.zeros((size + k, size + k)), np.zeros(size, dtype=np.int64)
    step = max(CELLS // (size + k), 1)
    for first in range(0, clusters, step):
        begin, end = np.searchsorted(cluster, [first, first + step])
        some, many = slice(int(begin), int(end)), min(step, clusters - first)
        row = (cluster[some] - first) * size
        sums = np.bincount(row + left[some], moved[some], minlength=many * size)
        sums -= np.bincount(row + right[some], moved[some], minlength=many * size)
        each = np.concatenate([sums.reshape(many, size), of_x[first : first + many]], axis=1)
        total += each.T @ each
        is_in = np.zeros(many * size, dtype=bool)
        is_in[row + left[some]] = is_in[row + right[some]] = True
        counts += is_in.reshape(many, size).sum(axis=0)
    return total, counts


def _intervals(found: Fitted, rows: _Rows, parameters: FloatArray, covariance: FloatArray, shared: Shared) -> Intervals:
    """In the contestants' own sequence. Who has no rating keeps its reason, and may surely be above another."""
    plain, count = ratings_of(found), len(found.order)
    own = found.order[rows.members]
    values, elo = np.full(count, np.nan), np.full((count, count), np.nan)
    values[own] = MEAN + ELO * parameters[: len(own)]
    for inside in rows.groups:
        elo[np.ix_(own[inside], own[inside])] = ELO**2 * covariance[np.ix_(inside, inside)]
    errors = np.sqrt(np.maximum(np.diag(elo), 0.0))
    surely = np.zeros((count, count), dtype=bool)
    if plain.over.any():
        surely = bounds_by_items(plain, found.table.ordered(np.argsort(found.order)), shared).surely
    none = OneSided(np.full(count, np.nan), np.full(count, np.nan), np.zeros((count, count)), surely)
    ratings = replace(plain, values=values)
    return Intervals(ratings, values - NORMAL * errors, values + NORMAL * errors, errors, elo, none)
