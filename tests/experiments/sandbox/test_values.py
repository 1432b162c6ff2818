"""What comes out of the box, read without believing it, and compared by what it is, never by how it is written."""

import functools
import itertools
import json
import math
import random

import pytest

from experiments.sandbox import Limits, Test, run, verdicts
from experiments.sandbox.inside.encoding import Encoder, NotJSON
from experiments.sandbox.values import Set
from experiments.sandbox.verdicts import Answer, Garbage, is_expected, presentable, read, read_printed

NONCE = "0123"


def line(**body):
    return json.dumps({"nonce": NONCE, **body}).encode()


def handed_over(value, depth=50, items=1_000, size=100_000):
    text = Encoder(depth, items, size).text(value)
    return read(f'{{"nonce":"{NONCE}","value":{text}}}\n'.encode("ascii"), NONCE).value


class Text(str):
    __slots__ = ()

    def __str__(self):
        return "a lie"


def test_a_value_arrives_as_json_would_have_it_a_set_as_a_set_and_nan_as_nan():
    for value, arrives in (
        *((same, same) for same in (None, True, -7, 2**70, -(10**4000), 0.1, math.inf, "\ud800 \0 é 漢 😀")),
        *((Text("true"), "true"), ((1, (2,)), [1, [2]]), (range(3), [0, 1, 2])),
        *(({0.5: []}, {"0.5": []}), ({1: 2}.items(), [[1, 2]]), ((n * n for n in range(3)), [0, 1, 4])),
        ({"a": (1,), 2: None, True: 1.5, None: "x"}, {"a": [1], "2": None, "true": 1.5, "null": "x"}),
    ):
        assert handed_over(value) == arrives, type(value)

    marks = [["s", 1], ["f", "nan"], {"l": ["d"]}, "value"]
    assert handed_over(marks) == marks, "what looks like our own marks arrives as it is"

    found = handed_over([{3, 1}, frozenset(), math.nan])
    assert sorted(found[0].items) == [1, 3]
    assert found[1] == Set([])
    assert math.isnan(found[2])


def nested(times, width=1):
    return functools.reduce(lambda inner, _: [inner] * width, range(times), [])


def test_what_json_cannot_hold_is_said_so():
    circle: list = [1]
    circle.append(circle)
    for value, complaint in (
        *((circle, "contains itself"), (nested(60), "nested too deeply"), (nested(30, width=2), "too many parts")),
        *(("x" * 200_000, "too long"), (["x" * 500] * 500, "too long"), (iter(int, 1), "too many parts")),
        *((10**5000, "more than 4300 digits"), ({(1, 2): 3}, "key of type tuple"), (b"bytes", "type bytes")),
        *((1j, "type complex"), (object(), "type object"), (int, "type type")),
    ):
        with pytest.raises(NotJSON, match=complaint):
            handed_over(value)


def test_an_answer_is_read_and_what_is_none_is_garbage():
    assert read(line(error="x\0"), NONCE) == Answer("error", said="x\ufffd")
    assert read(line(value=["l", 1]), NONCE) == Answer("value", [1])
    for forged in (
        *(b"", b"no json", b"[1]", b"\xff\xfe", line(), line(value=1, error="x"), line(verdict="passed")),
        *(line(value=value) for value in (["x", 1], ["d", "a"], ["d", 1, 2], ["d", "a", 1, "a", 2], {"a": 1})),
        *(line(value=value) for value in (["i", "0x" + "f" * 9_000], ["l", math.nan])),
        line(value=1) + b"\n" + line(value=2),
        json.dumps({"nonce": "another", "value": 1}).encode(),
        b'{"nonce":"0123","value":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ):
        with pytest.raises(Garbage):
            pytest.fail(f"{forged[:40]} was read as {read(forged, NONCE)}")


def test_a_script_may_print_one_document_and_nothing_else():
    assert read_printed(b' {"a": [1]}\n') == {"a": [1]}
    for printed in (b"", b"1 2", b"debug\n1", b"\xff", b"[1,"):
        with pytest.raises(Garbage):
            read_printed(printed)


def test_a_value_is_shown_as_json_that_every_database_holds():
    shown = presentable([Set([2, 1]), math.nan, -math.inf, "\ud800\0", {"\0": 1}], 3)

    assert shown == [[1, 2], "nan", "-inf", "\ufffd\ufffd", {"\ufffd": 1}]
    assert json.dumps(shown, allow_nan=False)


@pytest.mark.system
def test_what_the_standard_library_makes_is_handed_over():
    for body, value in (
        ("from decimal import Decimal\nreturn [Decimal('1.5'), Decimal(2)]", [1.5, 2.0]),
        ("from fractions import Fraction\nreturn Fraction(1, 4)", 0.25),
        ("from collections import deque, Counter\nreturn [deque([1]), Counter('aa')]", [[1], {"a": 2}]),
        ("from collections import namedtuple\nreturn namedtuple('P', 'x y')(1, 2)", [1, 2]),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: 'int'\nreturn P(3)", {"x": 3}),
        ("import enum\nclass E(enum.IntEnum):\n    A = 4\nreturn E.A", 4),
        ("import sys\nsys.set_int_max_str_digits(640)\nreturn 10 ** 2000", 10**2000),
        ("import builtins\nfor name in ('len', 'type', 'str'):\n    delattr(builtins, name)\nreturn [1]", [1]),
    ):
        code = "def solve():\n" + "\n".join(f"    {part}" for part in body.splitlines())
        result = run(code, [Test("only", [], None)]).results[0]

        assert (result.has_value, result.value) == (True, value), result


def test_values_are_compared_by_what_they_are_and_unordered_lists_as_multisets_at_every_depth():
    for value, expected in (
        *((1, 1.0), (0.1 + 0.2, 0.3), (-0.0, 0), (math.inf, math.inf), (10**400, 10**400), (None, None), ([], [])),
        *(([1, [2.0, "x"]], [1.0, [2, "x"]]), ({"a": [1]}, {"a": [1.0]})),
    ):
        for comparison in ("exact", "tolerance", "unordered"):
            assert is_expected(value, expected, comparison), (value, comparison)
    for value, expected in (
        *((True, 1), (1, True), ("1", 1), (None, 0), ([], {}), ([1, 2], [2, 1]), ([1], [1, 1]), ("é", "e\u0301")),
        *((math.nan, math.nan), ([math.nan], [math.nan]), (10**400, 10**400 + 1), (10**400, 1.5), (0.30001, 0.3)),
        *(({"a": 1}, {"a": 1, "b": 2}), ({"a": 1, "b": 2}, {"a": 1}), (Set([1, 2]), [1, 2])),
    ):
        assert not is_expected(value, expected, "exact"), (value, expected)
    for value, expected in (
        *(([3, 1, 2], [1, 2, 3]), (Set([3, 1]), [1, 3]), ([0.1 + 0.2, 1], [1, 0.3])),
        *(([["b", "a"], ["c"]], [["c"], ["a", "b"]]), ([{"x": [2, 1]}], [{"x": [1, 2]}])),
    ):
        assert is_expected(value, expected, "unordered"), value
    for value, expected in (
        *(([1, 1, 2], [1, 2, 2]), ([1, 2], [1, 2, 2]), ([True], [1]), ([math.nan], [math.nan]), (Set([1]), 1)),
        ([[1, 2], [3]], [[1], [2, 3]]),
    ):
        assert not is_expected(value, expected, "unordered"), value


def test_tolerance_is_one_in_a_million_and_near_zero_a_millionth():
    assert is_expected(1_000_000.5, 1_000_000, "tolerance")
    assert is_expected([5e-7], [0.0], "tolerance")
    assert not is_expected(1.000_01, 1, "tolerance")
    assert not is_expected([1, 2], [2, 1], "tolerance")
    assert not is_expected(1_000_000.5, 1_000_000, "exact")


def test_near_numbers_are_paired_even_where_the_first_that_fits_is_anothers_and_in_long_lists():
    low, middle, high = 1.0, 1.0 + 0.9e-9, 1.0 + 1.8e-9  # neighbours are close, the ends are not

    assert is_expected([middle, low], [high, middle], "unordered")
    assert not is_expected([low, low], [middle, high], "unordered")

    numbers = [place / 7 for place in range(5_000)]
    mixed = [number + 1e-12 for number in numbers]
    random.Random(5).shuffle(mixed)

    assert is_expected(mixed, numbers, "unordered")
    assert not is_expected([*mixed[1:], 9.0e9], numbers, "unordered")


def test_a_value_nested_too_deeply_to_compare_is_not_the_expected_one():
    assert not is_expected(nested(100_000), nested(100_000), "exact")


def within(innermost, depth=190, beside=()):
    for _ in range(depth):
        innermost = [*beside, innermost]
    return innermost


NUMBERS = [float(number) for number in range(150_000)]
KEYS = dict.fromkeys(map(str, range(300)), 0)


def test_the_work_of_a_comparison_is_bounded_by_the_size_of_the_values_not_by_their_depth():
    for name, (value, expected) in {
        "many numbers, deep": (within(NUMBERS), within([1])),
        "near numbers, deep": (within(NUMBERS[:20_000]), within([number + 1e-12 for number in NUMBERS[:20_000]])),
        "twins at every depth": (within([2], beside=[1]), within([3], beside=[1])),
        "objects that differ last": [[{**KEYS, "z": sign * n} for n in range(1, 300)] for sign in (1, -1)],
    }.items():
        looks = itertools.count()  # at the clock: one for so many steps

        is_expected(value, expected, "unordered", seconds=math.inf, clock=lambda looks=looks: next(looks))

        assert next(looks) * verdicts.STEPS_BETWEEN_LOOKS < 2_000_000, name


def test_a_comparison_ends_at_its_deadline_which_fails_the_test_and_says_why():
    for comparison in ("exact", "tolerance", "unordered"):
        with pytest.raises(verdicts.TooLong):
            is_expected(NUMBERS, list(NUMBERS), comparison, seconds=100, clock=itertools.count().__next__)

    verdict, found = verdicts.compared(Test("long", [], NUMBERS), list(NUMBERS), Limits(seconds=1e-9))

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
