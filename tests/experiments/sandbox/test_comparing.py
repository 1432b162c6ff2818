"""A value is the expected one by what it is, never by how it is written."""

import functools
import itertools
import math
import random

import pytest

from experiments.sandbox.values import Limits, Set, Test
from experiments.sandbox.verdicts import STEPS_BETWEEN_LOOKS, TooLong, compared, is_expected, presentable


def test_values_are_compared_by_what_they_are_and_unordered_lists_as_multisets_at_every_depth():
    for value, expected in (
        (1, 1.0),
        (0.1 + 0.2, 0.3),
        (-0.0, 0),
        (math.inf, math.inf),
        (10**400, 10**400),
        (None, None),
        ([], []),
        ([1, [2.0, "x"]], [1.0, [2, "x"]]),
        ({"a": [1]}, {"a": [1.0]}),
    ):
        for comparison in ("exact", "tolerance", "unordered"):
            assert is_expected(value, expected, comparison), (value, comparison)
    for value, expected in (
        (True, 1),
        (1, True),
        ("1", 1),
        (None, 0),
        ([], {}),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        (math.nan, math.nan),
        ([math.nan], [math.nan]),
        (10**400, 10**400 + 1),
        (10**400, 1.5),
        (0.30001, 0.3),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ("é", "e\u0301"),
        (Set([1, 2]), [1, 2]),
    ):
        assert not is_expected(value, expected, "exact"), (value, expected)
    for value, expected in (
        ([3, 1, 2], [1, 2, 3]),
        (Set([3, 1]), [1, 3]),
        ([["b", "a"], ["c"]], [["c"], ["a", "b"]]),
        ([{"x": [2, 1]}], [{"x": [1, 2]}]),
        ([0.1 + 0.2, 1], [1, 0.3]),
    ):
        assert is_expected(value, expected, "unordered"), value
    for value, expected in (
        ([1, 1, 2], [1, 2, 2]),
        ([1, 2], [1, 2, 2]),
        ([True], [1]),
        ([math.nan], [math.nan]),
        (Set([1]), 1),
        ([[1, 2], [3]], [[1], [2, 3]]),
    ):
        assert not is_expected(value, expected, "unordered"), value


def test_tolerance_is_one_in_a_million_and_near_zero_a_millionth():
    assert is_expected(1_000_000.5, 1_000_000, "tolerance")
    assert is_expected([5e-7], [0.0], "tolerance")
    assert not is_expected(1.000_01, 1, "tolerance")
    assert not is_expected([1, 2], [2, 1], "tolerance")
    assert not is_expected(1_000_000.5, 1_000_000, "exact")


def test_near_numbers_are_paired_even_where_the_first_that_fits_is_anothers():
    low, middle, high = 1.0, 1.0 + 0.9e-9, 1.0 + 1.8e-9  # neighbours are close, the ends are not

    assert is_expected([middle, low], [high, middle], "unordered")
    assert not is_expected([low, low], [middle, high], "unordered")


def test_a_long_list_in_another_order_with_rounding_errors_is_equal():
    numbers = [place / 7 for place in range(5_000)]
    mixed = [number + 1e-12 for number in numbers]
    random.Random(5).shuffle(mixed)

    assert is_expected(mixed, numbers, "unordered")
    assert not is_expected([*mixed[1:], 9.0e9], numbers, "unordered")


def test_a_value_nested_too_deeply_to_compare_is_not_the_expected_one():
    value: list = []
    expected: list = []
    for _ in range(100_000):
        value, expected = [value], [expected]

    assert not is_expected(value, expected, "exact")


def nested(innermost, depth=190, beside=()):
    for _ in range(depth):
        innermost = [*beside, innermost]
    return innermost


NUMBERS = [float(number) for number in range(150_000)]
KEYS = dict.fromkeys(map(str, range(300)), 0)
COSTLY = {
    "many numbers, deep": (nested(NUMBERS), nested([1])),
    "near numbers, deep": (nested(NUMBERS[:20_000]), nested([number + 1e-12 for number in NUMBERS[:20_000]])),
    "twins at every depth": (nested([2], beside=[1]), nested([3], beside=[1])),
    "objects that differ last": ([{**KEYS, "z": n} for n in range(1, 300)], [{**KEYS, "z": -n} for n in range(1, 300)]),
}


def test_the_work_of_a_comparison_is_bounded_by_the_size_of_the_values_not_by_their_depth():
    for name, (value, expected) in COSTLY.items():
        looks = itertools.count()  # at the clock: one for so many steps

        is_expected(value, expected, "unordered", seconds=math.inf, clock=lambda looks=looks: next(looks))

        assert next(looks) * STEPS_BETWEEN_LOOKS < 2_000_000, name


def test_a_comparison_ends_at_its_deadline_which_fails_the_test_and_says_why():
    for comparison in ("exact", "tolerance", "unordered"):
        with pytest.raises(TooLong):
            is_expected(NUMBERS, list(NUMBERS), comparison, seconds=100, clock=itertools.count().__next__)

    verdict, found = compared(Test("long", [], NUMBERS), list(NUMBERS), Limits(seconds=1e-9))

    assert (verdict, found["has_value"]) == ("failed", True)
    assert "comparing" in found["error"]


def test_each_part_of_nested_sets_is_written_once():
    written = []

    class Noted(int):
        def __repr__(self):
            written.append(self)
            return "7"

    presentable(functools.reduce(lambda inner, _: Set([inner, 1]), range(100), Set([Noted(7)])), 200)

    assert len(written) == 1


def test_a_limit_of_nothing_is_refused():
    for name in ("seconds", "total_seconds", "memory", "output", "result", "processes", "depth"):
        with pytest.raises(ValueError, match=f"{name} must be above zero"):
            Limits(**{name: 0})
