"""Whether a value is the expected one. By value, never by text: the value came out of the box as JSON."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from experiments.sandbox.answers import Set, Value
from experiments.sandbox.values import JSON, Comparison

EXACT = 1e-9  # so that 0.1 + 0.2 is 0.3; relative, and absolute near zero
TOLERANT = 1e-6
MOST_TRIED = 500_000  # pairs of items that are tried against each other, under a second; then only neighbours are
NOWHERE = itertools.count()
Same = Callable[[Any, Any], bool]


def is_expected(value: Value, expected: JSON, comparison: Comparison) -> bool:
    """True is not 1, 1 is 1.0, NaN is nothing, a set is a list only where order does not matter."""
    try:
        return COMPARISONS[comparison](value, expected)
    except RecursionError:
        return False


def is_equal(value: Any, expected: Any, tolerance: float, same: Same, same_lists: Same) -> bool:
    if is_number(value) and is_number(expected):
        return are_close(value, expected, tolerance)
    if isinstance(expected, list):
        return same_lists(value, expected)
    if isinstance(expected, dict):
        return isinstance(value, dict) and value.keys() == expected.keys() and all(
            same(value[key], expected[key]) for key in expected
        )  # fmt: skip
    return type(value) is type(expected) and bool(value == expected)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_close(value: float, expected: float, tolerance: float) -> bool:
    if isinstance(value, int) and isinstance(expected, int):
        return value == expected
    try:
        return math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:  # a whole number beyond every float
        return False


def exact(value: Any, expected: Any) -> bool:
    return is_equal(value, expected, EXACT, exact, in_order(exact))


def tolerant(value: Any, expected: Any) -> bool:
    return is_equal(value, expected, TOLERANT, tolerant, in_order(tolerant))


def unordered(value: Any, expected: Any) -> bool:
    try:
        return Pairing().same(value, expected)
    except TooManyTried:
        return neighbours(value, expected)


def neighbours(value: Any, expected: Any) -> bool:
    """Both sorted, and each compared with the one at its place: two near numbers may stand the wrong way round then."""
    return is_equal(value, expected, EXACT, neighbours, in_sorted_order)


COMPARISONS: Mapping[Comparison, Same] = {"exact": exact, "tolerance": tolerant, "unordered": unordered}


def in_order(same: Same) -> Same:
    def are_same(value: Any, expected: list[Any]) -> bool:
        return isinstance(value, list) and len(value) == len(expected) and all(map(same, value, expected))

    return are_same


def items_of(value: Any, expected: list[Any]) -> list[Any] | None:
    """The items of a list or a set that is as long as what is expected."""
    items = value.items if isinstance(value, Set) else value
    return items if isinstance(items, list) and len(items) == len(expected) else None


def in_sorted_order(value: Any, expected: list[Any]) -> bool:
    items = items_of(value, expected)
    return items is not None and all(map(neighbours, sorted(items, key=place), sorted(expected, key=place)))


class TooManyTried(Exception):
    """Whoever wrote the value wants it to be compared for ever."""


class Pairing:
    """Lists and sets as multisets, at every depth: every item needs an expected one of its own."""

    def __init__(self) -> None:
        self.left = MOST_TRIED

    def same(self, value: Any, expected: Any) -> bool:
        return is_equal(value, expected, EXACT, self.same, self.in_any_order)

    def in_any_order(self, value: Any, expected: list[Any]) -> bool:
        items = items_of(value, expected)
        if items is None:
            return False
        self.count(len(items))
        left, right = without_twins(items, expected)
        # A twin may have taken what only a near neighbour could have been paired with.
        return self.can_be_paired(left, right) or (0 < len(left) < len(items) and self.can_be_paired(items, expected))

    def count(self, tried: int) -> None:
        self.left -= tried
        if self.left < 0:
            raise TooManyTried

    def can_be_paired(self, left: list[Any], right: list[Any]) -> bool:
        """By augmenting paths (Kuhn 1955)."""
        self.count(len(left) * len(right))
        friends = [[place for place, other in enumerate(right) if self.same(item, other)] for item in left]
        taken: dict[int, int] = {}

        def finds_a_place(item: int, tried: set[int]) -> bool:
            for place in friends[item]:
                if place not in tried:
                    tried.add(place)
                    if place not in taken or finds_a_place(taken[place], tried):
                        taken[place] = item
                        return True
            return False

        return all(finds_a_place(item, set()) for item in range(len(left)))


def without_twins(items: list[Any], expected: list[Any]) -> tuple[list[Any], list[Any]]:
    """What is left of both once everything has been taken away that is exactly alike."""
    places, wanted = [place(item) for item in items], [place(item) for item in expected]
    return beyond(items, places, Counter(wanted)), beyond(expected, wanted, Counter(places))


def beyond(items: list[Any], places: list[Any], taken: Counter[Any]) -> list[Any]:
    left = []
    for item, at in zip(items, places, strict=True):
        if taken[at] > 0:
            taken[at] -= 1
        else:
            left.append(item)
    return left


def place(value: Any) -> tuple[Any, ...]:
    """Where it stands in one order of all values, equal for what is certainly equal: 1 and 1.0, lists in any order."""
    if isinstance(value, Set | list):
        return (3, *sorted(place(item) for item in (value.items if isinstance(value, Set) else value)))
    if isinstance(value, dict):
        return (4, *((key, place(value[key])) for key in sorted(value)))
    if isinstance(value, str):
        return (2, value)
    if not is_number(value):
        return (0, repr(value))
    return (1, value) if value == value else (5, next(NOWHERE))  # NaN is not even where itself is
