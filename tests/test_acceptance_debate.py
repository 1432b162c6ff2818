"""Every number of the acceptance list of debates, 1 to 23, is proven by a test that names it."""

import ast
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
NUMBERS = range(1, 24)
MARK = "pytest.mark.debate"


def marked() -> dict[int, list[str]]:
    """Numbers to the tests that carry them."""
    found = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in {n for decorator in node.decorator_list for n in _numbers(decorator)}:
                    found[number].append(f"{path.relative_to(TESTS)}::{node.name}")
    return found


def _numbers(decorator: ast.expr) -> list[int]:
    calls = [node for node in ast.walk(decorator) if isinstance(node, ast.Call) and ast.unparse(node.func) == MARK]
    return [ast.literal_eval(argument) for call in calls for argument in call.args]


def test_every_number_has_a_test():
    found = marked()

    assert [number for number in NUMBERS if not found[number]] == []


def test_no_test_names_a_number_that_there_is_not():
    assert {number: tests for number, tests in marked().items() if number not in NUMBERS} == {}
