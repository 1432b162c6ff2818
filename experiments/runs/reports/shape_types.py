"""The types of which the shapes of a document are made: what a database holds, and no more than is reasonable."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
)

from experiments.models.ids import new_id
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


class Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Kept(BaseModel):
    """Keeps what it does not know."""

    model_config = ConfigDict(extra="allow", frozen=True)


class RowShape(Shape):
    """A row that others refer to. Hand-written documents need not number those that nothing refers to."""

    id: UUID = Field(default_factory=new_id)
