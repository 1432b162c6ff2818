"""What runs leave in a document beside messages, judgments and calls: parsed answers, pauses and findings.

What is known of each kind has to have its form, because pages and reports draw it; names that are not known are kept.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, StringConstraints

from experiments.runs.reports.shape_types import Count, Kept, Key, Line, LongText, Seat, Truth, Word
from experiments.workflows import REGISTRY, surface_of

Reason = Annotated[str, StringConstraints(max_length=500)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Seats = Annotated[list[Seat], Field(max_length=50)]
Order = Annotated[list[Annotated[list[Seat], Field(min_length=1, max_length=50)]], Field(max_length=50)]


class Other(Kept):
    """A person's words, told apart by what they are, and kinds that are not known yet."""

    kind: Word


def _parsed(value: Any) -> Kept:
    kind = value.get("kind") if isinstance(value, dict) else None
    return _kinds().get(kind, Other).model_validate(value)


@cache
def _kinds() -> dict[Any, type[Kept]]:
    return {kind: shape for slug in REGISTRY for kind, shape in surface_of(slug).parsed.items()}


Parsed = Annotated[SerializeAsAny[Kept], BeforeValidator(_parsed)]


class Stage(Kept):
    turn: Count
    stage: Word
    number: Count
    of: Count


class Replaced(Kept):
    key: Key
    seat: Seat
    by: Seat
    reason: Word
    error: LongText
    model: Line = ""
    failed_model: Line = ""


class Pause(Kept):
    """What may be said at a pause or an offer, and what was."""

    default: LongText = ""
    actions: Annotated[list[Word], Field(max_length=20)] = []
    error: LongText = ""
    action: Word | None = None
    text: LongText | None = None
    edited: Truth | None = None
    by: Line | None = None


SHARED: dict[str, type[Kept]] = {"stage_started": Stage, "seat_replaced": Replaced}


@cache
def findings() -> dict[str, type[Kept]]:
    """What is known of each kind of finding, by its name."""
    own = [surface_of(slug).findings for slug in REGISTRY]
    return {kind: shape for shapes in (SHARED, *own) for kind, shape in shapes.items()}


def check_order(order: Sequence[Sequence[str]], shown: Any) -> None:
    ranked = [seat for group in order for seat in group]
    if len(set(ranked)) != len(ranked) or not set(ranked) <= set(shown):
        raise ValueError("A ballot ranks an answer that was not shown to its reviewer, or one twice.")
