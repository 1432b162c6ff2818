"""Which part of a contest of coding a prompt asks for, told by its schema or by its fences and words."""

import re
from typing import Any, Final

from experiments.gateway.simulated.coding.judge import DIMENSIONS, judgment_values
from experiments.gateway.simulated.coding.setter import problem_values
from experiments.gateway.simulated.coding.solver import solution_values
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.schema import Schema

_HEALTH: Final = re.compile(r"\A\s*Answer with the one word: (\w+)\s*\Z")
_PROPERTIES: Final = {
    "problem": {"test_cases", "hidden_test_cases", "reference_solution"},
    "solution": {"solution_code", "explanation"},
    "judge": {"scores", "overall_score", "feedback"},
}
_WORDS: Final = {
    "problem": re.compile(r"\bYou set a programming problem\b"),
    "solution": re.compile(r"\bYou solve a programming problem\b"),
    "judge": re.compile(r"\bYou judge a solution\b"),
}
_NO_JSON: Final = {
    "problem": "I have a problem in mind, about trains that meet in a tunnel, but I would rather not write it down.",
    "solution": "One would sort the input and then go through it once, taking care of the special cases on the way.",
    "judge": "A decent piece of work all in all; I would not put a number on it.",
}


def health_word(prompt: Prompt) -> str:
    """The one word that a health check asks for; empty when the prompt is none."""
    match = _HEALTH.match(prompt.messages[-1][1])
    return match[1] if match else ""


def part_of(schema: Schema | None, prompt: Prompt) -> str:
    """problem, solution or judge; empty for everything else."""
    if schema is not None:
        asked = set(schema.get("properties", {}))
        found = next((part for part, needed in _PROPERTIES.items() if needed <= asked), "")
        return found if found != "judge" or _is_judged(prompt, schema) else ""
    return next((part for part, words in _WORDS.items() if words.search(prompt.instructions)), "")


def _is_judged(prompt: Prompt, schema: Schema) -> bool:
    scores = schema["properties"]["scores"].get("properties", {})
    return {"problem", "solution"} <= set(prompt.fences) or set(DIMENSIONS) <= set(scores)


def values_of(part: str, prompt: Prompt, behaviour: Behaviour, seed: int) -> Any:
    """The value of the answer, a JSON object unless the model's name asks for something else."""
    if part == "problem":
        return problem_values(prompt, behaviour, seed)
    if part == "solution":
        return solution_values(prompt, behaviour, seed)
    return judgment_values(prompt, behaviour, seed)


def garbage_of(part: str, behaviour: Behaviour) -> str:
    """What a model says that gives no JSON at all; empty when it gives some."""
    manner = {"problem": behaviour.problem, "solution": behaviour.solution, "judge": behaviour.judge}[part]
    return _NO_JSON[part] if manner == "garbage" else ""
