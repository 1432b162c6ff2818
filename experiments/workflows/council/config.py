"""How a council is set up."""

from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import ChosenSideBySide, JudgedByInstrument
from experiments.workflows.base.script import Script, Text, refuse_more_lines_than

MOST_MEMBERS = 30
LEAST_MEMBERS = 2
CHAIRS = ("chair", "chair-2", "chair-3")


def member(number: int) -> str:
    """The seat of a member; numbers count from 1."""
    return f"member-{number}"


MEMBERS = tuple(member(number) for number in range(1, MOST_MEMBERS + 1))
SEATS = (*MEMBERS, *CHAIRS, "title", "judge")


class Config(JudgedByInstrument):
    """What a council is asked, and by which rules it answers. system_prompt: what every member is told before the
    question, no system message at all when blank. criteria: by what reviewers rank, beside what their prompt says.
    own_answers: whether a reviewer ranks its own answer, too. truncated: whether an answer that was cut off at the
    token limit takes part in the ranking. title: whether a title is found beside the first question. script: further
    questions, each under a condition on the conclusion before it; people may ask more after it. max_turns: questions at
    most; None, as many as are asked. judge, instrument: whether the answers and conclusions are measured, and by what.
    """

    model_config = ConfigDict(extra="forbid")

    question: Text
    system_prompt: Text = ""
    criteria: Text = ""
    own_answers: Literal["excluded", "included"] = "excluded"
    truncated: Literal["eligible", "left_out"] = "eligible"
    title: bool = True
    script: Script = []
    limits: Limits = Limits()
    max_turns: Annotated[int, Field(ge=1, le=1000)] | None = None
    instrument: ChosenSideBySide | None = Field(None, validate_default=True)

    @model_validator(mode="after")
    def something_is_asked(self) -> Self:
        if not self.question.strip():
            raise ValueError("Write the question for the council.")
        refuse_more_lines_than(self.max_turns and self.max_turns - 1, self.script)
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        """As many members as the highest one that is named, and a chair."""
        highest = max((number for number, seat in enumerate(MEMBERS, 1) if seat in named), default=0)
        return (*MEMBERS[: max(LEAST_MEMBERS, highest)], "chair", *self.judges)

    def optional_seats(self) -> tuple[str, ...]:
        return (*CHAIRS[1:], "title")

    def summary(self) -> str:
        return self.question
