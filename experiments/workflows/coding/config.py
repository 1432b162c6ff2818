"""How a contest of coding is set up."""

from collections.abc import Collection, Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from experiments.workflows.base.limits import Limits
from experiments.workflows.base.measuring import ChosenSideBySide, JudgedByInstrument

LEAST_CODERS = 3
MOST_CODERS = 20
MOST_CYCLES = 200
SHOWN_TESTS = 5
LEAST_HIDDEN = 5
MOST_HIDDEN = 15
LONGEST_TOPIC = 2_000


def coder(number: int) -> str:
    """The seat of a model; numbers count from 1."""
    return f"coder-{number}"


CODERS = tuple(coder(number) for number in range(1, MOST_CODERS + 1))
SEATS = (*CODERS, "judge")


class Earlier(BaseModel):
    """A problem that was set before. title: empty where none is told. fingerprint: of `novelty.fingerprint`."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, StringConstraints(max_length=200)]
    fingerprint: list[int]


class Config(JudgedByInstrument):
    """By which rules models set each other problems.

    setters: "in_turn" each seat once and so on; "random" by the seed; "auto" in turn where the cycles are a multiple of
    the pool. topic: which kind of problems is asked for. quorum: votes that a solution needs to be rated.
    call_seconds: what each attempt at a model may take. judge, instrument: whether solutions are measured, and by what;
    it has no vote.
    """

    model_config = ConfigDict(extra="forbid")

    cycles: Annotated[int, Field(ge=1, le=MOST_CYCLES)] = 1
    setters: Literal["auto", "in_turn", "random"] = "auto"
    language: Literal["python"] = "python"
    topic: Annotated[str, StringConstraints(max_length=LONGEST_TOPIC)] = ""
    health_check: bool = True
    quorum: Annotated[int, Field(ge=1, le=MOST_CODERS - 1)] = 1
    call_seconds: Annotated[float, Field(ge=5, le=3600)] = 240
    test_seconds: Annotated[float, Field(ge=0.1, le=60)] = 5
    test_megabytes: Annotated[int, Field(ge=64, le=2048)] = 256
    limits: Limits = Limits()
    instrument: ChosenSideBySide | None = Field(None, validate_default=True)

    @model_validator(mode="after")
    def topic_is_words(self) -> Self:
        self.topic = self.topic.strip()
        return self

    def seats(self, named: Collection[str] = ()) -> tuple[str, ...]:
        """As many as the highest one that is named, and never fewer than three."""
        highest = max((number for number, seat in enumerate(CODERS, 1) if seat in named), default=0)
        return (*CODERS[: max(LEAST_CODERS, highest)], *self.judges)

    def optional_seats(self) -> tuple[str, ...]:
        return ()

    def faults_of_cast(self, models: Mapping[str, str]) -> dict[str, str]:
        """What is wrong with who is seated, by seat: `seated_twice` or `quorum_too_high`. models: by seat."""
        coders = {seat: model for seat, model in models.items() if seat in CODERS}
        first = {model: seat for seat, model in reversed(list(coders.items()))}
        if twice := [seat for seat, model in coders.items() if first[model] != seat]:
            return dict.fromkeys(twice, "seated_twice")
        return {next(iter(coders)): "quorum_too_high"} if self.quorum > len(coders) - 1 else {}

    def summary(self) -> str:
        return self.topic or "Coding contest"
