"""Small problems, with tests that find the usual mistakes."""

from dataclasses import dataclass

from experiments.sandbox import Test
from experiments.sandbox.values import JSON, Comparison


@dataclass(frozen=True)
class Problem:
    """`name` is what is called; `cases` hold the arguments and the right answer of each test."""

    name: str
    cases: dict[str, tuple[list[JSON], JSON]]
    comparison: Comparison = "exact"

    @property
    def tests(self) -> list[Test]:
        return [Test(name, arguments, expected, self.comparison) for name, (arguments, expected) in self.cases.items()]


def ways_up(steps: int) -> int:
    low, high = 1, 1
    for _ in range(steps):
        low, high = high, low + high
    return low


UNDER_THIRTY: list[JSON] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
UNDER_HUNDRED: list[JSON] = [*UNDER_THIRTY, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]

PROBLEMS = (
    Problem(
        "two_sum",
        {
            "pair": ([[2, 7, 11, 15], 9], [0, 1]),
            "later_pair": ([[3, 2, 4], 6], [1, 2]),
            "twins": ([[3, 3], 6], [0, 1]),
            "below_zero": ([[-1, -2, -3, -4, -5], -8], [2, 4]),
            "zeros": ([[0, 4, 3, 0], 0], [0, 3]),
            "none": ([[1, 2], 10], []),
            "empty": ([[], 0], []),
        },
    ),
    Problem(
        "stairs",
        {str(steps): ([steps], ways_up(steps)) for steps in (0, 1, 2, 5, 90, 300, 900)},
    ),
    Problem(
        "primes",
        {
            "0": ([0], []),
            "2": ([2], []),
            "3": ([3], [2]),
            "10": ([10], UNDER_THIRTY[:4]),
            "26": ([26], UNDER_THIRTY[:9]),
            "30": ([30], UNDER_THIRTY),
            "100": ([100], UNDER_HUNDRED),
        },
    ),
    Problem(
        "evens",
        {
            "-3": ([-3], []),
            "0": ([0], []),
            "1": ([1], [0]),
            "2": ([2], [0]),
            "5": ([5], [0, 2, 4]),
            "10": ([10], [0, 2, 4, 6, 8]),
        },
    ),
    Problem(
        "average",
        {
            "whole": ([[1, 2, 3]], 2),
            "one": ([[5]], 5),
            "thirds": ([[1, 1, 2]], 1.3333333),
            "nothing": ([[]], None),
            "zero": ([[-1, 1]], 0),
            "large": ([[1e15, 1e15 + 2]], 1e15 + 1),
        },
        comparison="tolerance",
    ),
    Problem(
        "total",
        {
            "tenths": ([[0.1, 0.2]], 0.3),
            "nothing": ([[]], 0),
            "whole": ([[1, 2]], 3),
            "zero": ([[0.5, -0.5]], 0),
            "ten_tenths": ([[0.1] * 10], 1),
            "large": ([[1e20, 1]], 1e20),
        },
    ),
    Problem(
        "negate",
        {
            "zero": ([0], 0),
            "float_zero": ([0.0], 0),
            "above": ([5], -5),
            "below": ([-2.5], 2.5),
            "large": ([10**30 + 1], -(10**30) - 1),
            "small": ([1e-5], -1e-5),
        },
    ),
    Problem(
        "count_words",
        {
            "two": (["a b a"], {"a": 2, "b": 1}),
            "empty": ([""], {}),
            "spaces": (["  a   b "], {"a": 1, "b": 1}),
            "case": (["A a"], {"A": 1, "a": 1}),
            "unicode": (["né 世界 né 🎉"], {"né": 2, "世界": 1, "🎉": 1}),
            "lines": (["x\ny\tx"], {"x": 2, "y": 1}),
        },
    ),
    Problem(
        "is_balanced",
        {
            "pair": (["()"], True),
            "empty": ([""], True),
            "nested": (["([{}])"], True),
            "letters": (["a(b)c"], True),
            "crossed": (["(]"], False),
            "open": (["(("], False),
            "closed": ([")"], False),
            "backwards": ([")("], False),
        },
    ),
    Problem(
        "merge_intervals",
        {
            "overlapping": ([[[1, 3], [2, 6], [8, 10]]], [[1, 6], [8, 10]]),
            "touching": ([[[1, 4], [4, 5]]], [[1, 5]]),
            "unsorted": ([[[8, 9], [1, 2]]], [[1, 2], [8, 9]]),
            "inside": ([[[1, 10], [2, 3]]], [[1, 10]]),
            "one": ([[[5, 7]]], [[5, 7]]),
            "empty": ([[]], []),
        },
    ),
    Problem(
        "subsets",
        {
            "none": ([[]], [[]]),
            "one": ([[1]], [[], [1]]),
            "two": ([[1, 2]], [[], [1], [2], [1, 2]]),
            "texts": ([["a", "b"]], [["a", "b"], ["b"], ["a"], []]),
            "three": ([[1, 2, 3]], [[], [1], [2], [3], [1, 2], [1, 3], [2, 3], [1, 2, 3]]),
            "below_zero": ([[-1, 0]], [[], [-1], [0], [-1, 0]]),
        },
        comparison="unordered",
    ),
    Problem(
        "squares",
        {
            "two": ([[1, 2]], {"1": 1, "2": 4}),
            "empty": ([[]], {}),
            "zero": ([[0]], {"0": 0}),
            "below_zero": ([[-3]], {"-3": 9}),
            "repeated": ([[2, 2]], {"2": 4}),
            "large": ([[10**10]], {"10000000000": 10**20}),
        },
    ),
    Problem(
        "caesar",
        {
            "next": (["abc", 1], "bcd"),
            "around": (["xyz", 3], "abc"),
            "sentence": (["Hello, World!", 5], "Mjqqt, Btwqi!"),
            "empty": (["", 4], ""),
            "back": (["abc", -1], "zab"),
            "others": (["naïve 世界", 13], "anïir 世界"),
            "twice_around": (["abc", 52], "abc"),
        },
    ),
)
BY_NAME = {problem.name: problem for problem in PROBLEMS}
