"""The rules of a scan: several lanes take the units one after the other, and every judge is asked about each."""

from collections.abc import Generator, Iterator
from typing import Any

from experiments.workflows.base.measuring import excerpt_of, measured
from experiments.workflows.base.steps import Cast, Play
from experiments.workflows.battles.rules import Breakers
from experiments.workflows.scan.config import JUDGES, Config, Task

Due = Iterator[tuple[Task, str]]


def run(config: Config, cast: Cast) -> Play:
    """The units of `config.tasks`. Ends as failed when a judge had to be given up."""
    breakers = Breakers(seat for seat in JUDGES if seat in cast.seats)
    pairs = ((task, seat) for task in config.tasks for seat in breakers if seat in (task.seats or JUDGES))
    due = ((task, seat) for task, seat in pairs if not breakers[seat].is_broken)
    yield [_lane(config, cast, due, breakers) for _lane_number in range(config.side_by_side)]
    return breakers.end(cast, "judge")


def _lane(config: Config, cast: Cast, due: Due, breakers: Breakers) -> Generator[Any, Any, None]:
    """The text of a unit is put into its question just before that is sent."""
    for task, seat in due:
        key = f"unit/{task.run}/{config.definition.unit}-{task.place}/{seat}"
        excerpt = excerpt_of(config.definition, run=task.run, place=task.place, token=cast.fence(key))
        outcome = yield from measured(key, config, excerpt, task.subjects, seat=seat, turn=task.turn)
        breakers[seat].note(outcome)
