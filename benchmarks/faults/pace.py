"""How fast things go: a short form that has everything once, and a long one as a lab lives it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds, unless named otherwise. lease, sweep, drain: settings of the platform. away: the longest that something
    is taken away. stall: for which a provider holds its words back. spoiled: share of requests, 0 to 1. words, tps: of
    a simulated reply. quiet: how long the platform has, after everything has healed, to bring all runs to an end.
    """

    lease: float
    sweep: float
    drain: float
    away: float
    stall: float
    spoiled: float
    words: int
    tps: int
    turns: int
    quiet: float


SHORT = Pace(lease=5, sweep=0.5, drain=2, away=3, stall=2, spoiled=0.15, words=60, tps=60, turns=3, quiet=120)
LONG = Pace(lease=15, sweep=3, drain=5, away=30, stall=75, spoiled=0.05, words=120, tps=40, turns=5, quiet=240)
LONG_MINUTES = 5


def pace_of(minutes: float) -> Pace:
    return LONG if minutes >= LONG_MINUTES else SHORT
