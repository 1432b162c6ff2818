"""The types of which the shapes of a document are made: what a database holds, and no more than is reasonable.

Below them, what runs leave beside messages, judgments and calls: parsed answers, pauses and findings. What is known of
each kind has to have its form, because pages and reports draw it; names that are not known are kept.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    Strict,
    StringConstraints,
)

from experiments.models.ids import new_id
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.judge import RANGES

LONGEST_TEXT = 2_000_000
LARGEST_COUNT = 2**31 - 1


def _no_number(value: Any) -> Any:
    """A moment is written as text: a bare number may mean seconds, milliseconds or a year."""
    if isinstance(value, int | float):
        raise ValueError("A date with its time zone is needed, such as 2026-03-01T12:00:00Z.")
    return value


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("A number is needed.")
    return value


def _in_range(scores: dict[str, float]) -> dict[str, float]:
    for name, value in scores.items():
        low, high = RANGES.get(name, (value, value))
        if not low <= value <= high:
            raise ValueError(f"{name} is {value:g}, and has to be between {low:g} and {high:g}.")
    return scores


Count = Annotated[int, Strict(), Field(ge=0, le=LARGEST_COUNT)]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=-1e15, le=1e15)]
Seconds = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Money = Annotated[
    Decimal, BeforeValidator(_no_truth), Field(ge=0, max_digits=20, decimal_places=10, allow_inf_nan=False)
]
Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_no_number),
    Field(ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(2200, 1, 1, tzinfo=UTC)),
]
Truth = Annotated[bool, Strict()]
LongText = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Slug = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x20\x7f]+$")]
Word = Annotated[str, StringConstraints(max_length=40, pattern=r"^[^\x00-\x1f\x7f]*$")]
Seat = Annotated[str, StringConstraints(max_length=40, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
ScoreName = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z][a-z0-9_]*$")]
Scores = Annotated[dict[ScoreName, Number], Field(max_length=100), AfterValidator(_in_range)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Flags = Annotated[list[Word], Field(max_length=20)]
Reason = Annotated[str, StringConstraints(max_length=500)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Seats = Annotated[list[Seat], Field(max_length=50)]
Order = Annotated[list[Annotated[list[Seat], Field(min_length=1, max_length=50)]], Field(max_length=50)]


class Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Kept(BaseModel):
    """Keeps what it does not know."""

    model_config = ConfigDict(extra="allow", frozen=True)


class RowShape(Shape):
    """A row that others refer to. Hand-written documents need not number those that nothing refers to."""

    id: UUID = Field(default_factory=new_id)


# --- what runs leave ---


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
