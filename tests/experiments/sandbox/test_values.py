"""What comes out of the box, read without believing it."""

import functools
import json
import math

import pytest

from experiments.sandbox import Test, run
from experiments.sandbox.inside.encoding import Encoder, NotJSON
from experiments.sandbox.values import Set
from experiments.sandbox.verdicts import Answer, Garbage, presentable, read, read_printed

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


def test_a_value_arrives_as_json_would_have_it():
    for value, arrives in (
        (None, None),
        (True, True),
        (-7, -7),
        (2**70, 2**70),
        (-(10**4000), -(10**4000)),
        (0.1, 0.1),
        (math.inf, math.inf),
        ("\ud800 \0 é 漢 😀", "\ud800 \0 é 漢 😀"),
        (Text("true"), "true"),
        ((1, (2,)), [1, [2]]),
        (range(3), [0, 1, 2]),
        ((n * n for n in range(3)), [0, 1, 4]),
        ({"a": (1,), 2: None, True: 1.5, None: "x"}, {"a": [1], "2": None, "true": 1.5, "null": "x"}),
        ({0.5: []}, {"0.5": []}),
        ({1: 2}.items(), [[1, 2]]),
    ):
        assert handed_over(value) == arrives, type(value)

    marks = [["s", 1], ["f", "nan"], {"l": ["d"]}, "value"]
    assert handed_over(marks) == marks, "what looks like our own marks arrives as it is"


def test_a_set_arrives_as_a_set_and_nan_as_nan():
    found = handed_over([{3, 1}, frozenset(), math.nan])

    assert sorted(found[0].items) == [1, 3]
    assert found[1] == Set([])
    assert math.isnan(found[2])


def cycle():
    itself: list = [1]
    itself.append(itself)
    return itself


def nested(times, width=1):
    return functools.reduce(lambda inner, _: [inner] * width, range(times), [])


def test_what_json_cannot_hold_is_said_so():
    for value, complaint in (
        (cycle(), "contains itself"),
        (nested(30, width=2), "too many parts"),
        (nested(60), "nested too deeply"),
        ("x" * 200_000, "too long"),
        (["x" * 500] * 500, "too long"),
        (iter(int, 1), "too many parts"),
        (10**5000, "more than 4300 digits"),
        (b"bytes", "type bytes"),
        (1j, "type complex"),
        (object(), "type object"),
        (int, "type type"),
        ({(1, 2): 3}, "key of type tuple"),
    ):
        with pytest.raises(NotJSON, match=complaint):
            handed_over(value)


def test_an_answer_is_read_and_what_is_none_is_garbage():
    assert read(line(error="x\0"), NONCE) == Answer("error", said="x\ufffd")
    assert read(line(value=["l", 1]), NONCE) == Answer("value", [1])
    for forged in (
        b"",
        b"no json",
        b"[1]",
        b"\xff\xfe",
        line(),
        line(value=1, error="x"),
        line(verdict="passed"),
        line(value=["x", 1]),
        line(value=["d", "a"]),
        line(value=["d", 1, 2]),
        line(value=["d", "a", 1, "a", 2]),
        line(value={"a": 1}),
        line(value=["i", "0x" + "f" * 9_000]),
        line(value=["l", math.nan]),
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
