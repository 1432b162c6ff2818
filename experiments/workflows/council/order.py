"""In which order each reviewer is shown the answers: drawn by the run's seed, and balanced over the places."""

from collections.abc import Sequence
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
