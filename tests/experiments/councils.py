"""A council followed step by step without a model, and what its members may say."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from experiments.workflows import council
from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay
from experiments.workflows.base.steps import Ask, Cast, Listen, Outcome, Seat, Step
from experiments.workflows.council.config import Config

QUESTION = "Why is the sky blue in the middle of the day?"
OFFLINE = Outcome(ok=False, error_kind="overloaded", error="The provider is overloaded.")

Answering = Callable[[Ask], Outcome]


def cast(members: int = 3, *others: str, seed: int = 5, called: Mapping[str, tuple[str, ...]] = {}) -> Cast:
    seats = [*(f"member-{number}" for number in range(1, members + 1)), "chair", *others]
    return Cast({seat: Seat(seat, called=called.get(seat, ())) for seat in seats}, seed=seed)


def labels(step: Ask) -> list[str]:
    """The labels that a reviewer is asked to rank, in the order in which the answers are shown."""
    return list((step.schema or {})["properties"]["ranking"]["items"]["enum"])


def listed(order: list[str]) -> str:
    return "FINAL RANKING:\n" + "\n".join(f"{place}. {label}" for place, label in enumerate(order, 1))


def shown(step: Ask) -> dict[str, str]:
    """The answers in a reviewer's prompt, by label."""
    prompt = step.messages[-1].content
    return {
        label: prompt.split(f"[[{label.replace('Response ', 'response-')} ")[1].split("]]\n", 1)[1].split("\n[[/")[0]
        for label in labels(step)
    }


def well(step: Ask) -> Outcome:
    """Everybody answers; every reviewer prefers the answers of members with higher numbers."""
    if step.purpose == "review":
        answers = shown(step)
        return Outcome(text=f"All are fine.\n\n{listed(sorted(answers, key=answers.__getitem__, reverse=True))}")
    if step.purpose == "repair":
        return Outcome(text=json.dumps({"ranking": labels(step)}))
    if step.purpose == "title":
        return Outcome(text="“A blue sky”")
    if step.purpose == "conclusion":
        return Outcome(text=f"The council concludes: {step.key}.", finish_reason="stop")
    return Outcome(text=f"The answer of {step.seat}.", finish_reason="stop")


def but(replies: Mapping[str, Outcome | str]) -> Answering:
    """Like `well`, but what is asked under these keys is answered so."""

    def answer(step: Ask) -> Outcome:
        reply = replies.get(step.key, None)
        return well(step) if reply is None else Outcome(text=reply) if isinstance(reply, str) else reply

    return answer


class Steps:
    """What was asked and recorded, in order."""

    steps: list[Step]

    @property
    def keys(self) -> list[str]:
        return [step.key for step in self.steps]

    def asked(self, *purposes: str) -> list[Ask]:
        return [step for step in self.steps if isinstance(step, Ask) and step.purpose in purposes]

    def step(self, key: str) -> Any:
        [found] = [step for step in self.steps if step.key == key]
        return found

    def found(self, kind: str) -> list[Any]:
        return [step.data for step in self.steps if isinstance(step, Record) and step.kind == kind]


class Play(Steps):
    """A council played to its end, or until nothing is left to say to it."""

    def __init__(self, seats: Cast, answer: Answering = well, says: tuple[tuple[str, str], ...] = (), **config: object):
        asked = Config.model_validate({"question": QUESTION, "title": False, **config})
        self.steps: list[Step] = []
        self.end = None
        self._answer, self._says = answer, list(says)
        self._score = Replay(council.run(asked, seats), {})
        waiting = self._take(self._score.start())
        while waiting:
            step = waiting.pop(0)
            waiting += self._take(self._score.resolve(step.key, self._outcome(step)))

    def _take(self, todo) -> list[Step]:
        self.steps += todo.steps
        self.end = todo.end or self.end
        return [step for step in todo.steps if isinstance(step, Ask) or (isinstance(step, Listen) and self._says)]

    def _outcome(self, step: Step) -> Outcome:
        if isinstance(step, Ask):
            return self._answer(step)
        action, text = self._says.pop(0)
        assert action in step.actions
        return Outcome(text=text, action=action)

    def data(self, key: str) -> Mapping:
        return self.step(key).data

    def told(self, key: str) -> str:
        """The last message of what was asked under a key."""
        return self.step(key).messages[-1].content

    @property
    def offers(self) -> list[Listen]:
        return [step for step in self.steps if isinstance(step, Listen)]
