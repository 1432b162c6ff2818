"""Several ways to make one order of the ballots, side by side, and where they agree."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from leaderboard.ratings.arrays import FloatArray
from leaderboard.ratings.ballots import Ballots, Groups
from leaderboard.ratings.kemeny import kemeny
from leaderboard.ratings.links import groups_of, members, reach
from leaderboard.ratings.pairs import copeland, is_compared, pairwise
from leaderboard.ratings.placing import SAME, Order, by_relation, by_score
from leaderboard.ratings.positions import borda, mean_rank
from leaderboard.ratings.schulze import schulze
from leaderboard.ratings.solution import solve
from leaderboard.ratings.undefined import Reason, Undefined


class Method(StrEnum):
    MEAN_RANK = "mean_rank"
    BORDA = "borda"
    COPELAND = "copeland"
    SCHULZE = "schulze"
    KEMENY = "kemeny"
    BRADLEY_TERRY = "bradley_terry"


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
    orders = {method: order_by(ballots) for method, order_by in METHODS.items()}
    known = {method: order for method, order in orders.items() if isinstance(order, Order)}
    on_winner = _camps({method: (order.winners,) for method, order in known.items()})
    on_order = _camps({method: order.groups for method, order in known.items()})
    return Consensus(ballots.candidates, orders, on_winner, on_order, _components(ballots))


def bradley_terry(ballots: Ballots) -> Order | Undefined:
    """The order of the Bradley-Terry strengths of the table of preferences, a tie as half a win for each.

    Somebody who was never put below another is above all whom wins lead to: a place, though no finite rating.
    """
    compared = is_compared(ballots)
    if not compared.any():
        return Undefined(Reason.NO_COMPARISONS)
    return by_relation(solve(pairwise(ballots)).stands_above(SAME), compared)


def _by_score(score: Callable[[Ballots], FloatArray], best: int) -> Callable[[Ballots], Order | Undefined]:
    def order_by(ballots: Ballots) -> Order | Undefined:
        order = by_score(best * score(ballots))
        return order if order.groups else Undefined(Reason.NO_COMPARISONS)

    return order_by


def _schulze(ballots: Ballots) -> Order | Undefined:
    found = schulze(ballots)
    return found if isinstance(found, Undefined) else found.order


def _kemeny(ballots: Ballots) -> Order | Undefined:
    found = kemeny(ballots)
    return found if isinstance(found, Undefined) else found.order


METHODS: dict[Method, Callable[[Ballots], Order | Undefined]] = {
    Method.MEAN_RANK: _by_score(mean_rank, best=-1),
    Method.BORDA: _by_score(borda, best=1),
    Method.COPELAND: _by_score(copeland, best=1),
    Method.SCHULZE: _schulze,
    Method.KEMENY: _kemeny,
    Method.BRADLEY_TERRY: bradley_terry,
}


def _camps(said: Mapping[Method, Groups]) -> tuple[Camp, ...]:
    camps: dict[Groups, list[Method]] = {}
    for method, groups in said.items():
        camps.setdefault(groups, []).append(method)
    return tuple(Camp(g, tuple(m)) for g, m in sorted(camps.items(), key=lambda camp: -len(camp[1])))


def _components(ballots: Ballots) -> Groups:
    preferences = pairwise(ballots)
    compared = np.flatnonzero(is_compared(ballots))
    linked = reach(preferences + preferences.T > 0)[np.ix_(compared, compared)]
    return tuple(tuple(compared[part].tolist()) for part in members(groups_of(linked)))
