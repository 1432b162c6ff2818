"""Changed functions: what is changed in them, that the live ones change, and what becomes of them in a fork."""

import ast
import importlib.util
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from benchmarks.mutants.changes import Change, Source
from benchmarks.mutants.trials import FIRST_KILLER, SURVIVED, exchange, forked, live_functions

CODE = '''
from functools import wraps
from django.utils.translation import gettext as _

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

def refuse(name):
    if name not in ("a", "b"):
        raise ValueError("Neither a nor b.")
    return _("Welcome") + f"{name} {1 + 1}"
'''


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "changed.py"
    path.write_text(CODE)
    return Source(path)


@pytest.fixture
def module(source: Source) -> ModuleType:
    spec = importlib.util.spec_from_file_location("changed", source.path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def change_to(source: Source, text: str) -> Change:
    changes = [change for changes in source.changes.values() for change in changes]
    return next(change for change in changes if ast.unparse(change.new) == text)


def live(source: Source) -> list[FunctionType]:
    path = str(source.path)
    return live_functions({path})[path]


def test_only_what_functions_do_is_changed(source: Source):
    changed = {CODE.splitlines()[line - 1].strip() for line in source.changes}
    assert changed == {
        "return function(*arguments)",
        "return call",
        "return first < second",
        "if number > 0:",
        "return number",
        "return 0",
        'if name not in ("a", "b"):',
        'return _("Welcome") + f"{name} {1 + 1}"',
    }
    of_the_condition = source.changes[CODE.splitlines().index("    if number > 0:") + 1]
    assert {ast.unparse(change.new) for change in of_the_condition} == {"True", "False", "number >= 0", "1"}


def test_a_decorated_function_is_exchanged_and_the_diff_shows_how(source: Source, module: ModuleType):
    change = change_to(source, "first <= second")
    assert not module.is_below(1, 1)
    assert exchange(live(source), source.altered(change)) == 1
    assert module.is_below(1, 1)
    assert "+    return first <= second\n" in source.diff(change, "changed.py")


@pytest.mark.system
def test_a_fork_tells_whether_a_change_is_noticed_and_leaves_this_process_alone(source: Source, module: ModuleType):
    functions = live(source)

    def trial(text: str) -> int:
        exchange(functions, source.altered(change_to(source, text)))
        noticed = module.is_below(1, 1) or module.at_least_zero(0) != 0
        return FIRST_KILLER if noticed else SURVIVED

    tasks = [partial(trial, text) for text in ("first <= second", "number >= 0")]  # the second one has no effect
    assert dict(forked(tasks)) == {0: FIRST_KILLER, 1: SURVIVED}
    assert not module.is_below(1, 1)
