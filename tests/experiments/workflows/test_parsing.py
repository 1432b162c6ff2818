"""Values out of what models write: a number, a text, or a reason in plain words, never a default."""

import math

import pytest

from experiments.workflows.parsing import Unreadable, number, plain
from tests.cases import each_case


@each_case(("value", "read"), [(0, 0.0), (100, 100.0), (12.5, 12.5), (-0.0, 0.0), (1e-9, 1e-9)])
def test_a_number_within_its_range_is_read_as_it_is(value, read):
    assert number(value, 0, 100) == read
    assert isinstance(number(value, 0, 100), float)


@each_case(
    ("value", "reason"),
    [
        (None, "is missing"),
        ("50", "is not a number"),
        ("high", "is not a number"),
        (True, "is not a number"),
        ([50], "is not a number"),
        ({}, "is not a number"),
        (math.nan, "is not a finite number"),
        (math.inf, "is not a finite number"),
        (-math.inf, "is not a finite number"),
        (150, "is 150, outside 0 to 100"),
        (-3, "is -3, outside 0 to 100"),
        (100.0001, "outside 0 to 100"),
    ],
)
def test_anything_else_is_no_number_and_the_reason_says_why(value, reason):
    with pytest.raises(Unreadable, match=reason):
        number(value, 0, 100)


@each_case("value", [10**400, -(10**400), 10**4000], ids=["+", "-", "huge"])
def test_an_integer_too_large_for_a_float_is_refused_like_any_other(value):
    with pytest.raises(Unreadable):
        number(value, 0, 100)


@each_case(
    ("value", "text"), [(" a\n", "a"), ("", ""), (None, ""), (3, ""), (["a"], ""), ("\x00a\ud800", "\ufffda\ufffd")]
)
def test_a_text_is_taken_without_blanks_and_anything_else_is_none(value, text):
    assert plain(value) == text
