"""Ballots: in which order reviewers are shown the answers, and what they say together, as the chair is told it."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

TOO_FEW = 2  # of two answers nobody could rank the other one alone


def includes_own(seats: Sequence[str], own_answers: str) -> bool:
    return own_answers == "included" or len(seats) <= TOO_FEW


def shown(seats: Sequence[str], random: Random, *, with_own: bool) -> dict[str, tuple[str, ...]]:
    """Whom each reviewer is shown, in order. Over all reviewers each answer stands at each place exactly once.

    The answers are put in a circle. Without its own, a reviewer is shown the circle from the answer after its own on;
    with it, each is shown another turn of the circle, so that nobody's own answer has a place of its own.
    """
    circle = random.sample(list(seats), len(seats))
    if not with_own:
        return {seat: _turned(circle, place + 1)[:-1] for place, seat in enumerate(circle)}
    reviewers = random.sample(list(seats), len(seats))
    return {seat: _turned(circle, place) for place, seat in enumerate(reviewers)}


def _turned(circle: Sequence[str], by: int) -> tuple[str, ...]:
    by %= len(circle)
    return (*circle[by:], *circle[:by])


SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Ballot:
    """order: seats, the best first, in groups of equals. offered: everybody whom the reviewer was shown."""

    reviewer: str
    order: tuple[tuple[str, ...], ...]
    offered: tuple[str, ...]

    @property
    def ranked(self) -> tuple[str, ...]:
        return tuple(seat for group in self.order for seat in group)

    def positions(self) -> dict[str, float]:
        """Places from 1. Equals share the mean of the places that they fill, those left out that of the unused ones."""
        ranked = set(self.ranked)
        left_out = tuple(seat for seat in self.offered if seat not in ranked)
        places: dict[str, float] = {}
        for group in (*self.order, *([left_out] if left_out else [])):
            first = len(places) + 1
            places |= dict.fromkeys(group, first + (len(group) - 1) / 2)
        return places


@dataclass(frozen=True, slots=True)
class Standing:
    """votes: ballots that name the seat. mean_rank: 1 is best. borda: from 0, always last, to 1, always first. None
    where no ballot compares the seat with another.
    """

    seat: str
    votes: int
    mean_rank: float | None
    borda: float | None


def standings(seats: Sequence[str], ballots: Sequence[Ballot]) -> list[Standing]:
    """One per seat, the best by Borda first, seats without a ballot last, equals in the order of the seats."""
    placed = [(ballot, ballot.positions()) for ballot in ballots]
    counted = [_standing(seat, placed) for seat in seats]
    return sorted(counted, key=lambda one: (one.borda is None, -round(one.borda or 0.0, 9)))


def leaders(counted: Sequence[Standing]) -> list[str]:
    """Everybody whom nobody beats by Borda; none when nobody was ranked."""
    best = max((standing.borda for standing in counted if standing.borda is not None), default=None)
    if best is None:
        return []
    return [one.seat for one in counted if one.borda is not None and best - one.borda < SAME]


def _standing(seat: str, placed: Sequence[tuple[Ballot, dict[str, float]]]) -> Standing:
    """Source of the count: de Borda, "Mémoire sur les élections au scrutin" (1781), each ballot scaled to 0 to 1."""
    counted = [(places[seat], len(ballot.offered)) for ballot, places in placed if seat in places]
    compared = [(place, among) for place, among in counted if among > 1]
    return Standing(
        seat=seat,
        votes=sum(seat in ballot.ranked for ballot, _places in placed),
        mean_rank=_mean([place for place, _among in compared]),
        borda=_mean([(among - place) / (among - 1) for place, among in compared]),
    )


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
