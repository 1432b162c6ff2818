"""Outputs: contestants that are models are asked for what they make of a dataset's samples.

A run is a shard: it asks for the outputs of its `tasks`, as many side by side as the configuration says.
"""

from collections.abc import Collection, Generator, Iterator
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Cast, End, Outcome, Play, Prompt, Stored
from experiments.workflows.base.workflow import Workflow
from experiments.workflows.battles.breaker import Breaker
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
    breakers = {seat: Breaker() for seat in SEATS if seat in cast.seats}
    tasks = _tasks(config, breakers)
    yield [_lane(tasks, breakers) for _lane_number in range(config.side_by_side)]
    broken = [breaker.message(_called(cast, seat)) for seat, breaker in breakers.items() if breaker.is_broken]
    return End("contestant_failed", failed=True, message="\n".join(broken)) if broken else End("completed")


def _tasks(config: Config, breakers: dict[str, Breaker]) -> Iterator[Task]:
    for task in config.tasks:
        if task.seat not in breakers or not breakers[task.seat].is_broken:
            yield task


def _lane(tasks: Iterator[Task], breakers: dict[str, Breaker]) -> Generator[Any, Any, None]:
    for task in tasks:
        key = f"output/{task.contestant}/{task.sample}"
        if task.seat in breakers:
            outcome: Outcome = yield _ask(key, task)
            breakers[task.seat].note(outcome)
        else:
            outcome = Outcome(ok=False, error=f"Nobody sits in {task.seat}.")
        yield _made(key, task, outcome)


def _ask(key: str, task: Task) -> Ask:
    """The instruction and its images as they are: contestants are asked alike, and told nothing else."""
    parts = (Stored("instruction", task.sample), Stored("images", task.sample))
    return Ask(key=key, seat=task.seat, messages=(Prompt("user", parts=parts),), purpose="output")


def _made(key: str, task: Task, outcome: Outcome) -> Record:
    """An answer without words is no output."""
    if outcome.ok and outcome.text.strip():
        made = OutputMade(sample=task.sample, contestant=task.contestant, key=key)
        return Record(f"{key}/made", made, source=key)
    reason = outcome.error or ("The answer was empty." if outcome.ok else f"The call failed ({outcome.error_kind}).")
    missed = OutputMade(sample=task.sample, contestant=task.contestant, failed=reason[:LONGEST_REASON])
    return Record(f"{key}/made", missed, source=key)


def _called(cast: Cast, seat: str) -> str:
    names = cast.seats[seat].called
    return f"The contestant {names[0]}" if names else f"The contestant in {seat}"


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
