"""One order from many rankings with ties: mean rank, Borda, Copeland, Schulze, Kemeny and Bradley-Terry.

All methods read the same positions, so candidates that a ballot does not name are treated by one rule everywhere: see
`Ballots`. Nothing depends on the sequence of ballots, nor on names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from leaderboard.ratings.ballots import (
    SAME,
    Ballots,
    Group,
    Groups,
    Order,
    Rule,
    Schulze,
    borda,
    by_relation,
    by_score,
    copeland,
    is_compared,
    mean_rank,
    pairwise,
    positions,
    schulze,
    votes,
)
from leaderboard.ratings.kemeny import Kemeny, kemeny
from leaderboard.ratings.likelihood import groups_of, members, reach, solve
from leaderboard.ratings.values import FloatArray, Reason, Undefined


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


__all__ = [
    "Ballots",
    "Camp",
    "Consensus",
    "Group",
    "Groups",
    "Kemeny",
    "Method",
    "Order",
    "Reason",
    "Rule",
    "Schulze",
    "Undefined",
    "borda",
    "bradley_terry",
    "consensus",
    "copeland",
    "kemeny",
    "mean_rank",
    "pairwise",
    "positions",
    "schulze",
    "votes",
]
