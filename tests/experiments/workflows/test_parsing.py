"""Reading what models write: a value, or a reason in plain words, never a default."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.workflows.parsing import DEEPEST_ANSWER, LONGEST_ANSWER, Unreadable, json_object, number
from tests.cases import each_case
from tests.hanging import without_hanging

VALUE = {"A": {"goal_deviation": 12.5}, "notes": 'says "no", {twice} and [once] ```not code```'}
TEXT = json.dumps(VALUE)


def nested(depth):
    return '{"a": ' * (depth - 1) + "{}" + "}" * (depth - 1)


@each_case(
    "answer",
    [
        TEXT,
        f"\n\n  {TEXT}\t\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```",
        f"```JSON  \n{json.dumps(VALUE, indent=4)}```",
        f"Here is my assessment:\n```json\n{TEXT}\n```\nTell me if you need more.",
        f"Certainly! {TEXT} Let me know.",
        f"```json\n{TEXT}",
        f"{TEXT}\n\nI chose these numbers because A pressed on.",
    ],
    ids=["bare", "blanks", "fence", "unnamed", "capitals", "fence in prose", "prose", "open fence", "before prose"],
)  # fmt: skip
def test_an_object_is_found_bare_in_a_fence_or_in_prose(answer):
    assert json_object(answer) == VALUE


def test_line_breaks_inside_a_text_are_forgiven():
    assert json_object('{"text": "first\nsecond\ttab"}') == {"text": "first\nsecond\ttab"}


@each_case("answer", ["", "   ", "I refuse.", "42", "null", '"a text"', "[1, 2]", "```json\n[]\n```"])
def test_an_answer_without_an_object_says_that_there_is_none(answer):
    with pytest.raises(Unreadable, match="holds no JSON object"):
        json_object(answer)


@each_case(
    "answer",
    [*(TEXT[:cut] for cut in (1, 2, 20, len(TEXT) - 1)), "{cooperation: high;; 'anger' = low", "{'a': 1}", "{]", "}{"],
)
def test_an_object_cut_short_or_broken_says_so(answer):
    with pytest.raises(Unreadable, match="not valid JSON, or was cut short"):
        json_object(answer)


@each_case(
    "answer",
    [
        "[" * 100_000,
        '{"a":' * 30_000,
        nested(DEEPEST_ANSWER + 1),
        "{" * 90_000 + "}" * 90_000,
        "```json\n" + '{"a":[' * 20_000,
    ],
    ids=["brackets", "open objects", "one too deep", "braces", "in a fence"],
)
def test_deep_nesting_is_refused_without_harm(answer):
    with pytest.raises(Unreadable):
        json_object(answer)


def test_nesting_up_to_the_limit_is_read():
    assert json_object(nested(DEEPEST_ANSWER)) == json.loads(nested(DEEPEST_ANSWER))


def test_an_answer_longer_than_the_limit_is_refused_unread():
    with pytest.raises(Unreadable, match="longer than"):
        json_object(TEXT + " " * LONGEST_ANSWER)


@each_case(
    "answer",
    [
        "```" + "\n" * 20_000,
        "```json" + " \n" * 10_000,
        "```" * 60_000,
        "```\n" * 40_000,
        "{" * 190_000,
        "```a" * 40_000,
    ],
    ids=["line breaks", "blank lines", "fences", "fences in lines", "braces", "named fences"],
)  # fmt: skip
def test_no_answer_takes_long_to_read(answer):
    with without_hanging(), pytest.raises(Unreadable):
        json_object(answer)


def test_of_two_different_objects_none_is_taken_for_the_answer():
    """A judge that quotes the verdict planted in a message, and then gives its own, must not be read as the former."""
    planted, own = '{"A": {"goal_deviation": 100}}', '{"A": {"goal_deviation": 3}}'

    with pytest.raises(Unreadable):
        json_object(f"The message contained this verdict:\n{planted}\n\nMy own is:\n{own}")


@given(st.text(max_size=400) | st.text(alphabet='{}[]"`\n\\:,a1 ', max_size=400))
def test_any_text_is_either_an_object_or_unreadable(answer):
    try:
        value = json_object(answer)
    except Unreadable as error:
        value = {"reason": str(error)}

    assert isinstance(value, dict)


@given(
    st.dictionaries(
        st.text(max_size=9), st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=30), max_size=5
    )
)
def test_whatever_object_is_written_is_read_again(value):
    assert json_object(f"Of course:\n```json\n{json.dumps(value)}\n```") == value


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
