"""What each stage of a council's turn took: calls, tokens, money and time, and who was asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from experiments.models import Call, Run

STAGES = ("reply", "review", "repair", "conclusion", "title")


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls of one kind. read, written and cost are None when no provider said; at_least: some did not say the cost.

    seconds: from the first request to the last answer, side by side; longest: of a single call. None while unknown.
    """

    name: str
    calls: int
    failed: int
    read: int | None
    written: int | None
    cost: Decimal | None
    at_least: bool
    seconds: float | None
    longest: float | None


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """stages: by purpose, in the order in which they are played. seats: by who was asked. total: the whole turn."""

    turn: int
    stages: tuple[Cost, ...]
    seats: tuple[Cost, ...]
    total: Cost


def of(run: Run) -> dict[int, TurnFigures]:
    """By turn. The title is found beside the first question and counts with it."""
    calls = run.calls.select_related("step").defer("request", "text", "reasoning", "logprobs").order_by("id")
    turns: dict[int, list[Call]] = {}
    for call in calls:
        turns.setdefault(call.step.turn or 1, []).append(call)
    return {turn: _figures(turn, asked) for turn, asked in turns.items()}


def _figures(turn: int, calls: Sequence[Call]) -> TurnFigures:
    stages = tuple(_cost(name, found) for name in STAGES if (found := [c for c in calls if c.step.purpose == name]))
    seats = dict.fromkeys(call.step.seat for call in calls)
    by_seat = tuple(_cost(seat, [c for c in calls if c.step.seat == seat]) for seat in sorted(seats, key=_place))
    return TurnFigures(turn, stages, by_seat, _cost("", calls))


def _place(seat: str) -> tuple[bool, int, str]:
    """Members by their numbers, then the chair and the title."""
    kind, _dash, number = seat.partition("-")
    return kind != "member", int(number) if number.isdecimal() else 0, seat


def _cost(name: str, calls: Sequence[Call]) -> Cost:
    costs = [call.cost for call in calls if call.cost is not None]
    ends = [call.sent + timedelta(seconds=call.seconds) for call in calls if call.seconds is not None]
    return Cost(
        name=name,
        calls=len(calls),
        failed=sum(call.state in (Call.State.FAILED, Call.State.LOST) for call in calls),
        read=_sum(call.input_tokens for call in calls),
        written=_sum(call.output_tokens for call in calls),
        cost=sum(costs, Decimal(0)) if costs else None,
        at_least=0 < len(costs) < len([call for call in calls if call.state != Call.State.SENT]),
        seconds=_span([call.sent for call in calls], ends),
        longest=max((call.seconds for call in calls if call.seconds is not None), default=None),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _span(starts: Sequence[datetime], ends: Sequence[datetime]) -> float | None:
    return (max(ends) - min(starts)).total_seconds() if ends else None
