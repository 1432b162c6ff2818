"""Token probabilities of an answer as they are read: probabilities, bands, averages, and a strip. No database.

A stored token is `{token, logprob, alternatives: [{token, logprob}]}`, with natural logarithms. What is missing, or is
no number, counts as unknown: it is shown, but it is part of no average.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

Band = Literal["high", "middle", "low", "unknown"]
Cover = Literal["all", "part", "other"]
STRIP_POINTS = 160
HIGH, LOW = 0.8, 0.5  # probabilities: above and below are the high and the low band, on the borders the middle one
LEAST = -9999.0  # stands for minus infinity where a number has to be stored


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another token that could have stood here. probability and logprob are None when unknown."""

    token: str
    logprob: float | None
    probability: float | None


@dataclass(frozen=True, slots=True)
class Token:
    """place counts from 0. logprob may be minus infinity, whose probability is 0."""

    place: int
    token: str
    logprob: float | None
    probability: float | None
    band: Band
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    """average: mean probability of the tokens that have one, 0 to 1; None when none has. known and low are counts."""

    average: float | None
    tokens: int
    known: int
    low: int


@dataclass(frozen=True, slots=True)
class TokenView:
    """Every token of an answer. covers: whether the tokens spell the answer, a part of it, or something else."""

    tokens: tuple[Token, ...]
    confidence: Confidence
    covers: Cover

    @property
    def low(self) -> tuple[Token, ...]:
        return tuple(token for token in self.tokens if token.band == "low")


def token_view(stored: Sequence[Any], text: str) -> TokenView:
    """The tokens of an answer whose text is `text`."""
    tokens = tuple(_token(place, one) for place, one in enumerate(stored))
    return TokenView(tokens, confidence(tokens), covers([token.token for token in tokens], text))


def summary(stored: Sequence[Any] | None) -> Confidence | None:
    """The average over stored tokens; None when there are no tokens at all."""
    return confidence(token_view(stored, "").tokens) if stored else None


def confidence(tokens: Sequence[Token]) -> Confidence:
    known = [token.probability for token in tokens if token.probability is not None]
    average = math.fsum(known) / len(known) if known else None
    return Confidence(average, len(tokens), len(known), sum(token.band == "low" for token in tokens))


def together(parts: Iterable[Confidence]) -> Confidence:
    """Several answers as one: every token weighs the same."""
    given = [part for part in parts if part.average is not None]
    known = sum(part.known for part in given)
    weighted = math.fsum((part.average or 0.0) * part.known for part in given)
    average = weighted / known if known else None
    return Confidence(average, sum(part.tokens for part in given), known, sum(part.low for part in given))


def probability(logprob: float | None) -> float | None:
    """e to the logprob, 0 to 1. A logprob above 0, which rounding makes, is certainty."""
    return None if logprob is None else math.exp(min(0.0, logprob))


def band(value: float | None) -> Band:
    if value is None:
        return "unknown"
    if value < LOW:
        return "low"
    return "high" if value > HIGH else "middle"


def covers(tokens: Sequence[str], text: str) -> Cover:
    """all: the tokens hold the whole text, perhaps after the reasoning; part: only a piece of it; other: neither."""
    spelled, wanted = "".join(tokens).strip(), text.strip()
    if wanted in spelled:
        return "all"
    return "part" if spelled and spelled in wanted else "other"


def strip(values: Sequence[float | None], points: int = STRIP_POINTS) -> list[float | None]:
    """At most `points` values in order, each the least of its stretch, so that no dip is lost; None for a gap."""
    if len(values) <= points:
        return list(values)
    ends = [round(place * len(values) / points) for place in range(points + 1)]
    stretches = (values[start:end] for start, end in pairwise(ends))
    return [min((value for value in stretch if value is not None), default=None) for stretch in stretches]


def _token(place: int, stored: Any) -> Token:
    entry: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
    logprob = _number(entry.get("logprob"))
    value = probability(logprob)
    alternatives = []
    for one in entry.get("alternatives") or ():
        if isinstance(one, Mapping):
            given = _number(one.get("logprob"))
            alternatives.append(Alternative(str(one.get("token") or ""), given, probability(given)))
    return Token(place, str(entry.get("token") or ""), logprob, value, band(value), tuple(alternatives))


def _number(value: Any) -> float | None:
    """A logarithm of a probability; True, texts and NaN are none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
