"""Sets a problem: one from the bank that was not set before and is of the kind that was asked for."""

import json
import re
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.coding.bank import (
    Problem,
    Test,
    difficulty_of,
    find_problem,
    load_problem,
    problem_names,
    tags_of,
    title_of,
)
from experiments.gateway.simulated.coding.strength import strength_of
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.prompt import Prompt

_SHOWN: Final = re.compile(r"exactly (\d+) tests that solvers are shown")
_UNWANTED: Final = re.compile(
    r"\b(?:no|not|without|except|avoid|exclude|excluding|never|nothing)\b[^.;\n]*", re.IGNORECASE
)
_TRY_ANOTHER: Final = re.compile(r"repeats an earlier problem|too weak")
_TITLE: Final = re.compile(r'"title"\s*:\s*("(?:[^"\\]|\\.)*")')
_TEMPTING: Final = 0.6  # the difficulty that separates solvers best; a strong setter comes near it
_WEAK_RESULT: Final = 0


def problem_values(prompt: Prompt, behaviour: Behaviour, seed: int) -> dict[str, Any]:
    """{title, description, function_name, comparison, test_cases, hidden_test_cases, …}, tests as JSON text."""
    problem = _chosen(prompt, behaviour, Random(seed))
    is_repaired = "reason" in prompt.fences
    tests, reference = list(problem.tests), problem.reference
    if behaviour.problem == "weak":
        tests = [Test(test.arguments, _WEAK_RESULT) for test in tests]
        reference = f"def {problem.function}(*arguments):\n    return {_WEAK_RESULT}\n"
    elif behaviour.problem == "hopeless" or (behaviour.problem == "broken" and not is_repaired):
        reference = problem.of_quality("wrong")[0].code
    match = _SHOWN.search(prompt.instructions)
    shown = int(match[1]) if match else 5
    return {
        "title": problem.title,
        "description": problem.description,
        "function_name": problem.function,
        "comparison": problem.comparison,
        "test_cases": [_told(test) for test in tests[:shown]],
        "hidden_test_cases": [_told(test) for test in tests[shown:]],
        "evaluation_criteria": list(problem.criteria),
        "reference_solution": reference,
    }


def _told(test: Test) -> dict[str, str]:
    return {"input": json.dumps(test.arguments), "expected_output": json.dumps(test.expected)}


def _chosen(prompt: Prompt, behaviour: Behaviour, rng: Random) -> Problem:
    """In a repair the same one, unless it was refused for what it is."""
    fences = prompt.fences
    answered = _title_in(fences.get("answer", ""))
    if "reason" in fences and (same := find_problem(answered)) and not _TRY_ANOTHER.search(fences["reason"]):
        return load_problem(*same)
    titles = [*fences.get("earlier", "").splitlines(), answered]
    used = {found for title in titles if (found := find_problem(title))}
    offered = _asked_for(fences.get("topic", ""))
    variant = max((variant for name, variant in used if name in offered), default=0)
    while not (left := [name for name in offered if (name, variant) not in used]):
        variant += 1
    return load_problem(_tempting(left, behaviour, rng), variant)


def _title_in(answer: str) -> str:
    match = _TITLE.search(answer)
    try:
        return str(json.loads(match[1])) if match else ""
    except ValueError:
        return ""


def _asked_for(topic: str) -> list[str]:
    """The names of problems of the kinds that the topic names, without those that it excludes; all if it names none."""
    unwanted = " ".join(_UNWANTED.findall(topic)).casefold()
    wanted = _UNWANTED.sub(" ", topic).casefold()
    allowed = [name for name in problem_names() if not _is_named(name, unwanted)] or list(problem_names())
    return [name for name in allowed if _is_named(name, wanted)] or allowed


def _is_named(name: str, text: str) -> bool:
    """By its title or by one of its tags, singular or plural."""
    words = [title_of(name, 0).casefold(), *(tag.removesuffix("s") for tag in tags_of(name))]
    return any(re.search(rf"\b{re.escape(word)}", text) for word in words)


def _tempting(names: list[str], behaviour: Behaviour, rng: Random) -> str:
    """The stronger the setter, the nearer to the difficulty at which solvers differ most."""
    care = 12 * strength_of(behaviour)
    weights = [2.0 ** -(care * abs(difficulty_of(name) - _TEMPTING)) for name in names]
    return rng.choices(names, weights)[0]
