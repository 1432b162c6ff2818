"""Every edge case of the acceptance list, 1 to 64 and the round trip 65, is proven by a test that names its number."""

import ast
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
NUMBERS = range(1, 66)


def marked() -> dict[int, list[str]]:
    """Numbers to the tests that carry them. A module's `pytestmark` counts for each of its tests."""
    found = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        whole = [n for node in tree.body if _is_pytestmark(node) for n in _numbers(ast.walk(node))]
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                own = [n for decorator in node.decorator_list for n in _numbers(ast.walk(decorator))]
                for number in {*whole, *own}:
                    found[number].append(f"{path.relative_to(TESTS)}::{node.name}")
    return found


def _is_pytestmark(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets)


def _numbers(nodes) -> list[int]:
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.edge"]
    return [ast.literal_eval(argument) for call in calls for argument in call.args]


def test_every_edge_case_has_a_test():
    found = marked()

    assert [number for number in NUMBERS if not found[number]] == []


def test_no_test_names_an_edge_case_that_there_is_not():
    assert {number: tests for number, tests in marked().items() if number not in NUMBERS} == {}
