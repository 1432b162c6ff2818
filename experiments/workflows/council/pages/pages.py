"""What the page of a council needs beside the run: events in their places, rankings, figures, and what is queued."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from experiments.models import CALLS_UNDER_WAY, Call, Run, Step
from experiments.models.labels import short_name
from experiments.runs.timeline import Entry
from experiments.workflows.council.config import CHAIRS, MEMBERS
from experiments.workflows.council.pages.rankings import ranking


@dataclass(frozen=True, slots=True)
class Member:
    """number counts from 1, as in "Member 2". name: the model's short name, with the number where two share it."""

    seat: str
    number: int
    label: str
    name: str


def members(cast: Mapping[str, str]) -> list[Member]:
    """The members in the order of their seats. cast: seats to labels of models."""
    seated = [(number, seat, cast[seat]) for number, seat in enumerate(MEMBERS, 1) if seat in cast]
    shared = Counter(short_name(label) for _number, _seat, label in seated)
    named = ((seat, number, label, short_name(label)) for number, seat, label in seated)
    return [
        Member(seat, number, label, f"{name} #{number}" if shared[name] > 1 else name)
        for seat, number, label, name in named
    ]


def chairs(cast: Mapping[str, str]) -> list[str]:
    """The labels of the chair and of those that stand in for it, in this order."""
    return [cast[seat] for seat in CHAIRS if seat in cast]


def names(cast: Mapping[str, str]) -> dict[str, str]:
    """What each seat's model is called on a page."""
    return {**{seat: short_name(label) for seat, label in cast.items()}, **{m.seat: m.name for m in members(cast)}}


STAGES = ("reply", "review", "repair", "conclusion", "title", "judge")


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


def figures_of(run: Run) -> dict[int, TurnFigures]:
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
        at_least=0 < len(costs) < len([call for call in calls if call.state not in CALLS_UNDER_WAY]),
        seconds=(max(ends) - min(call.sent for call in calls)).total_seconds() if ends else None,
        longest=max((call.seconds for call in calls if call.seconds is not None), default=None),
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


SPOKEN_BY = {"reply": MEMBERS, "review": MEMBERS, "conclusion": ("chair",)}
TURN = re.compile(r"turn/(\d+)/")
JUDGED = re.compile(r"turn/(\d+)/(?:answer/(?P<member>[\w-]+)|conclusion|judge)(?:/|$)")
ASIDE = "aside"
FIXED = {
    "turn_started": "transcript",
    "offer_opened": "offer",
    "waiting_for_user": "offer",
    "experiment_stopped": "ending",
    "experiment_error": "ending",
}
OF_TURN = {
    "stage_started": "stage-{turn}",
    "ballots_counted": "ranking-{turn}",
    "ballot_read": "review-{turn}-{reviewer}",
    "seat_replaced": "conclusion-{turn}-chair",
    "concluded_by_rank": "conclusion-{turn}-chair",
}


def slot_of(type_: str, data: Mapping[str, Any]) -> str:
    """The slot of an event: `slot-NAME` is the id of its element, "transcript" has no prefix."""
    if type_ in FIXED:
        return FIXED[type_]
    if type_ in ("unit_judged", "judge_evaluation_started"):
        return _beside(str(data["key"]))
    ballot = data.get("ballot", {})
    found = TURN.match(str(data.get("key", "")))
    turn = int(ballot["turn"] if ballot else data.get("turn") or (found[1] if found else 0))
    if not turn:
        return ASIDE
    if type_ in OF_TURN:
        return OF_TURN[type_].format(turn=turn, reviewer=ballot.get("reviewer", ""))
    seat, purpose = data.get("seat"), str(data.get("purpose", ""))
    if seat == "person":
        return f"question-{turn}"
    purpose = "review" if purpose == "repair" else purpose  # a call beside a review is shown with it
    return f"{purpose}-{turn}-{seat}" if seat in SPOKEN_BY.get(purpose, ()) else ASIDE


def _beside(key: str) -> str:
    """Where a judge's values stand: below the answer or the conclusion, those of a whole question below the latter."""
    found = JUDGED.match(key)
    if found is None:
        return ASIDE
    return f"reply-{found[1]}-{found['member']}" if found["member"] else f"conclusion-{found[1]}-chair"


def context(reader: User | AnonymousUser, run: Run, entries: Sequence[Entry]) -> dict[str, object]:
    """cast: labels by seat. rankings: by anchor of the count. queued: questions to come."""
    cast = run.experiment.labels
    counted = [entry for entry in entries if entry.type == "ballots_counted"]
    return {
        "cast": cast,
        "members": members(cast),
        "chairs": chairs(cast),
        "rankings": {entry.anchor: ranking(entry.data) for entry in counted},
        "figures": figures_of(run),
        "queued": _queued(run),
        "offer": next((entry.data for entry in entries if entry.type == "offer_opened"), None),
    }


def _queued(run: Run) -> list[Step]:
    """The questions that were asked while earlier ones were being answered, and have not been taken up."""
    begun = run.steps.filter(purpose="turn_started").count()
    said = run.steps.filter(kind="offer", state=Step.State.DONE, turn__gte=begun).order_by("turn", "id")
    return [step for step in said if step.data.get("action") == "send"]
