"""Whether a value is the expected one. By value, never by text: the value came out of the box as JSON."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from experiments.sandbox.values import JSON, Comparison, Set, Value

EXACT = 1e-9  # so that 0.1 + 0.2 is 0.3; relative, and absolute near zero
TOLERANT = 1e-6
MOST_TRIED = 500_000  # pairs tried against each other in one comparison, under a second; then only neighbours are
STEPS_BETWEEN_LOOKS = 1_000  # at the clock
NOWHERE = itertools.count()
Clock = Callable[[], float]
Place = tuple[Any, ...]


class TooLong(Exception):
    """The comparison took longer than it may."""


def is_expected(
    value: Value, expected: JSON, comparison: Comparison, seconds: float = 5.0, clock: Clock = time.monotonic
) -> bool:
    """True is not 1, 1 is 1.0, NaN is nothing, a set is a list only where order does not matter.

    seconds: how long the comparison may take by `clock`. Raises TooLong.
    """
    work = Work(seconds, clock)
    try:
        if comparison != "unordered":
            return InOrder(work, EXACT if comparison == "exact" else TOLERANT).same(value, expected)
        try:
            return Pairing(work, EXACT).same(value, expected)
        except TooManyTried:
            return Neighbours(work, EXACT).same(value, expected)
    except RecursionError:
        return False


class Work:
    """What a comparison has done so far: its steps against a deadline, and the place of each list that was ordered."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        self.clock, self.end, self.steps = clock, clock() + seconds, 0
        self.places: dict[int, OrderedPlace] = {}  # by the id of the list: both values outlive the comparison
        self.equal: dict[OrderedPlace, OrderedPlace] = {}  # one object for all that are equal, compared at a glance

    def step(self) -> None:
        self.steps += 1
        if self.steps % STEPS_BETWEEN_LOOKS == 0 and self.clock() > self.end:
            raise TooLong

    def place(self, value: Any) -> Place:
        """Its place in an order of all values. Equal for what is certainly equal: 1 and 1.0, lists in any order."""
        self.step()
        if isinstance(value, Set | list | dict):
            if id(value) not in self.places:
                found = OrderedPlace(self._place_of_many(value))
                self.places[id(value)] = self.equal.setdefault(found, found)
            return self.places[id(value)]
        if isinstance(value, str):
            return (2, value)
        if not is_number(value):
            return (0, repr(value))
        return (1, value) if value == value else (5, next(NOWHERE))  # NaN is not even where itself is

    def _place_of_many(self, value: Any) -> Place:
        if isinstance(value, dict):
            return (4, *((key, self.place(value[key])) for key in sorted(value)))
        return (3, *sorted(self.place(item) for item in (value.items if isinstance(value, Set) else value)))


class OrderedPlace(tuple[Any, ...]):
    """The place of a list or an object. Its hash is computed once: a tuple would walk through all of it each time."""

    def __hash__(self) -> int:
        found: int | None = self.__dict__.get("hash")
        if found is None:
            found = self.__dict__["hash"] = super().__hash__()
        return found


class InOrder:
    """Compares lists item by item."""

    def __init__(self, work: Work, tolerance: float) -> None:
        self.work, self.tolerance = work, tolerance

    def same(self, value: Any, expected: Any) -> bool:
        self.count()
        if is_number(value) and is_number(expected):
            return are_close(value, expected, self.tolerance)
        if isinstance(expected, list):
            return self.same_lists(value, expected)
        if isinstance(expected, dict):
            return isinstance(value, dict) and value.keys() == expected.keys() and all(
                self.same(value[key], expected[key]) for key in expected
            )  # fmt: skip
        return type(value) is type(expected) and bool(value == expected)

    def count(self) -> None:
        self.work.step()

    def same_lists(self, value: Any, expected: list[Any]) -> bool:
        return isinstance(value, list) and len(value) == len(expected) and all(map(self.same, value, expected))


class Neighbours(InOrder):
    """Both sorted, and each compared with the one at its place: two near numbers may stand the wrong way round then."""

    def same_lists(self, value: Any, expected: list[Any]) -> bool:
        place = self.work.place
        items = items_of(value, expected)
        return items is not None and all(map(self.same, sorted(items, key=place), sorted(expected, key=place)))


class TooManyTried(Exception):
    """The values have so many near numbers that trying all pairs would not end."""


class Pairing(InOrder):
    """Lists and sets as multisets, at every depth: every item needs an expected one of its own."""

    def __init__(self, work: Work, tolerance: float) -> None:
        super().__init__(work, tolerance)
        self.tried = 0
        self.known: dict[tuple[int, int], bool] = {}  # by the ids of two lists

    def count(self) -> None:
        super().count()
        self.tried += 1
        if self.tried > MOST_TRIED:
            raise TooManyTried

    def same_lists(self, value: Any, expected: list[Any]) -> bool:
        items = items_of(value, expected)
        if items is None:
            return False
        pair = id(items), id(expected)
        if pair not in self.known:
            left, right = self.without_twins(items, expected)
            # A twin may have taken what only a near neighbour could have been paired with.
            self.known[pair] = self.can_be_paired(left, right) or (
                0 < len(left) < len(items) and self.can_be_paired(items, expected)
            )
        return self.known[pair]

    def without_twins(self, items: list[Any], expected: list[Any]) -> tuple[list[Any], list[Any]]:
        """What is left of both once everything has been taken away that is exactly alike."""
        places, wanted = [*map(self.work.place, items)], [*map(self.work.place, expected)]
        return beyond(items, places, Counter(wanted)), beyond(expected, wanted, Counter(places))

    def can_be_paired(self, left: list[Any], right: list[Any]) -> bool:
        """By augmenting paths (Kuhn 1955)."""
        if self.tried + len(left) * len(right) > MOST_TRIED:
            raise TooManyTried
        candidates: list[list[int]] = []
        for item in left:  # loops, because each comprehension would add a frame to each level of nested lists
            candidates.append([])
            for place, other in enumerate(right):
                if self.same(item, other):
                    candidates[-1].append(place)
        taken: dict[int, int] = {}

        def finds_a_place(item: int, visited: set[int]) -> bool:
            for place in candidates[item]:
                self.count()
                if place not in visited:
                    visited.add(place)
                    if place not in taken or finds_a_place(taken[place], visited):
                        taken[place] = item
                        return True
            return False

        return all(finds_a_place(item, set()) for item in range(len(left)))


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_close(value: float, expected: float, tolerance: float) -> bool:
    if isinstance(value, int) and isinstance(expected, int):
        return value == expected
    try:
        return math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:  # a whole number beyond every float
        return False


def items_of(value: Any, expected: list[Any]) -> list[Any] | None:
    """The items of a list or a set that is as long as what is expected."""
    items = value.items if isinstance(value, Set) else value
    return items if isinstance(items, list) and len(items) == len(expected) else None


def beyond(items: list[Any], places: list[Place], taken: Counter[Place]) -> list[Any]:
    left = []
    for item, at in zip(items, places, strict=True):
        if taken[at] > 0:
            taken[at] -= 1
        else:
            left.append(item)
    return left
