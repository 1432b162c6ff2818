"""The design of a study, as a value: factors with their levels, the conditions that follow, and the order of runs."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

MOST_CONDITIONS = 500
MOST_RUNS = 5_000
MOST_REPEATS = 500

# No spreadsheet takes a name for a formula.
Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80, pattern=r"^[^\s=+\-@＝＋－＠﹦﹢﹣﹫−]")]
Path = Annotated[str, StringConstraints(max_length=200, pattern=r"^((config|cast|texts)\.[^.]+(\.[^.]+){0,2})?$")]
Levels = Mapping[str, str]
"""Which level a condition has, by factor."""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Level(Part):
    """What a level changes. value: of what the factor varies. Beside it, or in its place, config: settings of the
    workflow, in the place of the design's; cast: by participant, what differs from the design's; texts: for `{name}` in
    the texts of the configuration.
    """

    name: Name
    value: Any = None
    config: dict[str, Any] = {}
    cast: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}


class Factor(Part):
    """What is varied. is_prompt: its levels are prompts: a sample of those that could have been chosen. varies: the
    path of what the values of its levels are for, such as `config.context`, `cast.A.model`, `cast.A.params.seed` or
    `texts.name`.
    """

    name: Name
    levels: Annotated[list[Level], Field(min_length=1, max_length=200)]
    is_prompt: bool = False
    varies: Path = ""


class Design(Part):
    """config, cast: of every run, as for an experiment, but for what levels change.

    arrangement: `crossed` has every combination of levels; `list` those of `conditions`; `latin` has of three factors
    with n levels each n² combinations, in which each two levels of different factors meet once. repeats: of each
    condition. seed: of the order of the runs and of their seeds. batches: models are asked by the batch API of their
    provider, where it has one: at a part of the price, within a day. Raises ValidationError.
    """

    workflow: Annotated[str, StringConstraints(max_length=20)]
    config: dict[str, Any] = {}
    cast: dict[str, dict[str, Any]] = {}
    factors: Annotated[list[Factor], Field(max_length=10)] = []
    arrangement: Literal["crossed", "list", "latin"] = "crossed"
    conditions: Annotated[list[dict[str, str]], Field(max_length=MOST_CONDITIONS)] = []
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    batches: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for names in ([f.name for f in self.factors], *([level.name for level in f.levels] for f in self.factors)):
            if twice := {name for name in names if names.count(name) > 1}:
                raise PydanticCustomError("named_twice", "a name is used twice: {name}", {"name": min(twice)})
        if sum(factor.is_prompt for factor in self.factors) > 1:
            raise PydanticCustomError("two_prompts", "only one factor can have prompts as its levels")
        if self.arrangement == "latin" and (
            len(self.factors) != 3 or len({len(factor.levels) for factor in self.factors}) > 1
        ):
            said = "a Latin square has three factors with equally many levels"
            raise PydanticCustomError("no_square", said)
        if (self.arrangement == "list") != bool(self.conditions):
            said = "conditions are listed for the arrangement “list”, and for no other"
            raise PydanticCustomError("conditions_listed", said)
        known = {factor.name: {level.name for level in factor.levels} for factor in self.factors}
        for number, levels in enumerate(self.conditions, 1):
            if levels.keys() != known.keys() or any(level not in known[name] for name, level in levels.items()):
                said = "condition {number} does not name one level of each factor"
                raise PydanticCustomError("condition_unknown", said, {"number": number})
        count = self._count()
        if count > MOST_CONDITIONS or count * self.repeats > MOST_RUNS:
            said = "a study has at most {conditions} conditions and {runs} runs"
            raise PydanticCustomError("study_too_large", said, {"conditions": MOST_CONDITIONS, "runs": MOST_RUNS})
        return self

    def _count(self) -> int:
        if self.arrangement == "list":
            return len(self.conditions)
        sizes = [len(factor.levels) for factor in self.factors]
        count = 1
        for size in sizes[:2] if self.arrangement == "latin" else sizes:
            count *= size
        return count

    @property
    def prompts(self) -> str:
        """The factor whose levels are prompts, "" for none."""
        return next((factor.name for factor in self.factors if factor.is_prompt), "")

    @property
    def seats(self) -> set[str]:
        """Participants that the design names."""
        varied = [factor.varies.split(".")[1] for factor in self.factors if factor.varies.startswith("cast.")]
        return {*self.cast, *varied, *(seat for f in self.factors for level in f.levels for seat in level.cast)}

    def combinations(self) -> Iterator[dict[str, str]]:
        """The levels of each condition, in order."""
        if self.arrangement == "list":
            yield from self.conditions
            return
        names = [factor.name for factor in self.factors]
        levels = [[level.name for level in factor.levels] for factor in self.factors]
        if self.arrangement == "crossed":
            yield from (dict(zip(names, chosen, strict=True)) for chosen in product(*levels))
            return
        drawn = random.Random(f"{self.seed}/square")
        rows, columns, letters = (drawn.sample(one, len(one)) for one in levels)
        for row, column in product(range(len(rows)), repeat=2):
            square = (rows[row], columns[column], letters[(row + column) % len(letters)])
            yield dict(zip(names, square, strict=True))

    def condition(self, levels: Levels) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Configuration and cast of the condition with these levels, unchecked. Later factors replace earlier ones."""
        found: dict[str, Any] = {"config": self.config, "cast": self.cast, "texts": {}}
        for factor in self.factors:
            level = next(one for one in factor.levels if one.name == levels[factor.name])
            if factor.varies:
                found = _with(found, factor.varies.split("."), level.value)
            cast = {seat: {**found["cast"].get(seat, {}), **changed} for seat, changed in level.cast.items()}
            for part, changed in (("config", level.config), ("cast", cast), ("texts", level.texts)):
                found = {**found, part: {**found[part], **changed}}
        return filled(found["config"], found["texts"]), found["cast"]


def _with(value: Any, path: list[str], new: Any) -> dict[str, object]:
    """A copy of the object with a new value at the path, whatever stood there."""
    first, *rest = path
    inside = value if isinstance(value, dict) else {}
    return {**inside, first: _with(inside.get(first), rest, new) if rest else new}


def filled(value: Any, texts: Mapping[str, str]) -> Any:
    """A JSON value with `{name}` in its texts filled in; names without a text stay as they are."""
    if isinstance(value, str):
        for name, text in texts.items():
            value = value.replace(f"{{{name}}}", str(text))
        return value
    if isinstance(value, dict):
        return {name: filled(one, texts) for name, one in value.items()}
    return [filled(one, texts) for one in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """number: its place in the order, from 1. condition: the number of its condition, from 1. repeat: from 1."""

    number: int
    condition: int
    repeat: int
    seed: int


def planned_runs(design: Design, conditions: int, repeats: range | None = None) -> list[PlannedRun]:
    """All runs in random order, each with a seed of its own. Every repeat is a block of all conditions, so that what
    changes with time changes for all of them. repeats: their numbers, from 1; others than the design's are added later.
    """
    repeats = repeats or range(1, design.repeats + 1)
    drawn = random.Random(f"{design.seed}/order" if repeats.start == 1 else f"{design.seed}/order/{repeats.start}")
    order: list[tuple[int, int]] = []
    for repeat in repeats:
        order += [(condition, repeat) for condition in drawn.sample(range(1, conditions + 1), conditions)]
    seeds = drawn.sample(range(2**31), len(order))
    first = (repeats.start - 1) * conditions + 1
    return [
        PlannedRun(number, condition, repeat, seed)
        for number, ((condition, repeat), seed) in enumerate(zip(order, seeds, strict=True), first)
    ]
