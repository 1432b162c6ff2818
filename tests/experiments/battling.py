"""Battles followed step by step without a model: a script answers what the workflow asks."""

import json
from collections.abc import Callable
from typing import Any

from experiments.workflows import battles
from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay
from experiments.workflows.base.steps import Ask, Cast, End, Outcome, Seat
from experiments.workflows.battles.config import Config

CRITERIA = ("helpfulness", "accuracy", "completeness", "clarity")
BUSY = Outcome(ok=False, error_kind="rate_limited", error="The provider is busy.")
DOWN = Outcome(ok=False, error_kind="overloaded", error="The provider is down.")
BAD_KEY = Outcome(ok=False, error_kind="bad_key", error="The key is not accepted.")
TALK = Outcome(text="Both have their merits.")

Answers = Callable[[Ask], Outcome]


def reply(winner: Any, **changes: Any) -> str:
    """A judge's answer in the form that was asked for. Changes of ... leave something out."""
    scores = {label: dict.fromkeys(CRITERIA, score) for label, score in (("A", 7), ("B", 4))}
    whole = {"rationale": "It says more.", "scores": scores, "winner": winner, "confidence": 0.8} | changes
    return json.dumps({name: value for name, value in whole.items() if value is not ...}, ensure_ascii=False)


def says(winner: Any, **changes: Any) -> Outcome:
    return Outcome(text=reply(winner, **changes))


def cast(*seats: str, seed: int = 7) -> Cast:
    return Cast({seat: Seat(seat, called=(f"lab/{seat}",)) for seat in seats or ("judge",)}, seed)


def tasks(count: int) -> list[dict[str, int]]:
    return [{"sample": number, "left": 1, "right": 2} for number in range(1, count + 1)]


def config(**changes: Any) -> Config:
    return Config.model_validate({"dataset": "poems", "prompt": "text_quality", "tasks": tasks(1)} | changes)


class Play:
    """A run of battles whose asks are answered in the order in which they were asked, the oldest first."""

    def __init__(
        self, answers: Answers, seated: Cast | None = None, recorded: dict[str, Outcome] | None = None, **changes: Any
    ) -> None:
        self.asked: list[Ask] = []
        self.facts: dict[str, dict[str, Any]] = {}
        self.end: End | None = None
        self.most_at_once = 0
        self.outcomes: dict[str, Outcome] = {}
        replay = Replay(battles.run(config(**changes), seated or cast()), recorded or {})
        waiting: list[Ask] = []
        self._take(replay.start(), waiting)
        while waiting and self.end is None:
            self.most_at_once = max(self.most_at_once, len(waiting))
            ask = waiting.pop(0)
            self.outcomes[ask.key] = answers(ask)
            self._take(replay.resolve(ask.key, self.outcomes[ask.key]), waiting)

    def _take(self, todo: Any, waiting: list[Ask]) -> None:
        for step in todo.steps:
            if isinstance(step, Ask):
                self.asked.append(step)
                waiting.append(step)
            elif isinstance(step, Record):
                self.facts[step.key] = dict(step.data)
        self.end = todo.end or self.end

    @property
    def keys(self) -> list[str]:
        return [ask.key for ask in self.asked]

    @property
    def battle(self) -> dict[str, Any]:
        [fact] = self.facts.values()
        return fact


def by_order(original: Outcome, swapped: Outcome) -> Answers:
    return lambda ask: swapped if "/swapped" in ask.key else original
