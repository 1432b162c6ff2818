"""The table of behaviours in `docs/behaviours.md` names a test that exists for every behaviour."""

import ast
import re
from collections import Counter
from functools import cache
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "behaviours.md"
SECTIONS = [f"1.{number}" for number in range(1, 17)] + [f"2.{number}" for number in range(1, 10)]
ROW = re.compile(r"^\| (?P<number>\S+) \| (?P<words>.+) \| (?P<tests>[^|]*) \|$")
TEST = re.compile(r"\[`(?P<path>[^`:]+)::(?P<name>\w+)`\]\(\.\./(?P<link>[^)]+)\)")


def rows() -> list[tuple[str, str, list[re.Match[str]]]]:
    """Number, behaviour and the tests named."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    found = [ROW.match(line) for line in lines if line.startswith(("| 1.", "| 2."))]
    assert None not in found, "every row has three cells"
    return [(row["number"], row["words"], list(TEST.finditer(row["tests"]))) for row in found if row]


@cache
def names_in(path: str) -> frozenset[str]:
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_behaviour_names_a_test():
    assert [number for number, _words, tests in rows() if not tests] == []


def test_every_test_that_is_named_is_there():
    named = [(number, test) for number, _words, tests in rows() for test in tests]

    missing = {f"{number}: {t['path']}::{t['name']}" for number, t in named if t["name"] not in names_in(t["path"])}
    assert missing == set()
    assert [number for number, test in named if test["path"] != test["link"]] == []


def test_rows_are_numbered_without_a_gap_and_none_twice():
    numbers = [number for number, _words, _tests in rows()]

    assert [number for number, times in Counter(numbers).items() if times > 1] == []
    sections = {section: list(group) for section, group in groupby(numbers, lambda number: number.rpartition(".")[0])}
    assert list(sections) == SECTIONS
    for section, found in sections.items():
        assert found == [f"{section}.{place}" for place in range(1, len(found) + 1)]


def test_no_behaviour_stands_there_twice():
    assert [words for words, times in Counter(words for _number, words, _tests in rows()).items() if times > 1] == []
