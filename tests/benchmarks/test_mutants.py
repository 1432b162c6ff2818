"""Changed functions: that only what functions do is changed, in the live ones, and what becomes of them in a fork."""

import ast
import importlib.util
from functools import partial
from pathlib import Path

import pytest

from benchmarks.mutants.changes import Source
from benchmarks.mutants.trials import FIRST_KILLER, SURVIVED, exchange, in_fork, live_functions

CODE = '''
from functools import wraps

MOST = 3

def logged(function):
    @wraps(function)
    def call(*arguments):
        return function(*arguments)
    return call

@logged
def is_below(first, second):
    """Whether it is."""
    return first < second

def at_least_zero(number: "int" = 0):
    if number > 0:
        return number
    return 0

def pairs(rows: list):
    log.info("Rows that are paired.", len(rows))
    return dict(zip(rows.iterator(chunk_size=10), range(5), strict=True))
'''


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "changed.py"
    path.write_text(CODE)
    return Source(path)


@pytest.mark.system
def test_a_fork_tells_whether_a_change_is_noticed_and_leaves_this_process_alone(source: Source):
    changed = {CODE.splitlines()[line - 1].strip() for line in source.changes}
    assert changed == {
        "return function(*arguments)",
        "return call",
        "return first < second",
        "if number > 0:",
        "return number",
        "return 0",
        "return dict(zip(rows.iterator(chunk_size=10), range(5), strict=True))",
    }
    spec = importlib.util.spec_from_file_location("changed", source.path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    [functions] = live_functions({str(source.path)}).values()

    def trial(text: str) -> int:
        [change] = [one for some in source.changes.values() for one in some if ast.unparse(one.new) == text]
        exchange(functions, source.altered(change))
        noticed = module.is_below(1, 1) or module.at_least_zero(0) != 0
        return FIRST_KILLER if noticed else SURVIVED

    assert in_fork(partial(trial, "first <= second")) == FIRST_KILLER
    assert in_fork(partial(trial, "number >= 0")) == SURVIVED, "it has no effect"
    assert not module.is_below(1, 1)


def test_lines_are_drawn_by_what_they_say_and_what_no_test_could_notice_is_left_alone(source: Source):
    """A line above them changes nothing, so that a sample can be tried again after the code has changed."""
    moved = Source(source.path.with_name("moved.py"), "# Moved.\n" + CODE)
    drawn = sorted(source.drawn(7, "changed.py"))
    assert sorted(moved.drawn(7, "changed.py")) == [(place, line + 1) for place, line in drawn]
    place, line = drawn[0]
    changes = [one.lines_of(one.change_of(number, place)) for one, number in ((source, line), (moved, line + 1))]
    assert changes[0] == changes[1]

    [last] = [changes for line, changes in source.changes.items() if line == len(CODE.splitlines())]
    assert {ast.unparse(change.new) for change in last} == {"return None", "6"}, "neither chunk_size nor strict"
