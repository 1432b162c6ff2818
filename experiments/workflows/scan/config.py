"""How a scan is set up."""

from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import Id, Instrument

JUDGES = ("judge", "judge-2", "judge-3", "judge-4")
MOST_RUNS = 10_000
MOST_TASKS = 100_000

Place = Annotated[int, Field(ge=0)]


class Task(BaseModel):
    """One unit to be judged. run: its id. place: the `seq` of the message, or the turn, or 0. turn: of the unit; None
    for a whole run. subjects: who is measured one by one; [] for the unit as a whole. seats: by whom; [] by all.
    """

    model_config = ConfigDict(extra="forbid")

    run: Id
    place: Place = 0
    turn: int | None = None
    subjects: list[str] = []
    seats: list[Literal[*JUDGES]] = []  # type: ignore[valid-type]  # the members are JUDGES, known when it runs


class Config(Instrument):
    """runs: ids of those that are scanned. only: places of the units that are judged of a run, by its id; of a run that
    is not named, all. again: whether units are judged that the same judge has judged with this version. side_by_side:
    units at once in one run. tasks: the units of one run.
    """

    runs: Annotated[list[Id], Field(min_length=1, max_length=MOST_RUNS)]
    only: Annotated[dict[Id, list[Place]], Field(max_length=MOST_RUNS)] = {}
    again: bool = False
    side_by_side: Annotated[int, Field(ge=1, le=64)] = 8
    limits: Limits = Limits()
    tasks: Annotated[list[Task], Field(max_length=MOST_TASKS)] = []

    @model_validator(mode="after")
    def no_run_is_named_twice(self) -> Self:
        self.runs = list(dict.fromkeys(self.runs))
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return ("judge",)

    def optional_seats(self) -> tuple[str, ...]:
        return JUDGES[1:]

    def summary(self) -> str:
        return self.title
