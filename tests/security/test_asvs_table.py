"""The table of `docs/asvs.md` has every requirement of OWASP ASVS 5.0.0, levels 1 and 2, with a test or a reason."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "asvs.md"
STATUSES = ("met", "met when set", "not applicable", "not met")
ROW = re.compile(
    r"^\| (?P<id>V[\d.]+) \| (?P<level>\d) \| (?P<words>[^|]+) \| (?P<status>[^|]+) \| (?P<cell>[^|]+) \|$"
)
TEST = re.compile(r"\[`(?P<path>[^`:]+)::(?P<name>\w+)`\]\(\.\./(?P<link>[^)]+)\)")
COUNT = re.compile(r"^\| (?P<of>level \d|both) \| (?P<numbers>[\d |]+) \|$")

# Ids alone, from the list that OWASP publishes; 6.2.1-8 stands for 6.2.1 to 6.2.8.
LEVEL_1 = """
1.2.1-5 1.3.1-2 1.5.1 2.1.1 2.2.1-2 2.3.1 3.2.1-2 3.3.1 3.4.1-2 3.5.1-3 4.1.1 4.4.1 5.2.1-2 5.3.1-2 6.1.1 6.2.1-8
6.3.1-2 6.4.1-2 7.2.1-4 7.4.1-2 8.1.1 8.2.1-2 8.3.1 9.1.1-3 9.2.1 10.4.1-5 11.3.1-2 11.4.1 12.1.1 12.2.1-2 13.4.1
14.2.1 14.3.1 15.1.1 15.2.1 15.3.1
"""
LEVEL_2 = """
1.1.1-2 1.2.6-9 1.3.3-11 1.4.1-3 1.5.2 2.1.2-3 2.2.3 2.3.2-4 2.4.1 3.3.2-4 3.4.3-6 3.5.4-5 3.7.1-2 4.1.2-3 4.2.1
4.3.1-2 4.4.2-4 5.1.1 5.2.3 5.4.1-3 6.1.2-3 6.2.9-12 6.3.3-4 6.4.3-4 6.5.1-5 6.6.1-3 6.8.1-4 7.1.1-3 7.3.1-2 7.4.3-5
7.5.1-2 7.6.1-2 8.1.2 8.2.3 8.4.1 9.2.2-4 10.1.1-2 10.2.1-2 10.3.1-4 10.4.6-11 10.5.1-5 10.6.1-2 10.7.1-3 11.1.1-2
11.2.1-3 11.3.3 11.4.2-4 11.5.1 11.6.1 12.1.2-3 12.3.1-4 13.1.1 13.2.1-5 13.3.1-2 13.4.2-5 14.1.1-2 14.2.2-4 14.3.2-3
15.1.2-3 15.2.2-3 15.3.2-7 16.1.1 16.2.1-5 16.3.1-4 16.4.1-3 16.5.1-3 17.1.1 17.2.1-4 17.3.1-2
"""


def ids(text):
    found = []
    for word in text.split():
        section, _, numbers = word.rpartition(".")
        first, _, last = numbers.partition("-")
        found += [f"V{section}.{number}" for number in range(int(first), int(last or first) + 1)]
    return found


def rows():
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| V")]
    found = [ROW.match(line) for line in lines]
    assert None not in found, "every row has five cells"
    return found


@cache
def names_in(path):
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def test_the_list_is_whole():
    assert (len(ids(LEVEL_1)), len(ids(LEVEL_2))) == (70, 183)
    assert len({*ids(LEVEL_1), *ids(LEVEL_2)}) == 253


def test_each_requirement_stands_there_once_with_its_level():
    expected = dict.fromkeys(ids(LEVEL_1), "1") | dict.fromkeys(ids(LEVEL_2), "2")

    assert [id_ for id_, times in Counter(row["id"] for row in rows()).items() if times > 1] == []
    assert {row["id"]: row["level"] for row in rows()} == expected


def test_they_stand_in_order():
    order = [tuple(map(int, row["id"][1:].split("."))) for row in rows()]

    assert order == sorted(order)


def test_what_is_met_names_tests_that_are_there():
    for row in rows():
        tests = list(TEST.finditer(row["cell"]))
        assert row["status"] in STATUSES, row["id"]
        assert bool(tests) == row["status"].startswith("met"), row["id"]
        assert [t[0] for t in tests if t["name"] not in names_in(t["path"])] == [], row["id"]
        assert [t[0] for t in tests if t["path"] != t["link"] or not t["name"].startswith("test_")] == [], row["id"]


def test_what_is_not_met_or_not_applicable_says_why_in_words():
    reasons = {row["id"]: row["cell"] for row in rows() if not row["status"].startswith("met")}

    assert {id_ for id_, reason in reasons.items() if len(reason.split()) < 4} == set()


def test_the_counts_are_those_of_the_rows():
    counted = Counter((row["level"], row["status"]) for row in rows())
    told = [COUNT.match(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    found = {match["of"]: [int(number) for number in match["numbers"].split("|")] for match in told if match}

    for level in "12":
        numbers = [counted[level, status] for status in STATUSES]
        assert found[f"level {level}"] == [sum(numbers), *numbers]
    both = [counted["1", status] + counted["2", status] for status in STATUSES]
    assert found["both"] == [sum(both), *both]
