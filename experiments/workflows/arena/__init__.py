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
from experiments.workflows.base.records import Record, TurnCompleted, TurnStarted
from experiments.workflows.base.steps import STOPPED, Cast, End, Listen, Play
from experiments.workflows.base.workflow import Workflow

__all__ = ["DEFAULT_PARAMS", "SEATS", "WORKFLOW", "Config", "Intervention", "Limits", "Prompts", "run"]

SEATS = ("A", "B", "judge", "filter", "friend")
RUBRIC = Rubric("arena/judge", subject="SIDE")


def run(config: Config, cast: Cast) -> Play:
    talk, turn = Talk(config, cast), 0
    while config.max_turns is None or turn < config.max_turns:
        turn += 1
        end = yield from _turn(talk, turn)
        if end:
            return end
    return End("max_turns")


def _turn(talk: Talk, turn: int) -> Generator[Any, Any, End | None]:
    yield Record(f"turn/{turn}", TurnStarted(turn=turn), turn=turn)
    for side in talk.config.order(talk.cast):
        end = yield from Go(talk, side, turn).play()
        if end is NEXT_TURN:
            break
        if end:
            return end
    if talk.config.judge:
        shown, seconds = talk.shown_to_judge(turn), talk.config.judge_seconds
        yield from judge_turn(f"turn/{turn}/judge", talk.cast, shown, RUBRIC, subjects=SPEAKERS, seconds=seconds)
    yield Record(f"turn/{turn}/completed", TurnCompleted(turn=turn), turn=turn)
    return (yield from _pause(talk, turn))


def _pause(talk: Talk, turn: int) -> Generator[Any, Any, End | None]:
    """After the last turn there is nothing to wait for."""
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
    subjects=SPEAKERS,
    judge=RUBRIC,
    flagged=SPEAKERS,
    records=RECORDS,
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
)
