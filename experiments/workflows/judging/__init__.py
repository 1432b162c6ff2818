"""Judging: an existing transcript is scored again, by another judge or another rubric. The first scores are kept."""

from collections.abc import Collection, Generator
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments import workflows
from experiments.workflows.base.judge import (
    Rubric,
    Seconds,
    Sees,
    TurnToJudge,
    judge_turn,
)
from experiments.workflows.base.limits import Limits
from experiments.workflows.base.records import Record, TurnCompleted, TurnStarted
from experiments.workflows.base.steps import Cast, End, Play
from experiments.workflows.base.workflow import Workflow

SEATS = ("judge",)
SIDE_BY_SIDE = 8  # turns that are judged at the same time
LONGEST_RUBRIC = 20_000

Text = Annotated[str, StringConstraints(max_length=1_000_000)]


class Turn(BaseModel):
    """One turn as the judge is shown it. messages: by who said them; subjects without one said nothing. reasoning: what
    was thought before them, where the judge reads it.
    """

    model_config = ConfigDict(extra="forbid")

    turn: Annotated[int, Field(ge=1)]
    messages: dict[str, Text]
    reasoning: dict[str, Text] = {}
    deeds: list[Text] = []


class Config(BaseModel):
    """What is judged again, and by which rules. source: the run. rubric: "" for the workflow's own. judge_sees: which
    text of the messages stands in `turns`.
    """

    model_config = ConfigDict(extra="forbid")

    source: Annotated[str, StringConstraints(max_length=40)]
    workflow: Annotated[str, StringConstraints(max_length=20)]
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    subjects: Annotated[list[str], Field(min_length=1, max_length=30)]
    objectives: dict[str, Text]
    turns: Annotated[list[Turn], Field(max_length=10_000)]
    rubric: Annotated[str, StringConstraints(max_length=LONGEST_RUBRIC)] = ""
    judge_sees: Sees = "filtered"
    judge_sees_reasoning: bool = False
    judge_seconds: Seconds = None
    limits: Limits = Limits()
    max_turns: int | None = None

    @model_validator(mode="after")
    def something_was_said(self) -> Self:
        if not self.turns:
            raise ValueError("There is nothing to judge yet.")
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return ("judge",)

    def optional_seats(self) -> tuple[str, ...]:
        return ()

    def summary(self) -> str:
        return self.title


def run(config: Config, cast: Cast) -> Play:
    for first in range(0, len(config.turns), SIDE_BY_SIDE):
        places = range(first, min(first + SIDE_BY_SIDE, len(config.turns)))
        yield [_judge(config, cast, place) for place in places]
    return End("completed")


def _judge(config: Config, cast: Cast, place: int) -> Generator[Any, Any, None]:
    turn = config.turns[place]
    yield Record(f"turn/{turn.turn}", TurnStarted(turn=turn.turn), turn=turn.turn)
    spoke = tuple(subject for subject in config.subjects if subject in turn.messages)
    rubric = replace(workflows.workflow_of(config.workflow).judge or Rubric(), text=config.rubric)
    yield from judge_turn(
        f"turn/{turn.turn}/judge",
        cast,
        _shown(config, place, spoke),
        rubric,
        subjects=(*spoke, *(subject for subject in config.subjects if subject not in spoke)),
        seconds=config.judge_seconds,
    )
    yield Record(f"turn/{turn.turn}/completed", TurnCompleted(turn=turn.turn), turn=turn.turn)


def _shown(config: Config, place: int, spoke: tuple[str, ...]) -> TurnToJudge:
    turn = config.turns[place]
    history = [
        f"{_named(subject)}: {text}" for earlier in config.turns[:place] for subject, text in earlier.messages.items()
    ]
    return TurnToJudge(
        turn=turn.turn,
        objectives=config.objectives,
        history=history,
        messages=turn.messages,
        deeds=turn.deeds,
        subjects=spoke,
        sees=config.judge_sees,
        reasoning=turn.reasoning if config.judge_sees_reasoning else None,
        earlier_reasoning=[
            f"{_named(subject)}, turn {earlier.turn}: {thought}"
            for earlier in config.turns[:place]
            for subject, thought in earlier.reasoning.items()
        ],
    )


def _named(subject: str) -> str:
    return f"Model {subject}" if subject in {"A", "B"} else subject.capitalize()


WORKFLOW = Workflow(
    slug="judging",
    config=Config,
    seats=SEATS,
    run=run,
    place=5,
    scores_parent=True,
    subjects=("A", "B", "model"),
    surface=f"{__name__}.surface",
)
