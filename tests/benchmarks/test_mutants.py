"""Changed functions: that only what functions do is changed, in the live ones, and what becomes of them in a fork."""

import ast
import importlib.util
from functools import partial
from pathlib import Path

import pytest

from benchmarks.mutants.changes import Source
from benchmarks.mutants.trials import FIRST_KILLER, SURVIVED, exchange, forked, live_functions

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

    tasks = [partial(trial, text) for text in ("first <= second", "number >= 0")]  # the second one has no effect
    assert dict(forked(tasks)) == {0: FIRST_KILLER, 1: SURVIVED}
    assert not module.is_below(1, 1)
