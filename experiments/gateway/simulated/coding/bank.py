"""The problems that simulated models set, from `bank/<name>.txt`, and their solutions of different quality.

A file has sections, `=== name`. `about` holds `key: value` lines, `shown` and `hidden` a JSON list of arguments per
test; `right`, `slow`, `edge…`, `wrong` and `loop` hold code, each followed by its `explanation`. `$name` stands for a
constant. What a test expects is what the right solution gives, in variants with other constants too.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from string import Template
from typing import Any, Final

from experiments.gateway.simulated.coding.retelling import retold

_FOLDER: Final = Path(__file__).parent / "bank"
_SECTION: Final = re.compile(r"^=== (.+)\n", re.MULTILINE)
_NUMBERED: Final = re.compile(r" \((\d{1,4})\)")
QUALITIES: Final = ("right", "slow", "edge", "wrong", "loop")


@dataclass(frozen=True, slots=True)
class Solution:
    """quality: one of QUALITIES."""

    quality: str
    code: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Test:
    """What the function is called with, and what it returns."""

    arguments: list[Any]
    expected: Any


@dataclass(frozen=True, slots=True)
class Problem:
    """difficulty: 0 to 1. tags: kinds of problems that it belongs to. variant: 0 as it was written."""

    name: str
    variant: int
    title: str
    description: str
    function: str
    comparison: str
    difficulty: float
    tags: tuple[str, ...]
    criteria: tuple[str, ...]
    tests: tuple[Test, ...]
    solutions: tuple[Solution, ...]

    @property
    def reference(self) -> str:
        return self.solutions[0].code

    def of_quality(self, quality: str) -> tuple[Solution, ...]:
        return tuple(solution for solution in self.solutions if solution.quality == quality)


@cache
def problem_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


@cache
def title_of(name: str, variant: int) -> str:
    """A variant's title has its number, so that it can be found again."""
    about = _about(name)
    if not variant:
        return about["title"]
    told = Template(about["variant"]).substitute(_constants(name, variant))
    return f"{retold(about['title'], about['words'], _draw(name, variant))} ({variant}): {told}"


@cache
def tags_of(name: str) -> tuple[str, ...]:
    return tuple(_about(name)["tags"].split(", "))


def difficulty_of(name: str) -> float:
    return float(_about(name)["difficulty"])


def find_problem(title: str) -> tuple[str, int] | None:
    """(name, variant) of the problem with this title; None when it is none of ours."""
    number = _NUMBERED.search(title)
    variant = int(number[1]) if number else 0
    wanted = title.strip().casefold()
    return next(((name, variant) for name in problem_names() if title_of(name, variant).casefold() == wanted), None)


@cache
def load_problem(name: str, variant: int = 0) -> Problem:
    about, constants = _about(name), _constants(name, variant)
    sections = {
        title: text if title in ("shown", "hidden", "about") else Template(text).substitute(constants)
        for title, text in _sections(name).items()
    }
    solutions = tuple(
        Solution(title.split()[0], text.strip() + "\n", sections[f"{title} explanation"])
        for title, text in sections.items()
        if title.split()[0] in QUALITIES and not title.endswith(" explanation")
    )
    inputs = [json.loads(line) for line in f"{sections['shown']}\n{sections['hidden']}".splitlines()]
    results = results_of(solutions[0].code, about["function"], inputs)
    tests = tuple(Test(arguments, result) for arguments, result in zip(inputs, results, strict=True))
    return Problem(
        name=name,
        variant=variant,
        title=title_of(name, variant),
        description=_description(name, variant, sections, tests[0]),
        function=about["function"],
        comparison=about["comparison"],
        difficulty=difficulty_of(name),
        tags=tags_of(name),
        criteria=tuple(_told(name, variant, sections["criteria"]).splitlines()),
        tests=tests,
        solutions=solutions,
    )


def results_of(code: str, function: str, inputs: list[list[Any]]) -> list[Any]:
    """What a program of the bank gives. Never called with code that came from elsewhere."""
    scope: dict[str, Any] = {}
    exec(compile(code, "bank", "exec"), scope)  # noqa: S102 - the bank is a part of this package
    return [json.loads(json.dumps(scope[function](*json.loads(json.dumps(arguments))))) for arguments in inputs]


def _description(name: str, variant: int, sections: dict[str, str], example: Test) -> str:
    given = ", ".join(json.dumps(argument) for argument in example.arguments)
    call = f"Example: {_about(name)['function']}({given}) returns {json.dumps(example.expected)}."
    worked = "" if variant else f" {sections['worked']}"
    return f"{_told(name, variant, sections['description'])}\n\n{call}{worked}"


def _told(name: str, variant: int, text: str) -> str:
    """In a variant in other words, so that it is no copy of an earlier problem."""
    return retold(text, _about(name)["words"], _draw(name, variant)) if variant else text


def _draw(name: str, variant: int) -> Random:
    return Random(f"{name}/{variant}")


def _constants(name: str, variant: int) -> dict[str, Any]:
    offered: dict[str, list[Any]] = json.loads(_about(name)["constants"])
    combinations = list(product(*offered.values()))
    return dict(zip(offered, combinations[variant % len(combinations)], strict=True))


@cache
def _about(name: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in _sections(name)["about"].splitlines())


@cache
def _sections(name: str) -> dict[str, str]:
    pieces = _SECTION.split((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    return {title: text.strip("\n") for title, text in zip(pieces[1::2], pieces[2::2], strict=True)}
