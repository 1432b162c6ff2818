"""How a debate is set up."""

from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import JudgedByInstrument
from experiments.workflows.base.script import Script, Text, refuse_more_lines_than

DEBATERS = ("A", "B", "C")
POOL = tuple(f"pool-{number}" for number in range(1, 6))
SEATS = ("refiner", *DEBATERS, "summarizer", *POOL, "judge")
LAST_ROUND = 2


class Config(JudgedByInstrument):
    """What is debated, and how. mode: whether a person is asked for the final prompt, the addendum and a second round;
    in automatic mode the final prompt is what the refiner made of the request, and `rounds` and `addendum` or
    `script` say the rest. script: what is said after a round, each message under a condition on what was said in
    it; a person finds it where they would write. refine: whether there is a refiner at all. blind: in the first
    round nobody sees the others' points. rotate: the second round begins with another debater. judge, instrument:
    whether what the debaters say and the summary are measured, and by what.
    """

    model_config = ConfigDict(extra="forbid")

    mode: Literal["manual", "automatic"] = "manual"
    prompt: Text
    refine: bool = True
    rounds: Annotated[int, Field(ge=1, le=LAST_ROUND)] = 1
    addendum: Text = ""
    script: Script = []
    blind: bool = False
    rotate: bool = False
    limits: Limits = Limits()

    @model_validator(mode="after")
    def something_is_debated(self) -> Self:
        if not self.prompt.strip():
            raise ValueError("Write what is to be debated.")
        if self.script and self.addendum.strip():
            raise ValueError("Write the addendum as the first message of the script.")
        refuse_more_lines_than(self.rounds if self.mode == "automatic" else LAST_ROUND, self.script)
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return (*(["refiner"] if self.refine else []), *DEBATERS, "summarizer", *self.judges)

    def optional_seats(self) -> tuple[str, ...]:
        return POOL

    def summary(self) -> str:
        return self.prompt
