"""The questions of battles as instruments for pairs, and such an instrument as what battles are judged by.

A built-in judge prompt is the one source of its instrument's words. A copy of the instrument can say anything else;
the form of its reply stays: who wins, and scales of the first and of the second response.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from pydantic import field_validator

from experiments.workflows.base.instruments import (
    Categories,
    Definition,
    ScaleDimension,
    prompt_parts,
    read_reply,
    reply_schema,
)
from experiments.workflows.base.material import Sees, Unit
from experiments.workflows.base.measuring import Instrument
from experiments.workflows.base.rubrics import Choice
from experiments.workflows.base.steps import Outcome
from experiments.workflows.battles.judge_prompt import GUARD, JudgePrompt, Parts, Shown, decision
from experiments.workflows.battles.reading import HIGH, LOW, Judged
from experiments.workflows.battles.words import Choice as Winner

WINNER = "winner"
WINNERS: dict[str, Winner] = {"a": "first", "b": "second", "tie": "tie"}
SIDES: dict[str, Winner] = {"a_": "first", "b_": "second"}  # how the names of scales begin, and whose they are
ASKED = """{rules}

Two responses are shown after each other. The earlier one is Response A, the later one Response B.

$material

Score each response by itself, then decide. {decision}
$dimensions

$form"""


def definition_of(prompt: JudgePrompt) -> Definition:
    """The instrument that asks two messages in a row what the prompt asks of two outputs."""
    scales = [
        ScaleDimension(
            name=f"{side}{name}",
            title=f"Response {side[0].upper()}: {name.replace('_', ' ')}",
            description=words,
            low=LOW,
            high=HIGH,
            step=1,
            anchors={str(LOW): "fails", str(HIGH): "could not be better"},
        )
        for side in SIDES
        for name, words in prompt.criteria.items()
    ]
    titles = {"a": "Response A", "b": "Response B"} | ({"tie": "neither is better"} if prompt.allows_tie else {})
    choices = [Choice(name=name, title=title) for name, title in titles.items()]
    winner = Categories(name=WINNER, title="Winner", description="Which response is better.", choices=choices)
    rules, decided = (text.strip().replace("$", "$$") for text in (prompt.rules, decision(prompt.allows_tie)))
    asked = ASKED.format(rules=rules, decision=decided)
    return Definition(dimensions=[*scales, winner], unit="pair", sees=Sees(earlier=0), prompt=asked)


def fault_of(definition: Definition) -> str:
    """Why it cannot judge battles; "" where it can."""
    winner, *others = sorted(definition.dimensions, key=lambda one: one.name != WINNER)
    choices = winner.names if isinstance(winner, Categories) and winner.name == WINNER and not winner.multiple else []
    if definition.unit != "pair" or not {"a", "b"} <= set(choices) <= set(WINNERS):
        return "Battles need an instrument for pairs with the categories “winner”: a, b and, if you like, tie."
    if not all(isinstance(one, ScaleDimension) and one.name[:2] in SIDES for one in others):
        return "Beside “winner”, an instrument for battles has scales whose names begin with a_ or b_."
    return ""


class OfBattles(Instrument):
    """The instrument by which battles are judged."""

    UNITS: ClassVar[tuple[Unit, ...]] = ("pair",)

    @field_validator("definition", mode="after")
    @classmethod
    def _can_judge_battles(cls, definition: Definition) -> Definition:
        if fault := fault_of(definition):
            raise ValueError(fault)
        return definition

    @property
    def called(self) -> str:
        """In the place of a judge prompt's name."""
        return f"instrument: {self.title}"[:80]


@dataclass(frozen=True)
class InstrumentPrompt(JudgePrompt):
    """Battles by an instrument: its own words around the same fences, and its own form of the reply."""

    definition: Definition

    @classmethod
    def of(cls, name: str, title: str, definition: Definition) -> "InstrumentPrompt":
        winner: Any = definition.by_name[WINNER]
        return cls(
            name=name,
            title=title,
            description="",
            modalities=("text", "image"),
            allows_tie="tie" in winner.names,
            criteria={},
            rules="",
            definition=definition,
        )

    @cached_property
    def schema(self) -> dict[str, object]:
        return reply_schema(self.definition, ())

    def parts(self, shown: Shown) -> Parts:
        before, after = prompt_parts(self.definition, ())
        beginning, *material, ending = self.material(shown)
        guard = GUARD.format(token=shown.token)
        return (f"{before}{guard}{beginning}", *material, f"{ending}{after}")

    def read(self, text: str) -> Judged:
        [reply] = read_reply(self.definition, (), Outcome(text=text))
        found = {one.dimension: one for one in reply.measured}
        winner = found.pop(WINNER)
        scores: dict[str, dict[str, float]] = {"first": {}, "second": {}}
        for name, one in found.items():
            if isinstance(one.value, int | float):
                scores[SIDES[name[:2]]][name[2:]] = float(one.value)
        return Judged(
            winner=WINNERS[str(winner.value)] if winner.value is not None else None,
            scores=scores if any(scores.values()) else None,
            confidence=reply.confidence,
            rationale=reply.notes,
            unread_reason=f"The verdict could not be read: {winner.unscored_reason}" if winner.value is None else "",
            absent=tuple(f"{name}: {one.unscored_reason}" for name, one in found.items() if one.value is None),
        )
