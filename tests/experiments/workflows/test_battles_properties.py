"""Whatever a judge writes: no reading fails, no winner is invented, and no order is favoured."""

import json

from hypothesis import given
from hypothesis import strategies as st

from experiments.workflows.battles.combining import combined, verdict_of
from experiments.workflows.battles.judged import Judged
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.battles.words import choice_in
from experiments.workflows.parsing import Unreadable
from tests.experiments.battling import reply

TEXT = PROMPTS["text_quality"]
PIECES = st.sampled_from(
    (
        *(
            "A",
            "B",
            "a",
            "b",
            "tie",
            "Response ",
            "Image ",
            "图",
            "回答",
            "winner",
            '"winner"',
            ":",
            " ",
            "\n",
            "{",
            "}",
            "[",
            "]",
        ),
        *(
            '"',
            "'",
            ",",
            "//",
            "/*",
            "*/",
            "is better than",
            "is not",
            "both are equal",
            "更好",
            "平局",
            "overall, ",
            "```json\n",
        ),
        *(
            "<think>",
            "</think>",
            "**",
            "(",
            ")",
            ">",
            "=",
            "or",
            "not ",
            "scores",
            "null",
            "7",
            "\\",
            "\x00",
            "\ud800",
            "ａ",
        ),
    )
)
REPLIES = st.lists(PIECES | st.text(max_size=6), max_size=30).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(("A", "B", "tie")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(("winner", "scores", "A", "B", "verdict", "rationale", "confidence")), inner)
    ),
    max_leaves=12,
)
JUDGED = st.builds(
    Judged,
    winner=st.sampled_from(("first", "second", "tie", None)),
    scores=st.none(),
    confidence=st.none(),
    rationale=st.just(""),
    unread_reason=st.just("It says nothing."),
)
NEITHER = st.text(alphabet=st.characters(exclude_characters="aAbBaＡＢａｂ", exclude_categories=("Cs",)), max_size=80)


@given(REPLIES)
def test_any_text_is_read_or_refused_with_a_reason(text):
    judged = TEXT.read(text)

    assert judged.winner in ("first", "second", "tie", None)
    assert bool(judged.unread_reason) == (judged.winner is None)
    assert json.dumps([judged.rationale, *judged.absent]).isascii()


@given(JSON)
def test_any_json_is_read_or_refused_with_a_reason(value):
    judged = TEXT.read(json.dumps(value))
    assert bool(judged.unread_reason) == (judged.winner is None)
    for scores in (judged.scores or {}).values():
        assert all(1 <= score <= 10 for score in scores.values())
    assert judged.confidence is None or 0 <= judged.confidence <= 1


@given(NEITHER)
def test_no_side_wins_whose_letter_is_not_in_the_reply(text):
    said = text.lower()
    names = any(word in said for word in ("first", "second", "第一", "第二"))
    assert names or TEXT.read(text).winner in (None, "tie")


@given(st.text(max_size=60))
def test_an_answer_names_a_side_only_with_its_letter(said):
    try:
        choice = choice_in(said)
    except Unreadable:
        return
    letters = {"first": "AaＡａ", "second": "BbＢｂ"}.get(choice)
    assert letters is None or any(letter in said for letter in letters) or "first" in said.lower() or "第" in said


@given(st.text(max_size=200), st.sampled_from(("A", "B", "tie")))
def test_the_reasons_of_a_verdict_do_not_change_it(rationale, winner):
    judged = TEXT.read(reply(winner, rationale=rationale))
    assert judged.winner == {"A": "first", "B": "second", "tie": "tie"}[winner]


@given(JUDGED, JUDGED)
def test_swapping_both_the_sides_and_the_verdicts_swaps_the_result(original, swapped):
    result = combined([verdict_of("original", "1", original), verdict_of("swapped", "2", swapped)])
    mirrored = combined([verdict_of("original", "1", swapped), verdict_of("swapped", "2", original)])

    opposite = {"left": "right", "right": "left"}
    assert mirrored.winner == opposite.get(result.winner, result.winner)
    assert mirrored.is_consistent == result.is_consistent
    is_open = None in (original.winner, swapped.winner)
    assert (result.winner == "", result.is_consistent is None, bool(result.open_reason)) == (is_open,) * 3
