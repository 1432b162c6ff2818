"""Which fault when: follows from the seed alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.faults.kinds import seconds_of
from benchmarks.faults.pace import Pace

FIRST_SECONDS = 2.0  # of peace, in which the first runs begin
LEAST_SECONDS = 2.0  # between two faults, on the average


@dataclass(frozen=True, slots=True)
class Planned:
    """at: seconds after the beginning. seconds: how long it lasts."""

    at: float
    kind: str
    seconds: float


def plan(seed: int, kinds: Sequence[str], seconds: float, pace: Pace, every: float | None = None) -> list[Planned]:
    """Every kind once in a drawn order, then again, until the time is over; the next one begins at a random moment, and
    often before the last one is over. every: seconds between two of them, on the average.
    """
    rng = Random(f"{seed}/plan")
    planned: list[Planned] = []
    if not kinds:
        return planned
    slot = max(LEAST_SECONDS, every or min(pace.away / 2, (seconds - FIRST_SECONDS) / len(kinds)))
    bag: list[str] = []
    for number in range(int((seconds - FIRST_SECONDS) / slot + 0.001)):
        bag = bag or rng.sample(list(kinds), len(kinds))
        kind, at = bag.pop(), FIRST_SECONDS + (number + rng.random()) * slot
        planned.append(Planned(at, kind, seconds_of(kind, pace, rng)))
    return planned
