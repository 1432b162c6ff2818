"""What a rubric asks for: scales with their ends and anchors, and labels with their choices. People answer it on review
pages, which give each value and each choice a key; the dimensions of an instrument are the same, asked of a model.
"""

from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError

from experiments.workflows.base.parsing import UNSTORABLE

MOST_VALUES = 10  # of a scale: one digit each
MOST_SCALES = 12
MOST_LABELS = 8
LETTERS = "abdefghilmopqrtvwyz"  # the others do something of their own on the review page
CLOSE = 1e-9

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1000)]


class RubricPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="after")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if isinstance(value, str) and UNSTORABLE.search(value):
            raise ValueError("holds characters that cannot be stored")
        return value


class Point(NamedTuple):
    """One value of a scale as the page offers it. text: how it is written, and sent. key: the key that chooses it."""

    value: float
    text: str
    anchor: str
    key: str


class Scale(RubricPart):
    """Numbers from `low` to `high` in steps. description: what is asked for, beyond the title. anchors: what a value
    means, by the value as `plain` writes it. measure: the judge's score that says the same; its own name when empty.
    """

    name: Name
    title: Title
    description: Description = ""
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
    def points(self) -> list[Point]:
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


class Choice(RubricPart):
    name: Name
    title: Title


class Label(RubricPart):
    """A question with choices: one of them, or several. ordered: they stand in an order, from the least to the most."""

    name: Name
    title: Title
    description: Description = ""
    multiple: bool = False
    ordered: bool = False
    choices: Annotated[list[Choice], Field(min_length=1)]

    @property
    def names(self) -> list[str]:
        return [choice.name for choice in self.choices]


class Rubric(RubricPart):
    """What is asked of whoever reviews. Names are unique within their kind."""

    scales: Annotated[list[Scale], Field(max_length=MOST_SCALES)] = []
    labels: Annotated[list[Label], Field(max_length=MOST_LABELS)] = []

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.scales and not self.labels:
            raise ValueError("a rubric has a scale or a label")
        scales, labels = [scale.name for scale in self.scales], [label.name for label in self.labels]
        for names in (scales, labels, *(label.names for label in self.labels)):
            if twice := {name for name in names if names.count(name) > 1}:
                raise PydanticCustomError("named_twice", "a name stands there twice: {name}", {"name": min(twice)})
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
