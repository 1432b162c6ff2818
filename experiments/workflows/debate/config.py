"""How a debate is set up."""

from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import JudgedByInstrument

DEBATERS = ("A", "B", "C")
POOL = tuple(f"pool-{number}" for number in range(1, 6))
SEATS = ("refiner", *DEBATERS, "summarizer", *POOL, "judge")
LONGEST_TEXT = 100_000

Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]


class Config(JudgedByInstrument):
    """What is debated, and how. mode: whether a person is asked for the final prompt, the addendum and a second round;
    in automatic mode the final prompt is what the refiner made of the request, and `rounds` and `addendum` say the
    rest. refine: whether there is a refiner at all. blind: in the first round nobody sees the others' points. rotate:
    the second round begins with another debater. judge, instrument: whether what the debaters say and the summary are
    measured, and by what.
    """

    model_config = ConfigDict(extra="forbid")

    mode: Literal["manual", "automatic"] = "manual"
    prompt: Text
    refine: bool = True
    rounds: Annotated[int, Field(ge=1, le=2)] = 1
    addendum: Text = ""
    blind: bool = False
    rotate: bool = False
    limits: Limits = Limits()

    @model_validator(mode="after")
    def something_is_debated(self) -> Self:
        if not self.prompt.strip():
            raise ValueError("Write what is to be debated.")
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        return (*(["refiner"] if self.refine else []), *DEBATERS, "summarizer", *self.judges)

    def optional_seats(self) -> tuple[str, ...]:
        return POOL

    def summary(self) -> str:
        return self.prompt
