"""Outputs: contestants that are models are asked for what they make of a dataset's samples.

A run is a shard: it asks for the outputs of its `tasks`, as many side by side as the configuration says.
"""

from collections.abc import Collection, Generator, Iterator
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Cast, Outcome, Play, Prompt, Stored
from experiments.workflows.base.workflow import Workflow
from experiments.workflows.battles.rules import Breakers
from experiments.workflows.outputs.records import RECORDS, OutputMade

MOST_CONTESTANTS = 30
SEATS = tuple(f"contestant-{number}" for number in range(1, MOST_CONTESTANTS + 1))
LONGEST_REASON = 300

Key = Annotated[int, Field(ge=1)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Task(BaseModel):
    """One output that is wanted, by keys. seat: where the contestant sits."""

    model_config = ConfigDict(extra="forbid")

    sample: Key
    contestant: Key
    seat: Annotated[str, StringConstraints(pattern=r"^contestant-([1-9]|[12]\d|30)$")]


class Config(BaseModel):
    """Whose outputs are made for what. dataset: its slug. subsets, contestants: by name; [] for all.

    side_by_side: outputs at once in one run. tasks: what one run asks for.
    """

    model_config = ConfigDict(extra="forbid")

    dataset: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    subsets: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] = []
    contestants: Annotated[list[Name], Field(max_length=MOST_CONTESTANTS)] = []
    side_by_side: Annotated[int, Field(ge=1, le=64)] = 8
    limits: Limits = Limits()
    tasks: Annotated[list[Task], Field(max_length=100_000)] = []

    @model_validator(mode="after")
    def nothing_is_named_twice(self) -> Self:
        if len(set(self.subsets)) < len(self.subsets) or len(set(self.contestants)) < len(self.contestants):
            raise ValueError("A subset or a contestant is named twice.")
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return tuple(seat for seat in SEATS if seat in named) or SEATS[:1]

    def optional_seats(self) -> tuple[str, ...]:
        return ()

    def summary(self) -> str:
        return self.dataset


def run(config: Config, cast: Cast) -> Play:
    """The outputs of `config.tasks`. Ends as failed when a contestant had to be given up."""
    breakers = Breakers(seat for seat in SEATS if seat in cast.seats)
    tasks = (task for task in config.tasks if task.seat not in breakers or not breakers[task.seat].is_broken)
    yield [_lane(tasks, breakers) for _lane_number in range(config.side_by_side)]
    return breakers.end(cast, "contestant")


def _lane(tasks: Iterator[Task], breakers: Breakers) -> Generator[Any, Any, None]:
    """Each is asked with the instruction and its images as they are: contestants are asked alike, and told nothing
    else. An answer without words is no output.
    """
    for task in tasks:
        key = f"output/{task.contestant}/{task.sample}"
        outcome = Outcome(ok=False, error=f"Nobody sits in {task.seat}.")
        if task.seat in breakers:
            parts = (Stored("instruction", task.sample), Stored("images", task.sample))
            outcome = yield Ask(key=key, seat=task.seat, messages=(Prompt("user", parts=parts),), purpose="output")
            breakers[task.seat].note(outcome)
        if outcome.ok and outcome.text.strip():
            made = OutputMade(sample=task.sample, contestant=task.contestant, key=key)
        else:
            otherwise = "The answer was empty." if outcome.ok else f"The call failed ({outcome.error_kind})."
            reason = outcome.error or otherwise
            made = OutputMade(sample=task.sample, contestant=task.contestant, failed=reason[:LONGEST_REASON])
        yield Record(f"{key}/made", made, source=key)


WORKFLOW = Workflow(
    slug="outputs",
    config=Config,
    seats=SEATS,
    run=run,
    place=7,
    leads="contestant-1",
    is_sharded=True,
    records=RECORDS,
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
    services="experiments.workflows.battles.services",
)
