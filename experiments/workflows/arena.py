"""Arena: two models converse, one turn after the other; a filter passes on what is said, a judge scores each turn."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.filter import NOTHING_LEFT, filter_step, read_filter
from experiments.workflows.judge import TurnToJudge, judge_step, read_verdicts
from experiments.workflows.prompts import fill, version
from experiments.workflows.steps import Ask, Cast, End, Outcome, Play, Prompt, Record

SPEAKERS = ("A", "B")
SEATS = ("A", "B", "judge", "filter")
DEFAULT_PARAMS = {"temperature": 0.7, "max_tokens": 6144}
LONGEST_PROMPT = 100_000
UNLIMITED_SECONDS = 3600.0

PromptText = Annotated[str, StringConstraints(max_length=LONGEST_PROMPT)]


class Prompts(BaseModel):
    """Instructions of each side, where they differ."""

    model_config = ConfigDict(extra="forbid")

    A: PromptText
    B: PromptText


class Limits(BaseModel):
    """Hard limits of a run: tokens in all, seconds since its start, US dollars. None sets no limit."""

    model_config = ConfigDict(extra="forbid")

    tokens: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = None
    cost: Annotated[float, Field(gt=0, le=1_000_000)] | None = None


class Config(BaseModel):
    """How an arena experiment is played. max_turns None: no last turn, but a limit of time, an hour unless set."""

    model_config = ConfigDict(extra="forbid")

    mode: Literal["automatic"] = "automatic"
    prompting: Literal["shared", "individual"] = "shared"
    prompt: PromptText = ""
    prompts: Prompts | None = None
    max_turns: Annotated[int, Field(ge=1, le=100)] | None = 5
    first: Literal["A", "B"] = "A"
    filter: bool = True
    judge: bool = True
    limits: Limits = Limits()
    gap_seconds: Annotated[float, Field(ge=0, le=60)] = 2.0

    @model_validator(mode="after")
    def instructions_are_given(self) -> Self:
        if self.prompting == "shared" and not self.prompt.strip():
            raise ValueError("The prompt is empty: write what the two models are to talk about.")
        if self.prompting == "individual":
            missing = [side for side in SPEAKERS if not (self.prompts and getattr(self.prompts, side).strip())]
            if missing:
                raise ValueError(f"The instructions for Model {' and Model '.join(missing)} are empty.")
        if self.max_turns is None and self.limits.seconds is None:
            self.limits = self.limits.model_copy(update={"seconds": UNLIMITED_SECONDS})
        return self

    @property
    def order(self) -> tuple[str, str]:
        return ("A", "B") if self.first == "A" else ("B", "A")

    def seats(self) -> tuple[str, ...]:
        """The seats that have to be taken."""
        return (*SPEAKERS, *(["judge"] if self.judge else []), *(["filter"] if self.filter else []))

    def instructions(self, side: str) -> str:
        return str(getattr(self.prompts, side)) if self.prompting == "individual" else self.prompt

    def calls_per_turn(self) -> int:
        return 2 + 2 * self.filter + self.judge


@dataclass(slots=True)
class Said:
    """One message of the talk: as it was produced, and as the other side sees it."""

    side: str
    turn: int
    raw: str
    text: str


@dataclass(slots=True)
class Talk:
    """What has been said so far."""

    config: Config
    cast: Cast
    said: list[Said] = field(default_factory=list)

    def prompt_for(self, side: str) -> tuple[Prompt, ...]:
        """What `side` is asked: instructions and rules, the talk from its point of view, and a cue.

        A side sees its own words as it said them and the other's as the filter passed them on.
        """
        other = "B" if side == "A" else "A"
        names = {"name": f"Model {side}", "other": f"Model {other}"}
        turns = self.config.max_turns
        rules = fill("arena_rules", **names, length=f"{turns} turns" if turns else "open length")
        talk = [Prompt("assistant", s.raw) if s.side == side else Prompt("user", s.text) for s in self.said]
        cue = fill("arena_reply" if self.said else "arena_begin", **names)
        return (Prompt("system", f"{self.config.instructions(side)}\n\n{rules}"), *talk, Prompt("user", cue))

    def lines(self, before: int) -> list[str]:
        return [f"Model {s.side}: {s.text}" for s in self.said if s.turn < before]

    def shown_to_judge(self, turn: int) -> TurnToJudge:
        return TurnToJudge(
            turn=turn,
            objectives={side: self.config.instructions(side) for side in SPEAKERS},
            history="\n\n".join(self.lines(before=turn)),
            messages={s.side: s.text for s in sorted(self.said, key=lambda s: s.side) if s.turn == turn},
        )


def run(config: Config, cast: Cast) -> Play:
    talk = Talk(config, cast)
    for turn in _turns(config.max_turns):
        yield Record(f"turn/{turn}", "turn_started", {"turn": turn}, turn=turn)
        for side in config.order:
            problem = yield from _speak(talk, side, turn)
            if problem:
                return problem
        if config.judge:
            yield from _judge(talk, turn)
        yield Record(f"turn/{turn}/completed", "turn_completed", {"turn": turn}, turn=turn)
    return End("max_turns")


def _turns(max_turns: int | None) -> Iterator[int]:
    return iter(range(1, max_turns + 1)) if max_turns else count(1)


def _speak(talk: Talk, side: str, turn: int) -> Any:
    key = f"turn/{turn}/{side}"
    starts_turn = side == talk.config.order[0]
    reply: Outcome = yield Ask(
        key=key,
        seat=side,
        turn=turn,
        messages=talk.prompt_for(side),
        params=DEFAULT_PARAMS,
        prompt_version=version("arena_rules", "arena_begin", "arena_reply"),
        delay=talk.config.gap_seconds if starts_turn and turn > 1 else 0.0,
    )
    if not reply.ok:
        return End(reply.error_kind, failed=True, message=f"Model {side} gave no answer in turn {turn}. {reply.error}")
    text = reply.text if reply.text.strip() else NOTHING_LEFT
    if talk.config.filter and reply.text.strip():
        text = yield from _filter(talk, key, side, turn, reply.text)
    talk.said.append(Said(side, turn, reply.text or NOTHING_LEFT, text))
    return None


def _filter(talk: Talk, key: str, side: str, turn: int, original: str) -> Any:
    context = talk.lines(before=turn + 1)
    outcome = yield filter_step(f"{key}/filter", talk.cast, f"Model {side}", original, context, turn)
    filtered = read_filter(outcome, original)
    yield Record(
        f"{key}/filtered",
        "message_filtered",
        {"message": key, "text": filtered.text, "filter": filtered.details},
        turn=turn,
        source=f"{key}/filter",
    )
    return filtered.text


def _judge(talk: Talk, turn: int) -> Any:
    key = f"turn/{turn}/judge"
    yield Record(f"{key}/started", "judge_evaluation_started", {"turn": turn}, turn=turn)
    outcome = yield judge_step(key, talk.cast, talk.shown_to_judge(turn))
    verdicts, dynamics = read_verdicts(outcome)
    yield Record(
        f"{key}/completed",
        "judge_evaluation_completed",
        {"turn": turn, "judgments": [verdict.data for verdict in verdicts], "dynamics": dynamics},
        turn=turn,
        source=key,
    )
