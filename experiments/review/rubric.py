"""A rubric as a value: scales with their ends and anchors, labels with their choices, and the key of each."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError

from experiments.engine.text import is_storable

MOST_VALUES = 10  # of a scale: one digit each
LETTERS = "abdefghilmopqrtvwyz"  # the others do something of their own on the review page
CLOSE = 1e-9

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="after")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if isinstance(value, str) and not is_storable(value):
            raise ValueError("holds characters that cannot be stored")
        return value


class Scale(Part):
    """Numbers from `low` to `high` in steps. anchors: what a value means, by the value as `plain` writes it. measure:
    the judge's score that says the same; its own name when empty.
    """

    name: Name
    title: Title
    low: Annotated[float, Field(ge=-1e6, le=1e6)]
    high: Annotated[float, Field(ge=-1e6, le=1e6)]
    step: Annotated[float, Field(gt=0, le=1e6)] = 1
    level: Literal["nominal", "ordinal", "interval"] = "ordinal"
    anchors: dict[str, Words] = {}
    measure: str = Field(default="", max_length=60)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        steps = (self.high - self.low) / self.step
        if steps < 1 - CLOSE or abs(steps - round(steps)) > CLOSE or round(steps) >= MOST_VALUES:
            said = "a scale has 2 to {most} values, in whole steps from its low end to its high one"
            raise PydanticCustomError("scale_values", said, {"most": MOST_VALUES})
        if unknown := set(self.anchors) - {plain(value) for value in self.values}:
            said = "an anchor stands at no value of the scale: {value}"
            raise PydanticCustomError("anchor_nowhere", said, {"value": min(unknown)})
        return self

    @property
    def values(self) -> tuple[float, ...]:
        count = round((self.high - self.low) / self.step) + 1
        return tuple(round(self.low + place * self.step, 9) for place in range(count))

    @property
    def points(self) -> "list[Point]":
        """The values with their anchors and keys: the digit itself where all are digits, or else the place from 1."""
        are_digits = all(value in range(10) for value in self.values)
        return [
            Point(value, plain(value), self.anchors.get(plain(value), ""), plain(value) if are_digits else key)
            for value, key in zip(self.values, "1234567890", strict=False)
        ]

    @property
    def judged_by(self) -> str:
        return self.measure or self.name

    @property
    def span(self) -> float:
        return self.high - self.low

    def holds(self, value: float) -> bool:
        return any(abs(value - one) < CLOSE for one in self.values)


class Point:
    """One value of a scale as the page offers it. text: how it is written, and sent."""

    __slots__ = ("anchor", "key", "text", "value")

    def __init__(self, value: float, text: str, anchor: str, key: str) -> None:
        self.value, self.text, self.anchor, self.key = value, text, anchor, key


class Choice(Part):
    name: Name
    title: Title


class Label(Part):
    """A question with choices: one of them, or several."""

    name: Name
    title: Title
    multiple: bool = False
    choices: Annotated[list[Choice], Field(min_length=1)]

    @property
    def names(self) -> list[str]:
        return [choice.name for choice in self.choices]


class Rubric(Part):
    """What is asked of whoever reviews. Names are unique within their kind."""

    scales: Annotated[list[Scale], Field(max_length=12)] = []
    labels: Annotated[list[Label], Field(max_length=8)] = []

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.scales and not self.labels:
            raise ValueError("a rubric has a scale or a label")
        for names in ([one.name for one in self.scales], [one.name for one in self.labels]):
            _refuse_twice(names)
        for label in self.labels:
            _refuse_twice(label.names)
        if sum(len(label.choices) for label in self.labels) > len(LETTERS):
            said = "a rubric has at most {most} choices, as many as there are letters for them"
            raise PydanticCustomError("choices_too_many", said, {"most": len(LETTERS)})
        return self

    @property
    def keys(self) -> dict[tuple[str, str], str]:
        """The letter of each choice, by label and choice: of its own words where that letter is free."""
        free, found = list(LETTERS), {}
        for label in self.labels:
            for choice in label.choices:
                letter = next((one for one in choice.title.lower() if one in free), free[0])
                free.remove(letter)
                found[label.name, choice.name] = letter
        return found


def plain(value: float) -> str:
    """A number as forms and anchors write it: 1, 0.25, -1."""
    return f"{round(value, 9) + 0.0:.9g}"


def _refuse_twice(names: list[str]) -> None:
    if twice := {name for name in names if names.count(name) > 1}:
        raise PydanticCustomError("named_twice", "a name stands there twice: {name}", {"name": min(twice)})
