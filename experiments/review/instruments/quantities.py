"""What of an instrument is compared with people, in numbers: one quantity for each dimension, or for each choice of a
dimension with several; and the rates that a quantity has.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from experiments.models import ReviewAnswer
from experiments.workflows.base.instruments import (
    NO,
    YES,
    Categories,
    Count,
    Definition,
    Dimension,
    ScaleDimension,
    Value,
    answer_of,
)
from experiments.workflows.base.rubrics import plain
from leaderboard.ratings.agreement import Level, Weights

SOME = "some"  # the stratum of what has any of several choices
NONE = "none"
BINARY = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One question in numbers. values: those that may be said, rising; words: what each is called, titles of choices as
    their owner wrote them, NO and YES. choice: of a dimension with several, which one it is about.
    """

    name: str
    title: str
    dimension: Dimension
    level: Level
    values: tuple[float, ...]
    words: tuple[str, ...]
    choice: str = ""

    @property
    def is_binary(self) -> bool:
        return self.words == (NO, YES)

    @property
    def is_scale(self) -> bool:
        return isinstance(self.dimension, ScaleDimension | Count)

    @property
    def weights(self) -> Weights:
        """How much a disagreement counts in Cohen's kappa."""
        return "none" if self.level == "nominal" else "quadratic"

    def of_instrument(self, value: Value) -> float:
        """An instrument's value as the nearest that people may say."""
        said = answer_of(self.dimension, value)
        if isinstance(said, list):
            return float(self.choice in said)
        return said if isinstance(said, float) else float(_names(self.dimension).index(said))

    def of_person(self, answer: ReviewAnswer) -> float | None:
        """What somebody answered, None where nothing was said. Several choices may also be none of them."""
        if self.is_scale:
            given = answer.scores.get(self.dimension.name)
            return None if given is None else min(self.values, key=lambda one: abs(one - given))
        chosen = answer.labels.get(self.dimension.name, [])
        if self.choice:
            return float(self.choice in chosen)
        return float(_names(self.dimension).index(chosen[0])) if chosen else None

    def word(self, value: float) -> str:
        return self.words[self.values.index(value)]


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate or a mean of a quantity: the share of what has the value `category`, or the mean where that is None. name:
    as `dimension` or `dimension.choice`; choice: its title, where there are several. low, high: between which values
    it lies.
    """

    name: str
    title: str
    quantity: Quantity
    category: float | None
    choice: str = ""
    low: float = 0.0
    high: float = 1.0

    def of_person(self, value: float) -> float:
        """What a value of the quantity counts for."""
        return value if self.category is None else float(value == self.category)

    def of_instrument(self, value: Value) -> float:
        """The same of an instrument's value; on a scale that value itself, also between two steps."""
        if isinstance(self.quantity.dimension, ScaleDimension) and isinstance(value, int | float):
            return float(value)
        return self.of_person(self.quantity.of_instrument(value))


def quantities(definition: Definition) -> list[Quantity]:
    """In the order of the dimensions."""
    return [quantity for dimension in definition.dimensions for quantity in _quantities(dimension)]


def _quantities(dimension: Dimension) -> Iterator[Quantity]:
    match dimension:
        case ScaleDimension():
            words = tuple(plain(value) for value in dimension.values)
            yield Quantity(dimension.name, dimension.title, dimension, dimension.level, dimension.values, words)
        case Count():
            values = tuple(float(value) for value in range(dimension.most + 1))
            yield Quantity(dimension.name, dimension.title, dimension, "interval", values, tuple(map(plain, values)))
        case Categories() if dimension.multiple:
            for choice in dimension.choices:
                name, title = f"{dimension.name}.{choice.name}", f"{dimension.title}: {choice.title}"
                yield Quantity(name, title, dimension, "nominal", BINARY, (NO, YES), choice.name)
        case Categories():
            titles = tuple(choice.title for choice in dimension.choices)
            level: Level = "ordinal" if dimension.ordered else "nominal"
            values = tuple(float(place) for place in range(len(titles)))
            yield Quantity(dimension.name, dimension.title, dimension, level, values, titles)
        case _:
            yield Quantity(dimension.name, dimension.title, dimension, "nominal", BINARY, (NO, YES))


def figures(quantity: Quantity) -> list[Figure]:
    """The mean of a scale or a count; how often yes is said; how often each category is."""
    low, high = quantity.values[0], quantity.values[-1]
    if quantity.is_scale:
        return [Figure(quantity.name, quantity.title, quantity, None, low=low, high=high)]
    if quantity.is_binary:
        choices = quantity.dimension.choices if isinstance(quantity.dimension, Categories) else []
        choice = next((one.title for one in choices if one.name == quantity.choice), "")
        return [Figure(quantity.name, quantity.title, quantity, 1.0, choice)]
    return [
        Figure(f"{quantity.name}.{name}", f"{quantity.title}: {word}", quantity, value, word)
        for name, word, value in zip(_names(quantity.dimension), quantity.words, quantity.values, strict=True)
    ]


def stratum_of(dimension: Dimension, value: Value) -> str:
    """What units are drawn by: the value as people would say it; of several choices, whether there is any."""
    said = answer_of(dimension, value)
    if isinstance(said, list):
        return SOME if said else NONE
    return plain(said) if isinstance(said, float) else said


def _names(dimension: Dimension) -> list[str]:
    return dimension.names if isinstance(dimension, Categories) else [NO, YES]
