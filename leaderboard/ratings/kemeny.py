"""The Kemeny order: the one with the fewest disagreements with the ballots, found exactly for up to 8 candidates."""

from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.ballots import Ballots, Order, by_relation, is_compared, pairwise
from leaderboard.ratings.values import FloatArray, IntArray, Reason, Undefined

MOST_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Kemeny:
    """An order with the fewest disagreements, and what all such orders have in common.

    order: the candidates that all optimal orders put in the same sequence are apart, the others tied. sequence: one
    of the optimal orders, strict; where several exist, the one that follows their mean positions, and at last the
    candidates' sequence. optima: how many optimal orders there are. distance: disagreements over all ballots and pairs,
    a tie counting half.
    """

    order: Order
    sequence: tuple[int, ...]
    optima: int
    distance: float

    @property
    def is_unique(self) -> bool:
        return self.optima == 1


@dataclass(frozen=True, slots=True)
class _Search:
    """Optimal costs and their numbers of ways, by the set of candidates (as bits) that stands on top of the rest.

    Costs are in half disagreements, so that they are whole numbers and equal ones are equal.
    """

    steps: IntArray  # [top, next]: what it costs to put `next` right below the set `top`
    above_cost: IntArray
    above_ways: IntArray
    below_cost: IntArray
    below_ways: IntArray

    @property
    def best(self) -> int:
        return int(self.above_cost[-1])

    def ways(self, top: int, candidate: int) -> int:
        """In how many optimal orders the set `top` is above the candidate, and all others below."""
        after = top | 1 << candidate
        if self.above_cost[top] + self.steps[top, candidate] + self.below_cost[after] != self.best:
            return 0
        return int(self.above_ways[top] * self.below_ways[after])


def kemeny(ballots: Ballots) -> Kemeny | Undefined:
    """The order that minimises the sum over ballots of the pairs that the order and the ballot put differently.

    By dynamic programming over subsets, in n · 2^n steps. Sources: Kemeny, "Mathematics without numbers", Daedalus 88
    (1959); Betzler et al., "Fixed-parameter algorithms for Kemeny rankings", TCS 410 (2009).
    Undefined without a comparison, or with more than 8 candidates.
    """
    compared = is_compared(ballots)
    members = np.flatnonzero(compared)
    if not members.size:
        return Undefined(Reason.NO_COMPARISONS)
    if members.size > MOST_CANDIDATES:
        return Undefined(Reason.TOO_MANY_CANDIDATES)
    search = _search(pairwise(ballots)[np.ix_(members, members)])
    precedence = _precedence(search, members.size)
    optima = int(search.above_ways[-1])
    above = np.zeros((compared.size, compared.size), dtype=bool)
    above[np.ix_(members, members)] = precedence == optima
    sequence = tuple(int(members[index]) for index in _one_of(search, precedence))
    return Kemeny(by_relation(above, compared), sequence, optima, search.best / 2)


def _search(preferences: FloatArray) -> _Search:
    count = len(preferences)
    steps = _steps(np.rint(2 * preferences).astype(np.int64))
    above_cost, above_ways = np.zeros((2, 1 << count), dtype=np.int64)
    below_cost, below_ways = np.zeros((2, 1 << count), dtype=np.int64)
    above_ways[0] = below_ways[-1] = 1
    for top in range(1, 1 << count):
        last = [c for c in range(count) if top >> c & 1]
        costs = [above_cost[top ^ 1 << c] + steps[top ^ 1 << c, c] for c in last]
        above_cost[top] = min(costs)
        above_ways[top] = sum(
            above_ways[top ^ 1 << c] for c, cost in zip(last, costs, strict=True) if cost == min(costs)
        )
    for top in reversed(range((1 << count) - 1)):
        rest = [c for c in range(count) if not top >> c & 1]
        costs = [steps[top, c] + below_cost[top | 1 << c] for c in rest]
        below_cost[top] = min(costs)
        below_ways[top] = sum(
            below_ways[top | 1 << c] for c, cost in zip(rest, costs, strict=True) if cost == min(costs)
        )
    return _Search(steps, above_cost, above_ways, below_cost, below_ways)


def _steps(preferences: IntArray) -> IntArray:
    """What it costs to put a candidate right below a set: the preferences for it over each member of the set."""
    count = len(preferences)
    members = np.arange(1 << count)[:, None] >> np.arange(count) & 1
    costs: IntArray = members @ preferences.T
    return costs


def _precedence(search: _Search, count: int) -> IntArray:
    """[i, j]: in how many optimal orders i stands above j."""
    table = np.zeros((count, count), dtype=np.int64)
    for top in range((1 << count) - 1):
        upper = [c for c in range(count) if top >> c & 1]
        for candidate in range(count):
            if not top >> candidate & 1:
                table[upper, candidate] += search.ways(top, candidate)
    return table


def _one_of(search: _Search, precedence: IntArray) -> list[int]:
    """One optimal order, from the top: of those that may come next, the one that stands highest on the whole."""
    count = len(precedence)
    preferred = sorted(range(count), key=lambda c: (-int(precedence[c].sum()), c))
    top, order = 0, list[int]()
    for _ in range(count):
        chosen = next(c for c in preferred if not top >> c & 1 and search.ways(top, c))
        order.append(chosen)
        top |= 1 << chosen
    return order
