"""Whether and when a question is asked again."""

import random
from dataclasses import dataclass
from typing import Any

import httpx

from arena_lab.asking import Ask, never_arrived, retry_after

TURNED_AWAY = (429, 503)  # nothing was done: whatever was asked may be asked again
BROKEN = (502, 504)  # what became of it is not known


@dataclass(frozen=True, slots=True)
class Patience:
    """attempts: how often a question is asked at most. longest: seconds that one wait may last."""

    attempts: int = 6
    first: float = 0.5
    longest: float = 60.0

    def wait(self, ask: Ask[Any], outcome: httpx.Response | httpx.TransportError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None when this answer is the last. attempt counts from 1."""
        if attempt >= self.attempts or not may_be_repeated(ask, outcome):
            return None
        asked = retry_after(outcome) if isinstance(outcome, httpx.Response) else None
        if asked is not None:
            return asked if asked <= self.longest else None
        return self.pause(attempt)

    def pause(self, attempt: int) -> float:
        """Twice as long each time, and not the same for everybody."""
        return min(self.longest, self.first * 2.0 ** min(attempt - 1, 20)) * random.uniform(0.5, 1.0)


ONCE = Patience(attempts=1)


def may_be_repeated(ask: Ask[Any], outcome: httpx.Response | httpx.TransportError) -> bool:
    if isinstance(outcome, httpx.TransportError):
        return never_arrived(outcome) or ask.is_repeatable
    return outcome.status_code in TURNED_AWAY or (ask.is_repeatable and outcome.status_code in BROKEN)
