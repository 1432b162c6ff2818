"""How battles are set up."""

import re
from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.battles.instruments import InstrumentPrompt, OfBattles
from experiments.workflows.battles.judge_prompt import JudgePrompt
from experiments.workflows.battles.prompts import PROMPTS

JUDGES = ("judge", "judge-2", "judge-3", "judge-4")
MIRRORS = ("mirror-1", "mirror-2", "mirror-3", "mirror-4")
SEATS = (*JUDGES, *MIRRORS)
MOST_SIDE_BY_SIDE = 64
MOST_EXTRA_ATTEMPTS = 5
MOST_TASKS = 100_000
VERSION = re.compile(r"[\w.-]*\w_(\d{8})")

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Key = Annotated[int, Field(ge=1)]


class Sampling(BaseModel):
    """Which samples a pair is compared on. all: every one. sample: `per_pair` of them, the same for all pairs.

    adaptive: at least `min_per_pair`, then `batch` more at a time and at most `max_per_pair`, until the 95 % interval
    of every rating is at most `target_width` Elo wide.
    """

    model_config = ConfigDict(extra="forbid")

    plan: Literal["all", "sample", "adaptive"] = "all"
    per_pair: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    target_width: Annotated[float, Field(gt=0, le=1000)] = 15.0
    min_per_pair: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    max_per_pair: Annotated[int, Field(ge=1, le=1_000_000)] = 1500
    batch: Annotated[int, Field(ge=1, le=100_000)] = 100

    @model_validator(mode="after")
    def numbers_fit_the_plan(self) -> Self:
        if self.plan == "sample" and self.per_pair is None:
            raise ValueError("Enter the number of samples per pair.")
        if self.plan == "adaptive" and self.min_per_pair > self.max_per_pair:
            raise ValueError("The minimum of battles per pair is above the maximum.")
        return self


class Task(BaseModel):
    """One battle to be judged, by keys; left is the contestant with the smaller one. seats: by whom; [] by all."""

    model_config = ConfigDict(extra="forbid")

    sample: Key
    left: Key
    right: Key
    seats: list[Literal[*JUDGES]] = []  # type: ignore[valid-type]  # the members are the registry's, known when it runs

    @model_validator(mode="after")
    def left_has_the_smaller_key(self) -> Self:
        if self.left >= self.right:
            raise ValueError("The left contestant of a battle is the one with the smaller key.")
        return self


class Config(BaseModel):
    """Whose outputs are compared on what, and by which rules.

    dataset: its slug. subsets, contestants: by name; [] for all. version: the experiment as "name_yyyymmdd".
    pairs: all, or only those with a contestant that joined with this version.
    prompt: an installed judge prompt, by its name; instrument: one for pairs in its place, and `prompt` says so.
    prompt_version: that of either when this was set up. calls: whether the two orders of a battle are asked at the
    same time. side_by_side: battles at once in one run. attempts: how often a verdict that cannot be read is asked for
    again. tasks: the battles of one run.
    """

    model_config = ConfigDict(extra="forbid")

    dataset: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    subsets: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] = []
    contestants: Annotated[list[Name], Field(max_length=1000)] = []
    version: Annotated[str, StringConstraints(max_length=120)] = ""
    pairs: Literal["all", "new"] = "all"
    prompt: Annotated[str, StringConstraints(max_length=80)] = ""
    instrument: OfBattles | None = None
    prompt_version: Annotated[str, StringConstraints(max_length=16)] = ""
    sampling: Sampling = Sampling()
    calls: Literal["parallel", "sequential"] = "parallel"
    side_by_side: Annotated[int, Field(ge=1, le=MOST_SIDE_BY_SIDE)] = 8
    attempts: Annotated[int, Field(ge=0, le=MOST_EXTRA_ATTEMPTS)] = 2
    limits: Limits = Limits()
    tasks: Annotated[list[Task], Field(max_length=MOST_TASKS)] = []

    @model_validator(mode="after")
    def names_are_usable(self) -> Self:
        if len(set(self.subsets)) < len(self.subsets) or len(set(self.contestants)) < len(self.contestants):
            raise ValueError("A subset or a contestant is named twice.")
        if len(self.contestants) == 1:
            raise ValueError("Name at least two contestants, or none for all of them.")
        if self.version and not is_version(self.version):
            raise ValueError("A version is a name and a valid date, such as spring_20260401.")
        if self.pairs == "new" and not self.version:
            raise ValueError("Name the version whose contestants are new.")
        return self

    @model_validator(mode="after")
    def prompt_has_a_version(self) -> Self:
        """One that is stored already stays readable when its prompt is gone or was changed: see `outdated`."""
        if self.instrument and self.prompt not in ("", self.instrument.called):
            raise ValueError("Choose a judge prompt or an instrument, not both.")
        self.prompt = self.instrument.called if self.instrument else self.prompt
        if not self.prompt_version:
            if (known := self.judge_prompt) is None:
                raise ValueError("There is no judge prompt with this name.")
            self.prompt_version = known.version
        return self

    @property
    def judge_prompt(self) -> JudgePrompt | None:
        """What judges are asked; None for a prompt that is no longer installed."""
        if self.instrument is None:
            return PROMPTS.get(self.prompt)
        return InstrumentPrompt.of(self.prompt, self.instrument.title, self.instrument.definition)

    @property
    def outdated(self) -> str:
        """Why this can no longer be judged as it was set up; "" when it can."""
        known = self.judge_prompt
        if known is None:
            return f"The judge prompt {self.prompt} is no longer installed: set the battles up with another one."
        if known.version != self.prompt_version:
            return (
                f"The judge prompt {self.prompt} was changed since this was set up ({self.prompt_version}, now "
                f"{known.version}). Another version is another board: set the battles up again."
            )
        return ""

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return ("judge",)

    def optional_seats(self) -> tuple[str, ...]:
        return (*JUDGES[1:], *MIRRORS)

    def summary(self) -> str:
        return " · ".join(part for part in (self.dataset, self.version, self.prompt) if part)


def is_version(name: str) -> bool:
    """Whether it is a name that ends in an underscore and a date of the calendar, as yyyymmdd."""
    found = VERSION.fullmatch(name)
    try:
        return found is not None and bool(datetime.strptime(found[1], "%Y%m%d"))
    except ValueError:
        return False
