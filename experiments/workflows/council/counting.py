"""What the ballots say together, as the chair is told it: mean rank, votes, and Borda's count."""

from collections.abc import Sequence
from dataclasses import dataclass

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
