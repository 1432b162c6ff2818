"""Finding the JSON answer in what a model wrote: never a crash, never another object in its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.workflows.parsing import (
    DEEPEST_ANSWER,
    LONGEST_ANSWER,
    Unreadable,
    json_answer,
    json_values,
    plain,
)
from tests.cases import each_case
from tests.hanging import without_hanging

NAMES = ("points", "more")
VALUE = {"points": ['a {b} [c] </think> "d" \\', {"contents": "e, }"}], "x": 1.5}
TEXT = json.dumps(VALUE)
PROSE = st.text(alphabet=st.characters(exclude_characters='{}[]<>`"', exclude_categories=["Cs"]), max_size=60)
LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=20)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from([*NAMES, "x", "y"]), VALUES, max_size=4).filter(
    lambda value: any(name in value for name in NAMES)
)


@given(st.text(max_size=400) | st.text(alphabet='{}[]"`\n\\:,a1 </think>', max_size=400))
def test_any_text_is_either_an_answer_or_unreadable(text):
    try:
        value = json_answer(text, NAMES)
    except Unreadable as error:
        value = {"reason": str(error)}

    assert isinstance(value, dict | list)


@given(OBJECTS, PROSE, PROSE)
def test_whatever_answer_is_written_is_read_again(value, before, after):
    assert json_answer(f"{before}{json.dumps(value)}{after}", NAMES) == value
    assert json_answer(f"{before}\n```json\n{json.dumps(value, indent=2)}\n```\n{after}", NAMES) == value
    assert json_answer(f"<think>{before}</think>{json.dumps(value, ensure_ascii=False)}", NAMES) == value


@given(OBJECTS, OBJECTS)
def test_what_was_thought_is_never_the_answer(thought, value):
    assert json_answer(f"<think>\n{json.dumps(thought)}\n</think>\n{json.dumps(value)}", NAMES) == value


@given(OBJECTS, OBJECTS)
def test_of_two_that_differ_none_is_the_answer(one, other):
    text = f"{json.dumps(one)} or {json.dumps(other)}"
    if one == other:
        assert json_answer(text, NAMES) == one
    else:
        with pytest.raises(Unreadable, match="differ"):
            json_answer(text, NAMES)


@given(OBJECTS, st.integers(0, 10_000))
def test_no_part_of_an_answer_that_is_cut_short_is_taken_for_it(value, cut):
    text = json.dumps(value)
    with pytest.raises(Unreadable):
        json_answer(text[: cut % len(text)], ("points", "more") if len(value) > 9 else tuple(set(value) & set(NAMES)))


@given(OBJECTS)
def test_a_comma_after_the_last_item_changes_nothing(value):
    spoiled = json.dumps(value).removesuffix("}") + ",\n}"

    assert json_answer(spoiled, NAMES) == value


@each_case(
    "text",
    [
        f"I use {{braces}} [here] and {{ there. {TEXT}",
        f"{TEXT} {{x}} {{",
        f"{TEXT}\n{TEXT}",
        f'{{"other": 1}} {TEXT} {{"note": 2}}',
        f'{{"result": {TEXT}}}',
        f"[{TEXT}]",
        f"thinking … {{}}</think>{TEXT}",
        f"<thinking>a</thinking> <think>{{b}}</think>{TEXT}",
    ],
    ids=["braces before", "braces after", "twice", "others", "wrapped", "listed", "end of thinking", "two thoughts"],
)
def test_the_object_that_has_the_names_is_found(text):
    assert json_answer(text, NAMES) == VALUE


@each_case("text", ['["a", "b"]', 'Here: ["a", "b"].', '```json\n["a", "b"]\n```'])
def test_a_list_may_stand_in_its_place(text):
    assert json_answer(text, NAMES) == ["a", "b"]


@each_case(
    ("text", "reason"),
    [
        ("", "holds no JSON object"),
        ("no", "holds no JSON object"),
        ("see [1] and [2]", "has none of the names points, more"),
        ("[]", "has none of the names"),
        ('{"other": 1}', "has none of the names"),
        ('{"points": ["a", "b"], "more', "was cut short"),
        ("{'points': 1}", "not valid JSON"),
        (f"{TEXT}{' ' * LONGEST_ANSWER}", "longer than"),
    ],
)
def test_what_is_no_answer_says_why(text, reason):
    with pytest.raises(Unreadable, match=reason):
        json_answer(text, NAMES)


def nested(depth):
    return '{"points": ' * (depth - 1) + "{}" + "}" * (depth - 1)


def test_nesting_up_to_the_limit_is_read_and_deeper_nesting_is_not():
    assert json_answer(nested(DEEPEST_ANSWER), NAMES) == json.loads(nested(DEEPEST_ANSWER))
    with pytest.raises(Unreadable):
        json_answer(nested(DEEPEST_ANSWER + 2).replace("points", "other"), NAMES)


@each_case(
    "text",
    [
        *("[" * 100_000, "{" * 190_000, "{" * 90_000 + "}" * 90_000, '{"a":' * 30_000, "[]{}" * 40_000),
        "{ " * 39 + "[] " * 60_000,
        '{"' * 90_000,
        '{"a": ' + "[1], " * 30_000,
        "<think>" * 20_000,
        "<think>" + "</think>" * 20_000,
        "{}</think>" * 18_000,
        "{" + ", " * 90_000 + "}",
        "{" + '\\"' * 90_000 + "}",
        "{" + '\\"' * 90_000 + "}\\",
        '[\\"]' * 45_000,
    ],
    ids=range(15),
)
def test_no_answer_hangs_its_reader(text):
    with without_hanging(), pytest.raises(Unreadable):
        json_answer(text, NAMES)


@each_case("text", ["{" + "\\'" * 90_000 + "}", "{" + "a: '" * 40_000 + "}", "{" + "/*" * 90_000 + "}"])
def test_what_javascript_leaves_open_hangs_no_reader(text):
    with without_hanging():
        assert json_values(text)[0] == []


@each_case(
    "text",
    [
        """{'points': 'it\\'s', more: "a 24\\" screen",}""",
        """A 24" screen. {'points': 'it\\'s', "more": 'a 24" screen'}""",
        """// don't\n{"points": "it's", /* don't */ "more": 'a 24\\" screen'}""",
    ],
)
def test_a_quotation_mark_that_opens_nothing_hides_no_answer(text):
    assert json_values(text)[0] == [{"points": "it's", "more": 'a 24" screen'}]


def test_what_is_not_closed_is_no_json():
    assert json_values("{'points': 'a, \"more\": 1}")[0] == []


@each_case(
    ("value", "text"), [(" a\n", "a"), ("", ""), (None, ""), (3, ""), (["a"], ""), ("\x00a\ud800", "\ufffda\ufffd")]
)
def test_a_text_is_taken_without_blanks_and_anything_else_is_none(value, text):
    assert plain(value) == text
