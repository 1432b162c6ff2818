"""What the ballots of a council say together: every method's values and order, and how far the reviewers agree.

Everything is computed from what the run recorded with `ballots_counted`; nothing is stored twice.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from experiments.models import Run
from experiments.workflows.council.records import BallotsCounted, CountedBallot
from leaderboard.ratings.agreement import kendalls_w, krippendorff_alpha, position_effect, self_preference
from leaderboard.ratings.ballots import Ballots, borda, copeland, mean_rank, pairwise, positions, votes
from leaderboard.ratings.bradley_terry import fit
from leaderboard.ratings.orders import Consensus, Method, Order, consensus, kemeny
from leaderboard.ratings.values import Table, Undefined

COUNTED = "ballots_counted"
OWN_NOT_SHOWN = "own_not_shown"
NOBODY_RANKED = "nobody_ranked"
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, or None with the reason why there is none (`leaderboard.ratings.Reason`, or ours above)."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What each method that gives numbers says of one seat's answer.

    votes: ballots that name it. mean_rank: 1 is best. borda: 0 to 1. copeland: majorities won less those lost.
    bradley_terry: on the scale of Elo, mean 1000. self_preference: the place that its author gave it less that which
    the others did.
    """

    seat: str
    votes: int
    mean_rank: Figure
    borda: Figure
    copeland: Figure
    bradley_terry: Figure
    self_preference: Figure


@dataclass(frozen=True, slots=True)
class MethodOrder:
    """groups: seats, best first, equals together; None with the reason. unplaced: seats that no ballot compares."""

    method: str
    groups: Groups | None
    unplaced: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SaidBy:
    """Methods that say the same."""

    groups: Groups
    methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """place: where an answer was shown, from 1. mean: the place it was given there on average, over n ballots."""

    place: int
    mean: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The count of one turn. skipped: "", or why nothing was counted. best: the leaders by Borda.

    kemeny_distance: disagreements with the ballots that the best order leaves; kemeny_optima: how many orders are as
    good. kendalls_w: 0 none to 1 full agreement; krippendorff_alpha: 1 full, 0 as by chance, below 0 against it.
    """

    turn: int
    count: int
    seats: tuple[str, ...]
    ballots: int
    abstained: tuple[tuple[str, str], ...]
    own_answers: str
    skipped: str
    best: tuple[str, ...]
    standings: tuple[Standing, ...]
    orders: tuple[MethodOrder, ...]
    on_winner: tuple[SaidBy, ...]
    on_order: tuple[SaidBy, ...]
    kemeny_distance: float | None
    kemeny_optima: int | None
    kendalls_w: Figure
    krippendorff_alpha: Figure
    position_effect: tuple[Place, ...]

    @property
    def agree_on_winner(self) -> bool:
        return len(self.on_winner) == 1

    @property
    def agree_on_order(self) -> bool:
        return len(self.on_order) == 1


def ranking_of_turn(run: Run, turn: int | None = None) -> Ranking | None:
    """The latest count of a turn, of the last turn that has one unless named; None when nothing was counted."""
    counted = run.steps.filter(purpose=COUNTED).order_by("turn", "id")
    step = (counted if turn is None else counted.filter(turn=turn)).last()
    return ranking(step.data) if step else None


def rankings_of(run: Run) -> list[Ranking]:
    """The latest count of every turn."""
    latest = {step.turn: step.data for step in run.steps.filter(purpose=COUNTED).order_by("turn", "id")}
    return [ranking(data) for data in latest.values()]


def ranking(data: Mapping[str, JsonValue]) -> Ranking:
    """The ranking that follows from the data of `ballots_counted`."""
    counted = BallotsCounted.read(data)
    seats, cast = tuple(counted.seats), counted.ballots
    ballots = _ballots(seats, cast)
    said = consensus(ballots)
    best = kemeny(ballots)
    return Ranking(
        turn=counted.turn,
        count=counted.count,
        seats=seats,
        ballots=len(cast),
        abstained=tuple((one.reviewer, one.reason) for one in counted.abstained),
        own_answers=counted.own_answers,
        skipped=counted.skipped,
        best=tuple(counted.best),
        standings=_standings(ballots, _authors(seats, cast)),
        orders=tuple(_method(method, order, seats) for method, order in said.orders.items()),
        on_winner=_camps(said, seats, of_winners=True),
        on_order=_camps(said, seats, of_winners=False),
        kemeny_distance=None if isinstance(best, Undefined) else best.distance,
        kemeny_optima=None if isinstance(best, Undefined) else best.optima,
        kendalls_w=_figure(kendalls_w(ballots)),
        krippendorff_alpha=_figure(krippendorff_alpha(positions(ballots), "ordinal")),
        position_effect=_places(ballots, seats, cast),
    )


def _ballots(seats: Sequence[str], cast: Sequence[CountedBallot]) -> Ballots:
    number = {seat: index for index, seat in enumerate(seats)}
    orders = tuple(tuple(tuple(number[seat] for seat in group) for group in one.order) for one in cast)
    offered = tuple(frozenset(number[seat] for seat in one.offered) for one in cast)
    return Ballots(orders, tuple(seats), offered)


def _authors(seats: Sequence[str], cast: Sequence[CountedBallot]) -> list[int | None]:
    """The candidate that each reviewer wrote and was shown."""
    return [seats.index(one.reviewer) if one.reviewer in one.offered else None for one in cast]


def _standings(ballots: Ballots, authors: Sequence[int | None]) -> tuple[Standing, ...]:
    named, ranks, scores, majorities = votes(ballots), mean_rank(ballots), borda(ballots), copeland(ballots)
    strengths = fit(Table(pairwise(ballots), np.zeros((len(named), len(named))), ballots.candidates))
    own = self_preference(ballots, authors).values
    return tuple(
        Standing(
            seat=seat,
            votes=int(named[index]),
            mean_rank=_number(ranks[index], NOBODY_RANKED),
            borda=_number(scores[index], NOBODY_RANKED),
            copeland=_number(majorities[index], NOBODY_RANKED),
            bradley_terry=_number(strengths.values[index], str(strengths.reasons[index] or "")),
            self_preference=_number(own[index], NOBODY_RANKED if index in authors else OWN_NOT_SHOWN),
        )
        for index, seat in enumerate(ballots.candidates)
    )


def _places(ballots: Ballots, seats: Sequence[str], cast: Sequence[CountedBallot]) -> tuple[Place, ...]:
    shown = [[seats.index(seat) for seat in one.offered] for one in cast]
    effect = position_effect(ballots, shown)
    return tuple(
        Place(place, _number(mean, "").value, int(n))
        for place, (mean, n) in enumerate(zip(effect.means, effect.n, strict=True), 1)
    )


def _method(method: Method, order: Order | Undefined, seats: Sequence[str]) -> MethodOrder:
    if isinstance(order, Undefined):
        return MethodOrder(str(method), None, reason=str(order.reason))
    return MethodOrder(str(method), _seated(order.groups, seats), tuple(seats[index] for index in order.unplaced))


def _camps(said: Consensus, seats: Sequence[str], *, of_winners: bool) -> tuple[SaidBy, ...]:
    camps = said.on_winner if of_winners else said.on_order
    return tuple(SaidBy(_seated(camp.groups, seats), tuple(map(str, camp.methods))) for camp in camps)


def _seated(groups: Sequence[Sequence[int]], seats: Sequence[str]) -> Groups:
    return tuple(tuple(seats[index] for index in group) for group in groups)


def _figure(found: float | Undefined) -> Figure:
    return Figure(None, str(found.reason)) if isinstance(found, Undefined) else Figure(found)


def _number(value: float, why_not: str) -> Figure:
    return Figure(None, why_not) if math.isnan(value) else Figure(float(value))
