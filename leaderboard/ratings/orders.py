"""One order from many rankings with ties: mean rank, Borda, Copeland, Schulze, Kemeny and Bradley-Terry.

All methods read the same positions, so candidates that a ballot does not name are treated by one rule everywhere: see
`Ballots`. Nothing depends on the sequence of ballots, nor on names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np

from leaderboard.ratings.ballots import (
    Ballots,
    Groups,
    borda,
    copeland,
    is_compared,
    mean_rank,
    pairwise,
    strict_preferences,
)
from leaderboard.ratings.bradley_terry import groups_of, members, reach, solve
from leaderboard.ratings.values import BoolArray, FloatArray, IntArray, Reason, Undefined

SAME = 1e-9
MOST_CANDIDATES = 8  # of an exact Kemeny order
Strength = Literal["winning_votes", "margins"]


# --- an order as tie groups, made from scores or from a relation ---


@dataclass(frozen=True, slots=True)
class Order:
    """Tie groups of candidate indices, best first, and the candidates of which nothing is known."""

    groups: Groups
    unplaced: tuple[int, ...] = ()

    @property
    def winners(self) -> tuple[int, ...]:
        return self.groups[0] if self.groups else ()


def by_score(scores: FloatArray) -> Order | Undefined:
    """The highest score first; scores that differ by less than 1e-9 are tied, nan is not placed."""
    placed = np.flatnonzero(~np.isnan(scores))
    groups: list[list[int]] = []
    last = np.inf
    for index in placed[np.argsort(-scores[placed], kind="stable")].tolist():
        if not groups or last - scores[index] > SAME:
            groups.append([])
        groups[-1].append(index)
        last = scores[index]
    unplaced = tuple(np.flatnonzero(np.isnan(scores)).tolist())
    return Order(tuple(tuple(sorted(g)) for g in groups), unplaced) if groups else Undefined(Reason.NO_COMPARISONS)


def by_relation(above: BoolArray, placed: BoolArray) -> Order:
    """The order of a strict partial order above[i, j]: those with none above them first, then the same of the rest.

    Two that are not related are in one group unless others part them. Independent of the candidates' sequence.
    """
    left = placed.copy()
    groups = []
    while left.any():
        top = left & ~above[left].any(axis=0)
        if not top.any():
            raise ValueError("the relation has a circle")
        groups.append(tuple(np.flatnonzero(top).tolist()))
        left &= ~top
    return Order(tuple(groups), tuple(np.flatnonzero(~placed).tolist()))


def bradley_terry(ballots: Ballots) -> Order | Undefined:
    """The order of the Bradley-Terry strengths of the table of preferences, a tie as half a win for each.

    A candidate that was never put below another is above all whom wins lead to: a place, though no finite rating.
    """
    compared = is_compared(ballots)
    if not compared.any():
        return Undefined(Reason.NO_COMPARISONS)
    return by_relation(solve(pairwise(ballots)).stands_above(SAME), compared)


# --- the Schulze method: the strongest path of majorities decides each pair ---


@dataclass(frozen=True, slots=True)
class Schulze:
    """The order, and strengths[i, j]: that of the strongest path from i to j, n × n, in ballots."""

    order: Order
    strengths: FloatArray
    measure: Strength


def schulze(ballots: Ballots, measure: Strength = "winning_votes") -> Schulze | Undefined:
    """i is above j when the strongest path of majorities from i to j is stronger than the one back.

    A path is as strong as its weakest majority. A majority is as strong as the ballots that made it ("winning_votes",
    ties not counted: Schulze's own advice where ballots are partial) or as its lead ("margins"). Candidates that the
    method cannot part are tied. Source: Schulze, "A new monotonic, clone-independent, reversal symmetric, and
    Condorcet-consistent single-winner election method", Social Choice and Welfare 36 (2011).
    """
    wins = strict_preferences(ballots)
    compared = is_compared(ballots)
    if not compared.any():
        return Undefined(Reason.NO_COMPARISONS)
    strengths = np.where(wins > wins.T, wins if measure == "winning_votes" else wins - wins.T, 0.0)
    for middle in range(len(strengths)):  # the widest paths, by Floyd and Warshall's recursion
        np.maximum(strengths, np.minimum(strengths[:, [middle]], strengths[[middle], :]), out=strengths)
    np.fill_diagonal(strengths, 0.0)
    return Schulze(by_relation(strengths > strengths.T, compared), strengths, measure)


# --- the Kemeny order: the one with the fewest disagreements with the ballots ---


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


def kemeny(ballots: Ballots) -> Kemeny | Undefined:
    """The order that minimises the sum over ballots of the pairs that the order and the ballot put differently.

    By dynamic programming over subsets, in n · 2^n steps. Sources: Kemeny, "Mathematics without numbers", Daedalus 88
    (1959); Betzler et al., "Fixed-parameter algorithms for Kemeny rankings", TCS 410 (2009).
    Undefined without a comparison, or with more than 8 candidates.
    """
    compared = is_compared(ballots)
    among = np.flatnonzero(compared)
    if not among.size:
        return Undefined(Reason.NO_COMPARISONS)
    if among.size > MOST_CANDIDATES:
        return Undefined(Reason.TOO_MANY_CANDIDATES)
    search = _search(pairwise(ballots)[np.ix_(among, among)])
    size, precedence, optima = among.size, search.precedence(), int(search.above_ways[-1])
    # One optimal order, from the top: of those that may come next, the one that is highest on the whole.
    preferred = sorted(range(size), key=lambda c: (-int(precedence[c].sum()), c))
    top, sequence = 0, list[int]()
    while len(sequence) < size:
        chosen = next(c for c in preferred if not top >> c & 1 and search.ways(top, c))
        sequence.append(int(among[chosen]))
        top |= 1 << chosen
    above = np.zeros((compared.size, compared.size), dtype=bool)
    above[np.ix_(among, among)] = precedence == optima
    return Kemeny(by_relation(above, compared), tuple(sequence), optima, search.best / 2)


@dataclass(frozen=True, slots=True)
class _Search:
    """Optimal costs and their numbers of ways, by the set of candidates (as bits) that is on top of the rest.

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

    def precedence(self) -> IntArray:
        """[i, j]: in how many optimal orders i is above j."""
        count = self.steps.shape[1]
        table = np.zeros((count, count), dtype=np.int64)
        for top in range((1 << count) - 1):
            upper = [c for c in range(count) if top >> c & 1]
            for candidate in range(count):
                if not top >> candidate & 1:
                    table[upper, candidate] += self.ways(top, candidate)
        return table


def _search(preferences: FloatArray) -> _Search:
    count, sets = len(preferences), 1 << len(preferences)
    inside = np.arange(sets)[:, None] >> np.arange(count) & 1
    steps = inside @ np.rint(2 * preferences).astype(np.int64).T  # the preferences for it over each of the set
    above_cost, above_ways, below_cost, below_ways = np.zeros((4, sets), dtype=np.int64)
    above_ways[0] = below_ways[-1] = 1
    for top in range(1, sets):
        ends = [(c, top ^ 1 << c) for c in range(count) if top >> c & 1]
        costs = [above_cost[rest] + steps[rest, c] for c, rest in ends]
        above_cost[top] = min(costs)
        best = [rest for (_, rest), cost in zip(ends, costs, strict=True) if cost == min(costs)]
        above_ways[top] = above_ways[best].sum()
    for top in reversed(range(sets - 1)):
        ends = [(c, top | 1 << c) for c in range(count) if not top >> c & 1]
        costs = [steps[top, c] + below_cost[more] for c, more in ends]
        below_cost[top] = min(costs)
        best = [more for (_, more), cost in zip(ends, costs, strict=True) if cost == min(costs)]
        below_ways[top] = below_ways[best].sum()
    return _Search(steps, above_cost, above_ways, below_cost, below_ways)


# --- all methods side by side ---


class Method(StrEnum):
    MEAN_RANK = "mean_rank"
    BORDA = "borda"
    COPELAND = "copeland"
    SCHULZE = "schulze"
    KEMENY = "kemeny"
    BRADLEY_TERRY = "bradley_terry"


METHODS: dict[Method, Callable[[Ballots], Order | Schulze | Kemeny | Undefined]] = {
    Method.MEAN_RANK: lambda ballots: by_score(-mean_rank(ballots)),
    Method.BORDA: lambda ballots: by_score(borda(ballots)),
    Method.COPELAND: lambda ballots: by_score(copeland(ballots)),
    Method.SCHULZE: schulze,
    Method.KEMENY: kemeny,
    Method.BRADLEY_TERRY: bradley_terry,
}


@dataclass(frozen=True, slots=True)
class Camp:
    """Methods that say the same: the tie groups that they share, or the winners alone as one group."""

    groups: Groups
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True)
class Consensus:
    """Every method's order, or why it has none; and the camps that the methods fall into, the largest first.

    components: sets of candidates that ballots link. Where there are several, an order across them means nothing.
    """

    candidates: tuple[str, ...]
    orders: Mapping[Method, Order | Undefined]
    on_winner: tuple[Camp, ...]
    on_order: tuple[Camp, ...]
    components: Groups

    @property
    def agree_on_winner(self) -> bool:
        """All methods that have an order name the same winner, or the same tied winners."""
        return len(self.on_winner) == 1

    @property
    def agree_on_order(self) -> bool:
        return len(self.on_order) == 1


def consensus(ballots: Ballots) -> Consensus:
    """The order of each method, and which of them agree on the winner and on the whole order, ties included."""
    found = {method: order_by(ballots) for method, order_by in METHODS.items()}
    orders = {method: one.order if isinstance(one, Schulze | Kemeny) else one for method, one in found.items()}
    known = {method: order for method, order in orders.items() if isinstance(order, Order)}
    on_winner = _camps({method: (order.winners,) for method, order in known.items()})
    on_order = _camps({method: order.groups for method, order in known.items()})
    preferences, compared = pairwise(ballots), np.flatnonzero(is_compared(ballots))
    linked = reach(preferences + preferences.T > 0)[np.ix_(compared, compared)]
    components = tuple(tuple(compared[part].tolist()) for part in members(groups_of(linked)))
    return Consensus(ballots.candidates, orders, on_winner, on_order, components)


def _camps(said: Mapping[Method, Groups]) -> tuple[Camp, ...]:
    camps: dict[Groups, list[Method]] = {}
    for method, groups in said.items():
        camps.setdefault(groups, []).append(method)
    return tuple(Camp(g, tuple(m)) for g, m in sorted(camps.items(), key=lambda camp: -len(camp[1])))
