"""Every number of an acceptance list is proven by a test that is marked with it."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
NUMBERS = {
    "edge": range(1, 66),  # edge cases, and the round trip as the last
    "council": range(1, 31),  # acceptance tests of the council
    "debate": range(1, 24),  # the acceptance list of debates
    "coding": range(1, 67),  # the acceptance list of coding contests
    "flaw": range(1, 25),  # defects of earlier coding contests that are none of ours
    "defect": range(1, 29),  # defects of earlier arenas that are none of ours
}
every_list = pytest.mark.parametrize("mark", NUMBERS)


@cache
def marked() -> dict[tuple[str, int], list[str]]:
    """Mark and number to the tests that carry them. A module's `pytestmark` counts for each of its tests."""
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        whole = _numbers(node for node in tree.body if _is_pytestmark(node))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in whole | _numbers(node.decorator_list):
                    found[number].append(f"{path.relative_to(TESTS)}::{node.name}")
    return found


def _is_pytestmark(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets)


def _numbers(places) -> set[tuple[str, int]]:
    calls = [node for place in places for node in ast.walk(place) if isinstance(node, ast.Call)]
    named = [(ast.unparse(call.func).removeprefix("pytest.mark."), call.args) for call in calls]
    return {(mark, ast.literal_eval(number)) for mark, numbers in named if mark in NUMBERS for number in numbers}


@every_list
def test_every_number_has_a_test(mark):
    assert [number for number in NUMBERS[mark] if (mark, number) not in marked()] == []


@every_list
def test_no_test_names_a_number_that_there_is_not(mark):
    named = {number: tests for (kept, number), tests in marked().items() if kept == mark}

    assert {number: tests for number, tests in named.items() if number not in NUMBERS[mark]} == {}
