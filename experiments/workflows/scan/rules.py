"""The rules of a scan: several lanes take the units one after the other, and every judge is asked about each."""

from collections.abc import Generator, Iterator
from dataclasses import asdict
from typing import Any

from experiments.workflows.base.instruments import Definition, prompt_parts, read_reply, reply_schema, version_of
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Cast, Excerpt, Outcome, Play, Prompt
from experiments.workflows.battles.rules import Breakers
from experiments.workflows.scan.config import JUDGES, Config, Task
from experiments.workflows.scan.records import ReplyFound, UnitJudged

Due = Iterator[tuple[Task, str]]


def run(config: Config, cast: Cast) -> Play:
    """The units of `config.tasks`. Ends as failed when a judge had to be given up."""
    breakers = Breakers(seat for seat in JUDGES if seat in cast.seats)
    pairs = ((task, seat) for task in config.tasks for seat in breakers if seat in (task.seats or JUDGES))
    due = ((task, seat) for task, seat in pairs if not breakers[seat].is_broken)
    yield [_lane(config, cast, due, breakers) for _lane_number in range(config.side_by_side)]
    return breakers.end(cast, "judge")


def _lane(config: Config, cast: Cast, due: Due, breakers: Breakers) -> Generator[Any, Any, None]:
    definition = config.definition
    for task, seat in due:
        key = f"unit/{task.run}/{definition.unit}-{task.place}/{seat}"
        outcome: Outcome = yield unit_asked(key, definition, task, seat, cast.fence(key))
        breakers[seat].note(outcome)
        found = UnitJudged(
            key=key,
            seat=seat,
            run=task.run,
            unit=definition.unit,
            place=task.place,
            turn=task.turn,
            replies=[ReplyFound(**asdict(reply)) for reply in read_reply(definition, task.subjects, outcome)],
        )
        yield Record(f"{key}/judged", found, source=key)


def unit_asked(key: str, definition: Definition, task: Task, seat: str, token: str) -> Ask:
    """The question about one unit. Its text is put in just before it is sent."""
    before, after = prompt_parts(definition, task.subjects)
    excerpt = Excerpt(
        "transcript", run=task.run, unit=definition.unit, place=task.place, sees=definition.sees, token=token
    )
    return Ask(
        key=key,
        seat=seat,
        messages=(Prompt("user", parts=(before, excerpt, after)),),
        purpose="judge",
        schema=reply_schema(definition, task.subjects),
        params=definition.params.model_dump(),
        prompt_version=version_of(definition),
        deadline=definition.seconds,
        patience=definition.seconds,
        attempts=None if definition.seconds is None else definition.attempts,
    )
