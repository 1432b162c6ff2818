"""Arena: two models converse, one turn after the other; a filter passes on what is said, a judge scores each turn.

Before each reply and after each turn the talk pauses: in manual mode for an operator, in automatic mode for nobody.
"""

from collections.abc import Generator
from typing import Any

from experiments.workflows.arena.config import DEFAULT_PARAMS, SPEAKERS, Config, Intervention, Prompts
from experiments.workflows.arena.records import RECORDS
from experiments.workflows.arena.speaking import NEXT_TURN, Go
from experiments.workflows.arena.talk import Talk
from experiments.workflows.base.judge import Rubric, judge_turn
from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import UnitJudged, run_measured, turn_measured
from experiments.workflows.base.records import Record, TurnCompleted, TurnStarted
from experiments.workflows.base.steps import STOPPED, Cast, End, Listen, Play
from experiments.workflows.base.workflow import Workflow

__all__ = ["DEFAULT_PARAMS", "SEATS", "WORKFLOW", "Config", "Intervention", "Limits", "Prompts", "run"]

SEATS = ("A", "B", "judge", "filter", "friend")
RUBRIC = Rubric("arena/judge", subject="SIDE")


def run(config: Config, cast: Cast) -> Play:
    talk = Talk(config, cast)
    end = yield from _turns(talk, 1)
    if config.judge and talk.said and not end.failed:
        yield from run_measured(cast, config.instrument, SPEAKERS)
    return end


def _turns(talk: Talk, turn: int) -> Generator[Any, Any, End]:
    """All turns from this one on. A judge that runs beside is waited for at the end alone."""
    config = talk.config
    while config.max_turns is None or turn <= config.max_turns:
        if end := (yield from _speak(talk, turn)):
            return end
        if config.judge and config.instrument and config.instrument.definition.beside:
            *_judged, last = yield [_judge(talk, turn), _go_on(talk, turn)]
            return last  # type: ignore[no-any-return]  # a generator's value, which `yield` leaves untyped
        if config.judge:
            yield from _judge(talk, turn)
        if end := (yield from _pause(talk, turn)):
            return end
        turn += 1
    return End("max_turns")


def _speak(talk: Talk, turn: int) -> Generator[Any, Any, End | None]:
    yield Record(f"turn/{turn}", TurnStarted(turn=turn), turn=turn)
    for side in talk.config.order(talk.cast):
        end = yield from Go(talk, side, turn).play()
        if end is NEXT_TURN:
            break
        if end:
            return end
    return None


def _judge(talk: Talk, turn: int) -> Generator[Any, Any, None]:
    key, config = f"turn/{turn}/judge", talk.config
    if config.instrument:
        said = {said.side: said.key for said in talk.said if said.turn == turn}
        yield from turn_measured(key, talk.cast, config.instrument, turn, said, SPEAKERS)
    else:
        shown = talk.shown_to_judge(turn)
        yield from judge_turn(key, talk.cast, shown, RUBRIC, subjects=SPEAKERS, seconds=config.judge_seconds)


def _go_on(talk: Talk, turn: int) -> Generator[Any, Any, End]:
    """The turns after this one, beside its judge."""
    return (yield from _pause(talk, turn)) or (yield from _turns(talk, turn + 1))


def _pause(talk: Talk, turn: int) -> Generator[Any, Any, End | None]:
    """The turn is over. After the last one there is nothing to wait for."""
    yield Record(f"turn/{turn}/completed", TurnCompleted(turn=turn), turn=turn)
    if turn != talk.config.max_turns:
        talk.read_script(turn)
    if talk.config.auto_advance or turn == talk.config.max_turns:
        return None
    actions = ("next", "default", "end")
    said = yield Listen(f"turn/{turn}/next", "turn_completed", actions, turn=turn, may_pass=True)
    return STOPPED if said.action == "end" else None


WORKFLOW = Workflow(
    slug="arena",
    config=Config,
    seats=SEATS,
    run=run,
    place=1,
    people=SPEAKERS,
    subjects=SPEAKERS,
    judge=RUBRIC,
    flagged=SPEAKERS,
    records=(*RECORDS, UnitJudged),
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
)
