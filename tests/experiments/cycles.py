"""Contests followed step by step, without models and without a sandbox: what both would say is written down."""

import json
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from experiments.workflows import coding
from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay
from experiments.workflows.base.steps import Ask, Cast, End, Execute, Outcome, Seat, Step
from experiments.workflows.coding.config import Config
from tests.experiments import contests
from tests.experiments.councils import Steps

OFFLINE = Outcome(ok=False, error_kind="overloaded", error="The provider is overloaded.")
LIMITED = Outcome(ok=False, error_kind="rate_limited", error="The provider asks to wait.")
BAD_KEY = Outcome(ok=False, error_kind="bad_key", error="The provider refuses the key.")
NO_SANDBOX = Outcome(ok=False, error_kind="sandbox_unavailable", error="Nothing keeps code apart here.")
SANDBOX_FAILED = Outcome(ok=False, error_kind="sandbox_failed", error="The sandbox failed.")
GARBAGE = Outcome(text="I would rather talk about the weather.")

Answering = Callable[[Step], Outcome]
Reply = Outcome | str | dict[str, Any] | Callable[[Step], Outcome]


def cast(coders: int = 3, *, seed: int = 5, called: Mapping[str, tuple[str, ...]] = {}) -> Cast:
    seats = [f"coder-{number}" for number in range(1, coders + 1)]
    return Cast({seat: Seat(seat, called=called.get(seat, ())) for seat in seats}, seed=seed)


def problem(number: int, **changes: Any) -> dict[str, Any]:
    """A problem that has little in common with those of other numbers, in words; its tests are the same."""
    draw = random.Random(f"problem {number}")
    words = " ".join("".join(draw.choices("abcdefghijkl", k=6)) for _word in range(60))
    return contests.problem(title=f"Task {number}", description=words, **changes)


def ran(step: Execute, verdicts: Sequence[str] = (), *, complaint: str = "", **of_all: Any) -> Outcome:
    """What the sandbox found: the verdicts in order, and "passed" for the tests after them."""
    told = ["not_run"] * len(step.tests) if complaint else [*verdicts, *["passed"] * len(step.tests)]
    results = [_result(test, verdict, **of_all) for test, verdict in zip(step.tests, told, strict=False)]
    return Outcome(found={"results": results, "complaint": complaint, "backend": "namespaces", "is_unsafe": False})


def _result(test: Mapping[str, Any], verdict: str, **more: Any) -> dict[str, Any]:
    value = {"passed": test["expected"], "failed": "something else"}.get(verdict)
    error = "ValueError: no" if verdict == "error" else ""
    has_value = verdict in ("passed", "failed")
    return {"name": test["name"], "verdict": verdict, "value": value, "has_value": has_value, "error": error, **more}


def well(step: Step) -> Outcome:
    """Problems are good, solutions right, judges kind; programs that ought to fail do."""
    if isinstance(step, Execute):
        is_other = step.purpose == "check" and not step.key.rpartition("/")[2].startswith("reference")
        return ran(step, ["failed"] if is_other else [])
    assert isinstance(step, Ask)
    said: dict[str, Any] = {
        "problem": lambda: problem(step.turn or 0),
        "solution": lambda: json.loads(contests.solution(explanation=f"By {step.seat}.")),
        "judge": contests.judgment,
        "repair": contests.judgment,
    }
    return Outcome(text="ready" if step.purpose == "health" else json.dumps(said[step.purpose]()))


def but(replies: Mapping[str, Reply]) -> Answering:
    """Like `well`, but what stands under these keys is answered so; a key that ends with * names all that begin so."""

    def answer(step: Step) -> Outcome:
        starts = (key for key in replies if key.endswith("*") and step.key.startswith(key[:-1]))
        key = step.key if step.key in replies else next(starts, "")
        reply = replies[key] if key else well
        if isinstance(reply, Outcome):
            return reply
        if callable(reply):
            return reply(step)
        return Outcome(text=reply if isinstance(reply, str) else json.dumps(reply))

    return answer


class Play(Steps):
    """A contest played until `stop_after` answers were given, or to its end.

    order: draws which of the steps under way is answered next; without, the one that was begun first is. recorded: of
    an earlier Play. outcomes: all that was answered, by key, for the next one.
    """

    def __init__(
        self,
        seats: Cast,
        answer: Answering = well,
        *,
        order: random.Random | None = None,
        recorded: Mapping[str, Outcome] = {},
        stop_after: int | None = None,
        **config: Any,
    ) -> None:
        self.steps: list[Step] = []
        self.answered: list[str] = []
        self.end: End | None = None
        self.outcomes: dict[str, Outcome] = dict(recorded)
        self.replay = Replay(coding.run(Config.model_validate(config), seats), recorded, set(recorded))
        self.waiting = self._take(self.replay.start())
        self.taken_up = [step.key for step in self.waiting]
        while self.waiting and len(self.answered) != stop_after:
            self.give(self.waiting[order.randrange(len(self.waiting)) if order else 0].key, answer)

    def give(self, key: str, answer: Answering = well) -> None:
        [step] = [step for step in self.waiting if step.key == key]
        self.waiting.remove(step)
        self.outcomes[key] = answer(step)
        self.answered.append(key)
        self.waiting += self._take(self.replay.resolve(key, self.outcomes[key]))

    def _take(self, todo: Any) -> list[Step]:
        self.steps += todo.steps
        self.end = todo.end or self.end
        self.outcomes |= {step.key: Outcome() for step in todo.steps if isinstance(step, Record)}
        return [step for step in todo.steps if not isinstance(step, Record)]

    def told(self, key: str) -> str:
        """The prompt of what was asked under a key."""
        [prompt] = self.step(key).messages
        return str(prompt.content)

    def open(self) -> Collection[str]:
        return [step.key for step in self.waiting]


def one_cycle(answer: Answering = well, coders: int = 3, **config: Any) -> Play:
    """A cycle of models that all take part, set by the first of them."""
    config = {"health_check": False, "setters": "in_turn", **config}
    recorded = config.pop("recorded", {})
    return Play(cast(coders, called=config.pop("called", {})), answer, recorded=recorded, **config)
