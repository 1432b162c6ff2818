"""How an arena experiment is set up."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.judge import SECONDS, STORED_WITHOUT, Seconds, Sees
from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import Chosen
from experiments.workflows.base.script import LONGEST_SCRIPT, Line, refuse_more_lines_than
from experiments.workflows.base.steps import Cast

Side = Literal["A", "B"]
SPEAKERS: tuple[Side, Side] = ("A", "B")
LONGEST_PROMPT = 100_000
UNLIMITED_SECONDS = 3600.0
MOST_INTERVENTIONS = 100

PromptText = Annotated[str, StringConstraints(max_length=LONGEST_PROMPT)]


class Prompts(BaseModel):
    """Instructions of each side, where they differ."""

    model_config = ConfigDict(extra="forbid")

    A: PromptText
    B: PromptText


class Intervention(BaseModel):
    """What is planned to happen to `side` before it speaks in `turn`.

    friend: another model is asked `text` in private, and only this side reads the answer. note: an instruction that
    only this side reads. alter: what the other side said last is replaced by `text`, for this side.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal["friend", "note", "alter"]
    side: Side
    turn: Annotated[int, Field(ge=1, le=1000)]
    text: PromptText

    @model_validator(mode="after")
    def something_is_said(self) -> Self:
        if not self.text.strip():
            raise ValueError("The text of the intervention is empty.")
        return self


class SpokenLine(Line):
    """A message of the script that one side reads, or both, before they speak in the next turn. Its condition is on
    what those said whom it is for.
    """

    to: Literal["both", "A", "B"] = "both"

    def is_for(self, side: str) -> bool:
        return self.to in ("both", side)


class Config(BaseModel):
    """How an arena experiment is played. script: what is said to the sides between turns, at most one message each.
    max_turns None: no last turn, but in automatic mode a limit of time, an hour unless set. counterbalance: who begins
    alternates with the seed, so that successive repeats take turns. judge_seconds: for each of the judge's two
    attempts, after which a turn goes on without scores. instrument: what the judge measures, by its own prompt and
    limits, instead of the usual scores; what it sees is said there, too.
    """

    STORED_WITHOUT: ClassVar[Mapping[str, Any]] = STORED_WITHOUT
    model_config = ConfigDict(extra="forbid")

    mode: Literal["automatic", "manual"] = "automatic"
    prompting: Literal["shared", "individual"] = "shared"
    prompt: PromptText = ""
    prompts: Prompts | None = None
    system_prompt: PromptText = ""
    max_turns: Annotated[int, Field(ge=1, le=100)] | None = 5
    first: Side = "A"
    counterbalance: bool = False
    filter: bool = True
    judge: bool = True
    instrument: Chosen | None = None
    judge_sees: Sees = "original"
    judge_sees_reasoning: bool = True
    judge_sees_interventions: bool = True
    judge_seconds: Seconds = SECONDS
    elicit_thinking: bool = False
    logprobs: bool = False
    auto_advance: bool = False
    when_empty: Literal["placeholder", "pause", "stop"] = "placeholder"
    interventions: Annotated[list[Intervention], Field(max_length=MOST_INTERVENTIONS)] = []
    script: Annotated[list[SpokenLine], Field(max_length=LONGEST_SCRIPT)] = []
    limits: Limits = Limits()
    gap_seconds: Annotated[float, Field(ge=0, le=60)] = 2.0

    @model_validator(mode="after")
    def instructions_are_given(self) -> Self:
        if self.prompting == "shared" and not self.prompt.strip():
            raise ValueError("The prompt is empty. Write what the two models should talk about.")
        if self.prompting == "individual":
            missing = [side for side in SPEAKERS if not (self.prompts and getattr(self.prompts, side).strip())]
            if missing:
                raise ValueError(f"The instructions for Model {' and Model '.join(missing)} are empty.")
        refuse_more_lines_than(self.max_turns and self.max_turns - 1, self.script)
        if self.max_turns is None and self.limits.seconds is None and self.mode == "automatic":
            self.limits = self.limits.model_copy(update={"seconds": UNLIMITED_SECONDS})
        return self

    def order(self, cast: Cast) -> tuple[Side, Side]:
        """Who speaks first in each turn, and who second."""
        is_swapped = (self.first == "B") != (self.counterbalance and cast.seed % 2 == 1)
        return ("B", "A") if is_swapped else ("A", "B")

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        """The seats that have to be taken."""
        has_friend = any(planned.kind == "friend" for planned in self.interventions)
        wanted = {"judge": self.judge, "filter": self.filter, "friend": has_friend}
        return (*SPEAKERS, *(seat for seat, is_wanted in wanted.items() if is_wanted))

    def optional_seats(self) -> tuple[str, ...]:
        """Seats that may be taken beside those: in manual mode a friend can be asked at any pause."""
        return ("friend",)

    def instructions(self, side: str) -> str:
        return str(getattr(self.prompts, side)) if self.prompting == "individual" else self.prompt

    def objectives(self) -> dict[str, str]:
        """What the judge is told that each subject is to do."""
        return {side: self.instructions(side) for side in SPEAKERS}

    def summary(self) -> str:
        return self.instructions("A")

    def planned(self, side: str, turn: int) -> list[Intervention]:
        return [planned for planned in self.interventions if (planned.side, planned.turn) == (side, turn)]

    def sampling(self) -> Mapping[str, object]:
        """What the two sides are asked with, unless their seats say otherwise."""
        return DEFAULT_PARAMS | ({"top_logprobs": TOP_LOGPROBS} if self.logprobs else {})


DEFAULT_PARAMS = {"temperature": 0.7, "max_tokens": 6144}
TOP_LOGPROBS = 5
