"""Ratings from the votes of people and the verdicts of judges on the same samples, in one fit.

`pooled`: every verdict counts as `weight` votes. What is rated is then the taste of both, so a judge that leans moves
the ratings. `corrected`: ratings of people alone, which verdicts make narrower: where people voted, too, the verdicts
tell how far judges differ from them, and that is taken off. Sources: weighted likelihood with the sandwich of
`leaderboard.ratings.intervals`; Angelopoulos et al., "Prediction-powered inference", Science 382 (2023), and
"PPI++" (2023) for the weight; by strata, as Fisch et al., "Stratified prediction-powered inference" (2024), which here
are the pairs.
"""

from dataclasses import dataclass, replace

import numpy as np

from leaderboard.ratings.bradley_terry import Fitted, NotConverged, chances, fitted, information, laplacian, maximise
from leaderboard.ratings.covariates import FURTHEST
from leaderboard.ratings.intervals import (
    Intervals,
    Shared,
    bounds_by_items,
    bread,
    factor,
    floored,
    intervals_of,
    items_of_each,
    sides,
    spread_of_items,
    surprises,
)
from leaderboard.ratings.values import Battles, FloatArray, IntArray, Reason, Table, Undefined, tally


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """weight: pooled, how many votes one verdict counts as; corrected, what part of the judges' correction is used, 0
    to 1. votes, verdicts: battles of people and of judges. both: votes on outputs that a judge has compared, too.
    """

    intervals: Intervals
    weight: float
    votes: int
    verdicts: int
    both: int


def pooled(people: Shared, judges: Shared, weight: float) -> Combined | Undefined:
    """One Bradley-Terry fit of all battles; those of one item are one observation, whoever decided them.

    people, judges: battles of the same contestants in the same sequence, with the same numbers for the same items.
    weight: above 0. Undefined where nothing is rated. Raises ValueError for another weight, or other contestants.
    """
    whole, weights = _together(people, judges), np.repeat([1.0, weight], [len(people.battles), len(judges.battles)])
    if not 0 < weight < np.inf:
        raise ValueError("the weight of a verdict is a number above 0")
    votes, verdicts = tally(people.battles), tally(judges.battles)
    table = Table(votes.wins + weight * verdicts.wins, votes.ties + weight * verdicts.ties, votes.contestants)
    found = fitted(table, {})
    if not found.parts:
        return Undefined(Reason.SEPARATED if len(whole.battles) else Reason.NO_BATTLES)

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, FloatArray]:
        strengths = found.solution.strengths[part]
        left, right, inside = sides(found, part, whole.battles)
        surprise = surprises(strengths, left, right, whole.battles.score[inside])
        meat = spread_of_items(left, right, weights[inside] * surprise, whole.items[inside], len(part))
        own = np.ix_(found.order[part], found.order[part])
        expected = _expected((votes.games + weight**2 * verdicts.games)[own], strengths)
        games = (votes.games + verdicts.games)[own].sum(axis=1)
        return floored(meat, expected, games)[0], _factors(found, part, whole)

    intervals = intervals_of(found, spread, at_least=False)
    bounds = bounds_by_items(intervals.ratings, tally(whole.battles), whole)
    paired = _Paired.of(people, judges)
    return Combined(
        replace(intervals, one_sided=bounds), weight, len(people.battles), len(judges.battles), paired.count
    )


def corrected(people: Shared, judges: Shared, weight: float | None = None) -> Combined | Undefined:
    """The ratings of people, whom verdicts make more precise.

    With m votes on outputs that judges compared, too, people's score of a pair becomes the sum of their votes + weight
    · m · (the mean verdict on all judged samples of the pair - that on those voted on). Its expectation does not
    depend on the judges if the samples on which people vote are drawn at random within a pair. Several verdicts on two
    outputs count as their mean. weight: 0 to 1, 0 being people alone; without one, that which makes intervals
    narrowest. Arguments otherwise as of `pooled`. Undefined where people's votes rate nobody, where no vote is on
    judged outputs, and where the corrected scores have no finite maximum. Raises ValueError for another weight.
    """
    _together(people, judges)
    if weight is not None and not 0 <= weight <= 1:
        raise ValueError("the weight of the judges' correction is between 0 and 1")
    found = fitted(tally(people.battles), {})
    if not found.parts:
        return Undefined(Reason.SEPARATED if len(people.battles) else Reason.NO_BATTLES)
    paired = _Paired.of(people, judges)
    if not paired.count:
        return Undefined(Reason.NOTHING_PAIRED)
    chosen = _narrowest(found, people, paired) if weight is None else weight
    moved = _moved(found, paired.shift[np.ix_(found.order, found.order)], chosen)
    if moved is None:
        return Undefined(Reason.SEPARATED)

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, FloatArray]:
        meat = paired.spread(found, part, people, 1.0, chosen)
        own = np.ix_(found.order[part], found.order[part])
        least = _expected(paired.least[own], found.solution.strengths[part])
        games = found.table.games[np.ix_(part, part)].sum(axis=1)
        return floored(meat, least, games)[0], _factors(found, part, people)

    intervals = intervals_of(moved, spread, at_least=False)
    bounds = bounds_by_items(intervals.ratings, tally(people.battles), people)
    return Combined(
        replace(intervals, one_sided=bounds), chosen, len(people.battles), len(judges.battles), paired.count
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Paired:
    """How verdicts speak of a pair beside votes on it, the side with the smaller number first.

    battles, items, amounts: what a weight of 1 adds to the score of the first on each item; an amount of its own for
    each vote on judged outputs, and for all judged ones. shift: n × n, what they add to the score of each against each.
    least: n × n, the games as which votes would count if judges always said what people say. count: votes on judged
    outputs.
    """

    battles: Battles
    items: IntArray
    amounts: FloatArray
    shift: FloatArray
    least: FloatArray
    count: int

    @classmethod
    def of(cls, people: Shared, judges: Shared) -> "_Paired":
        size = len(people.battles.contestants)
        votes, pairs_of_votes, _scores = _oriented(people)
        verdicts, _pairs, scores = _oriented(judges)
        keys, places = np.unique(verdicts, return_inverse=True)
        mean = np.bincount(places.reshape(-1), scores) / np.maximum(np.bincount(places.reshape(-1)), 1)
        pairs = keys % size**2
        judged = np.bincount(pairs, minlength=size**2)
        of_pair = np.bincount(pairs, mean, minlength=size**2) / np.maximum(judged, 1)
        where = np.minimum(np.searchsorted(keys, votes), max(len(keys) - 1, 0))
        is_judged = keys[where] == votes if len(keys) else np.zeros(len(votes), dtype=bool)
        matched, voted = where[is_judged], np.bincount(pairs_of_votes[is_judged], minlength=size**2)
        on_votes = of_pair[pairs[matched]] - mean[matched]
        on_all = voted[pairs] / np.maximum(judged[pairs], 1) * (mean - of_pair[pairs])
        every = np.concatenate([keys[matched], keys])
        amounts, of_every = np.concatenate([on_votes, on_all]), every % size**2
        left, right = of_every // size, of_every % size
        sums: FloatArray = np.zeros(size**2) + np.bincount(of_every, amounts, minlength=size**2)
        shift = sums.reshape(size, size)
        games = np.bincount(pairs_of_votes, minlength=size**2) - voted + voted**2 / np.maximum(judged, 1)
        least = games.reshape(size, size)
        return cls(
            battles=Battles(left, right, np.zeros(len(left)), people.battles.contestants),
            items=every // size**2,
            amounts=amounts,
            shift=shift - shift.T,
            least=least + least.T,
            count=len(matched),
        )

    def spread(self, found: Fitted, part: IntArray, people: Shared, of_votes: float, weight: float) -> FloatArray:
        """B of the votes' scores times `of_votes` and the amounts times `weight`, by item."""
        strengths = found.solution.strengths[part]
        left, right, inside = sides(found, part, people.battles)
        surprise = surprises(strengths, left, right, people.battles.score[inside])
        first, second, among = sides(found, part, self.battles)
        return spread_of_items(
            np.concatenate([left, first]),
            np.concatenate([right, second]),
            np.concatenate([of_votes * surprise, weight * self.amounts[among]]),
            np.concatenate([people.items[inside], self.items[among]]),
            len(part),
        )


def _together(people: Shared, judges: Shared) -> Shared:
    one, other = people.battles, judges.battles
    if tuple(one.contestants) != tuple(other.contestants):
        raise ValueError("people and judges compare the same contestants, in one sequence")
    left, right = np.concatenate([one.left, other.left]), np.concatenate([one.right, other.right])
    battles = Battles(left, right, np.concatenate([one.score, other.score]), one.contestants)
    return Shared(battles, np.concatenate([people.items, judges.items]))


def _oriented(shared: Shared) -> tuple[IntArray, IntArray, FloatArray]:
    """By battle: a number for its item and pair, one for its pair, and the score of the pair's smaller number."""
    battles, size = shared.battles, len(shared.battles.contestants)
    is_first = battles.left < battles.right
    pairs = np.where(is_first, battles.left * size + battles.right, battles.right * size + battles.left)
    return shared.items * size**2 + pairs, pairs, np.where(is_first, battles.score, 1.0 - battles.score)


def _expected(games: FloatArray, strengths: FloatArray) -> FloatArray:
    """The spread that the model expects of scores on so many games, n × n."""
    wins = chances(strengths)
    return laplacian(games * wins * wins.T)


def _factors(found: Fitted, part: IntArray, shared: Shared) -> FloatArray:
    return np.array([factor(count) for count in items_of_each(found.order[part], shared).tolist()])


def _narrowest(found: Fitted, people: Shared, paired: _Paired) -> float:
    """The weight, 0 to 1, for which the sum of the ratings' variances is smallest, from the fit of people alone."""
    slope, curve = 0.0, 0.0
    for part in found.parts:
        inverse = bread(
            information(found.table.points[np.ix_(part, part)], found.solution.strengths[part]), np.arange(len(part))
        )
        of_votes, of_both, of_judges = (
            float(np.trace(inverse @ paired.spread(found, part, people, *weights) @ inverse))
            for weights in ((1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
        )
        slope, curve = slope + of_both - of_votes - of_judges, curve + of_judges
    return min(max(-slope / (2 * curve), 0.0), 1.0) if curve > 0 else 0.0


def _moved(found: Fitted, shift: FloatArray, weight: float) -> Fitted | None:
    """The fit with the corrected scores, None where they have no finite maximum."""
    strengths = found.solution.strengths.copy()
    for part in found.parts:
        inside = np.ix_(part, part)
        points = found.table.points[inside] + weight * shift[inside]
        try:
            strengths[part] = maximise(points, strengths[part], np.zeros(len(part), dtype=bool))
        except (NotConverged, np.linalg.LinAlgError):
            return None
        if not np.ptp(strengths[part]) < FURTHEST:
            return None
    return replace(found, solution=replace(found.solution, strengths=strengths))
