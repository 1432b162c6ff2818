"""What `make sizes` counts."""

from benchmarks.sizes import _of_file, spread

SOURCE = '''
from typing import Any

class Shown:
    """One."""
    data: dict[str, Any]
    _own: dict[str, Any]

def told(given: dict[str, Any]) -> int:
    inner: dict[str, Any] = _once(given)
    return _twice(inner) + _twice({})

def _once(given: dict[str, Any]) -> Any:
    return given

def _twice(given) -> int:
    return 0
'''


def test_counts_of_a_file():
    counted = _of_file(SOURCE)

    assert (counted.files, counted.functions, counted.imports) == ([17], [3, 2, 2], [1])
    assert (counted.private, counted.called_once) == (2, 1)
    assert (counted.public, counted.explained) == (2, 1)
    assert (counted.untyped, counted.across) == (5, 3)


def test_a_program_that_is_none_counts_by_its_lines():
    assert _of_file("def broken(:\n    pass\n").files == [2]


def test_median_nine_tenths_and_largest():
    assert spread(range(1, 102)) == "51/91/101"
    assert (spread([4]), spread([])) == ("4/4/4", "-")
