"""What has been said so far, as each side sees it, and as the judge does."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from experiments.workflows.arena.config import SPEAKERS, Config, SpokenLine
from experiments.workflows.base.judge import TurnToJudge, as_shown
from experiments.workflows.base.prompts import fill, version
from experiments.workflows.base.steps import Cast, Prompt

PLACEHOLDER = "{MODEL}"
PROMPTS = ("arena/rules", "arena/begin", "arena/reply", "arena/think", "arena/manual", "arena/persona")


def prompt_version() -> str:
    return version(*PROMPTS)


@dataclass(slots=True)
class Said:
    """One message: as it was produced, as the other side sees it, and what its speaker alone was told before it. key:
    of its step.
    """

    key: str
    side: str
    turn: int
    raw: str
    text: str
    private: tuple[str, ...] = ()
    reasoning: str = ""


@dataclass(slots=True)
class Talk:
    """What has been said, who was skipped, and what the operator did, in words for the judge. line: of the script, for
    the turn that is next; place: of the one after it.
    """

    config: Config
    cast: Cast
    said: list[Said] = field(default_factory=list)
    skipped: set[tuple[int, str]] = field(default_factory=set)
    deeds: list[tuple[int, str]] = field(default_factory=list)
    line: SpokenLine | None = None
    place: int = 0

    def prompt_for(self, side: str, private: Sequence[str]) -> tuple[Prompt, ...]:
        """What `side` is asked: instructions and rules, the talk from its point of view, and a cue.

        A side sees its own words as it said them and the other's as the filter passed them on.
        """
        system = "\n\n".join((*self._opening(side), self.config.instructions(side), self._rules(side)))
        talk = [prompt for said in self.said for prompt in _seen(said, side)]
        return (Prompt("system", system), *talk, Prompt("user", "\n\n".join((*private, self._cue(side)))))

    def manual_prompt(self, side: str, private: Sequence[str]) -> str:
        """The same as one text, for an operator to read and to change: it is all that will be sent."""
        heading = "SCENARIO" if self.config.prompting == "shared" else "YOUR OWN INSTRUCTIONS"
        parts = (
            *self._opening(side),
            self._rules(side),
            f"{heading}\n{self.config.instructions(side)}",
            fill("arena/manual", history=self._history(side)) if self.said else "",
            *private,
            self._cue(side),
        )
        return "\n\n".join(part for part in parts if part)

    def lines(self, before: int) -> list[str]:
        return [f"Model {s.side}: {s.text}" for s in self.said if s.turn < before]

    def last_of(self, side: str) -> Said | None:
        return next((said for said in reversed(self.said) if said.side == side), None)

    def read_script(self, turn: int) -> None:
        """Finds the message of the script that follows `turn`: the first one whose condition holds."""
        script, said = self.config.script, [one for one in self.said if one.turn == turn]
        for number in range(self.place, len(script)):
            line = script[number]
            if line.applies(*(one.raw for one in said if line.is_for(one.side))):
                self.line, self.place = line, number + 1
                return
        self.line, self.place = None, len(script)

    def shown_to_judge(self, turn: int) -> TurnToJudge:
        sees = self.config.judge_sees_interventions
        thought = [said for said in self.said if said.reasoning and said.turn <= turn]
        return TurnToJudge(
            turn=turn,
            objectives={side: self.config.instructions(side) for side in SPEAKERS},
            history=[f"Model {said.side}: {self._shown(said)}" for said in self.said if said.turn < turn],
            messages={s.side: self._shown(s) for s in sorted(self.said, key=lambda s: s.side) if s.turn == turn},
            deeds=[deed for happened, deed in self.deeds if happened == turn] if sees else [],
            sees=self.config.judge_sees,
            reasoning={s.side: s.reasoning for s in thought if s.turn == turn}
            if self.config.judge_sees_reasoning
            else None,
            earlier_reasoning=[f"Model {s.side}, turn {s.turn}: {s.reasoning}" for s in thought if s.turn < turn],
        )

    def _shown(self, said: Said) -> str:
        return as_shown(said.raw, said.text, self.config.judge_sees)

    def _opening(self, side: str) -> list[str]:
        """The researcher's own opening and the persona of the side, where there are any."""
        seat = self.cast.seats.get(side)
        own = self.config.system_prompt.replace(PLACEHOLDER, side)
        persona = fill("arena/persona", persona=seat.persona) if seat and seat.persona else ""
        return [part for part in (own, persona) if part.strip()]

    def _rules(self, side: str) -> str:
        turns = self.config.max_turns
        length = f"{turns} turn{'s' if turns > 1 else ''}" if turns else "open length"
        return fill("arena/rules", **names(side), length=length)

    def _cue(self, side: str) -> str:
        cue = fill("arena/reply" if self.said else "arena/begin", **names(side))
        return f"{cue}\n\n{fill('arena/think')}" if self.config.elicit_thinking else cue

    def _history(self, side: str) -> str:
        return "\n\n".join(line for said in self.said for line in _heard(said, side))


def other(side: str) -> str:
    return "B" if side == "A" else "A"


def names(side: str) -> dict[str, str]:
    return {"name": f"Model {side}", "other": f"Model {other(side)}"}


def _seen(said: Said, side: str) -> list[Prompt]:
    if said.side != side:
        return [Prompt("user", said.text)]
    return [*(Prompt("user", told) for told in said.private), Prompt("assistant", said.raw)]


def _heard(said: Said, side: str) -> list[str]:
    if said.side != side:
        return [f"Model {said.side} said:\n{said.text}"]
    return [*said.private, f"You said:\n{said.raw}"]
