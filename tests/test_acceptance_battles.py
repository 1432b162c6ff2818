"""Every defect of earlier arenas, 1 to 28 (ratings.md §1.10), is shown by a test that names its number to be none of
ours.
"""

import ast
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
NUMBERS = range(1, 29)


def marked() -> dict[int, list[str]]:
    """Numbers to the tests that carry them."""
    found = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in _numbers(node):
                    found[number].append(f"{path.relative_to(TESTS)}::{node.name}")
    return found


def _numbers(test) -> list[int]:
    calls = [node for decorator in test.decorator_list for node in ast.walk(decorator) if isinstance(node, ast.Call)]
    marks = [call for call in calls if ast.unparse(call.func) == "pytest.mark.defect"]
    return [ast.literal_eval(argument) for mark in marks for argument in mark.args]


def test_every_defect_of_earlier_arenas_has_a_test_that_it_is_none_of_ours():
    found = marked()

    assert [number for number in NUMBERS if not found[number]] == []


def test_no_test_names_a_defect_that_there_is_not():
    assert {number: tests for number, tests in marked().items() if number not in NUMBERS} == {}
