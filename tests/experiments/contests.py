"""Contests of coding that are really played: models that say what a test has written down, and a sandbox at work."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from experiments.engine.driver import Driver
from experiments.models import Run
from experiments.runs import actions
from experiments.sandbox.host import worker
from tests.experiments.deliberating import fresh
from tests.parts import stepped_engine

DIMENSIONS = ("correctness", "efficiency", "readability", "robustness", "explanation")
OPENINGS = {
    "You set a": "problem",
    "You solve a": "solution",
    "You judge a": "judgment",
    "Answer with the one": "health",
}
REFERENCE = "def spread(values):\n    return max(values) - min(values) if values else 0\n"
WRONG = "def spread(values):\n    return max(values) - values[0] if values else 0\n"
SHOWN = [([3, 1, 2], 2), ([5], 0), ([], 0), ([-4, 4], 8), ([7, 7, 9], 2)]
HIDDEN = [([10, 0], 10), ([1, 2, 3, 4], 3), ([-1, -5], 4), ([0, 0], 0), ([2, 9, 4], 7)]


def example(argument: Any, expected: Any) -> dict[str, str]:
    return {"input": json.dumps([argument]), "expected_output": json.dumps(expected)}


def problem(**changes: Any) -> dict[str, Any]:
    """A setter's answer, as JSON says it."""
    said = {
        "title": "Spread of readings",
        "description": "Given a list of whole numbers, return the largest less the smallest; 0 for an empty list.",
        "function_name": "spread",
        "comparison": "exact",
        "test_cases": [example(*pair) for pair in SHOWN],
        "hidden_test_cases": [example(*pair) for pair in HIDDEN],
        "evaluation_criteria": ["It handles the empty list."],
        "reference_solution": REFERENCE,
    }
    return {**said, **changes}


def solution(code: str = REFERENCE, explanation: str = "One pass each for both ends, O(n).") -> str:
    return json.dumps({"solution_code": code, "explanation": explanation})


def judgment(score: float = 7, **changes: Any) -> dict[str, Any]:
    scores = dict.fromkeys(DIMENSIONS, score)
    return {"scores": scores, "overall_score": score, "feedback": "Right. Short. Clear.", **changes}


def asked_for(body: dict[str, Any]) -> str:
    """What a request asks for: problem, solution, judgment or health; with "/repair" when it is asked again."""
    text = body["messages"][-1]["content"]
    found = next(kind for opening, kind in OPENINGS.items() if text.startswith(opening))
    return f"{found}/repair" if "[[reason " in text else found


def coder(**answers: Any) -> Callable[[dict[str, Any]], Any]:
    """A model that answers each kind of question with what is given: a text, JSON, a status, or a function of the
    request. What is not given it does as well as can be; a repair that is not given is what it said first.
    """
    known: dict[str, Any] = {"problem": problem(), "solution": solution(), "judgment": judgment(), "health": "ready"}

    def answer(body: dict[str, Any]) -> Any:
        kind = asked_for(body)
        said = answers.get(kind.replace("/", "_"), answers.get(kind.partition("/")[0], known[kind.partition("/")[0]]))
        said = said(body) if callable(said) else said
        return json.dumps(said) if isinstance(said, dict) else said

    return answer


def contest(owner: Any, models: list[str], **config: Any) -> Any:
    """An experiment with these models in seats coder-1 and so on."""
    cast = {f"coder-{number}": {"model": slug} for number, slug in enumerate(models, 1)}
    return actions.create(owner=owner, workflow="coding", config=config, cast=cast)


@contextmanager
def sandbox_at_work() -> Iterator[None]:
    """A worker that runs all that waits: the test needs a database that commits."""
    with stepped_engine.beside(lambda: worker.run_all(threading.Event()), 0.02):
        yield


def play(run: Run) -> Run:
    with sandbox_at_work():
        Driver(threading.Event()).drive(0.1)
    return fresh(run)
