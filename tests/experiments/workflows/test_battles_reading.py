"""Verdicts as judges really write them: read where they are certain, refused with a plain reason where they are not."""

import json
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.battles.words import choice_in
from tests.experiments.battling import reply

TEXT, PICTURES = PROMPTS["text_quality"], PROMPTS["image_edit"]
FIRST = ("A", "a", "**A**", "Response A", "response_a", "Answer A", "Image A", "图A", "回答A", "“A”", "(A)", "A.", "Ａ")
SECOND = (
    *("B", "`B`", "Image B", "Answer B", "Candidate B", "Response B", "the second response", "图B", "[[B]]", "B wins"),
    *("B is better than A", "Response B is clearly better", "A is worse than B", "B > A", "B更好", "图B优于图A"),
    *("A不如B", "回答B比回答A更好", "Response B (by a small margin)", "The winner is B", "I prefer Response B"),
)
TIES = (
    *("tie", "TIE", "Tie.", "Both are equal", "both are equally good", "It's a tie", "A = B", "平局", "两者相当"),
    *("不分上下", "neither", "Neither is better"),
)
UNCERTAIN = (
    *("", " ", "?", "none", "N/A", "C", "A or B", "A and B", "A/B", "A|B|tie", "not A", "B is not better than A"),
    *("I do not think A is better", "It is not a tie", "Which is better, A or B?", "both are bad", "maybe"),
    *("A is better at style", "A is better. B is better.", "Response Alpha", "Better", "neutral", "B's style"),
)
WINNERS = {"first": FIRST, "second": SECOND, "tie": TIES, None: UNCERTAIN}


def test_a_winner_is_read_in_any_spelling_and_never_guessed():
    """GenArena takes "Image B", "Answer B", "Candidate B" and "Both are equal" for A."""
    for said, winner in [(said, winner) for winner, many in WINNERS.items() for said in many]:
        judged = TEXT.read(reply(said))

        assert judged.winner == winner, said
        assert bool(judged.unread_reason) == (winner is None)
        if said.strip():
            assert TEXT.read(said).winner == winner, "the same words without JSON"


def test_a_verdict_is_found_wherever_it_stands_and_one_that_contradicts_itself_is_unreadable_with_the_reason():
    for text in (
        f"Let me think. A is better at style, B is more accurate.\n\n{reply('B')}",
        '{"verdict": {"winner": "Image B"}}',
        '{"winner": ["B"]}',
        '{"better_response": "B", "score": 4}',
        '{"获胜者": "图B"}',
        '{"criteria": [{"name": "style", "winner": "A"}, {"name": "truth", "winner": "A"}], "winner": "B"}',
        f'{{"winner": "B"}} or, in full:\n\n{reply("B")}',
        "Both have merits.\n\n**Winner:** Response B\n\nIt is more complete.",
        "On accuracy, A is better than B. Overall, B is better than A.",
        "两者都切题。\n最终结论：图B更好。",
        '{"scores": {}}\n\nWinner: B',
    ):
        assert TEXT.read(text).winner == "second"

    for text, reason in (
        ("I cannot judge these.", "it names no winner"),
        (reply("A")[:-9], "cut short"),
        ('{"criteria": [{"winner": "A"}, {"winner": "A"}], "winner": "B", "conf', "cut short"),
        ('{"winner": true}', "it names no winner"),
        ('{"winner": ["A", "B"]}', "it names no winner"),
        ('{"winner": "A", "better_response": "B"}', "more than one winner"),
        ('{"one": {"winner": "A"}, "two": {"winner": "B"}}', "objects that differ"),
        (f"Response A holds {reply('A')}, which is no vote.\n\n{reply('B')}", "objects that differ"),
        ("Winner: Response A.\nWinner: Response B.", "more than one winner"),
        ("Overall, A is better. In conclusion, B is better.", "more than one winner"),
        ('{"scores": {"A": {}, "B": {}}}', "it names no winner"),
        (reply("A" * 400), "no name of a side"),
        ("x" * 200_001, "longer than 200000 characters"),
    ):
        judged = TEXT.read(text)

        assert (judged.winner, judged.scores, judged.confidence) == (None, None, None), text
        assert reason in judged.unread_reason
        assert len(judged.unread_reason) < 300


def test_a_score_or_confidence_that_makes_no_sense_is_absent_and_neither_clamped_nor_made_up():
    scores = {label: dict.fromkeys(("helpfulness", "accuracy", "completeness", "clarity"), 5) for label in "AB"}
    for bad in (0, 11, "8", None, True, [7]):
        judged = TEXT.read(reply("A", scores={**scores, "A": {**scores["A"], "helpfulness": bad}}))
        assert judged.winner == "first"
        assert "helpfulness" not in judged.scores["first"], bad
        assert [reason for reason in judged.absent if reason.startswith("A's helpfulness is ")] == list(judged.absent)
    given = {"Response A": {"Helpfulness": 8, "accuracy": 7.5}, "b": {"clarity": 3}}
    named = TEXT.read(reply("A", scores=given))
    assert named.scores == {"first": {"helpfulness": 8.0, "accuracy": 7.5}, "second": {"clarity": 3.0}}
    assert len(named.absent) == 5
    for confidence, reasons in ((..., 0), (None, 0), (1.2, 1), (-0.1, 1), ("high", 1), (float("nan"), 1)):
        judged = TEXT.read(reply("A", confidence=confidence))
        assert (judged.winner, judged.confidence, len(judged.absent)) == ("first", None, reasons), confidence


def test_every_prompt_reads_the_answer_that_its_own_schema_asks_for_and_no_tie_where_that_asks_for_a_choice():
    for name, prompt in PROMPTS.items():
        criteria = prompt.schema["properties"]["scores"]["properties"]["A"]["required"]
        scores = {label: dict.fromkeys(criteria, 5) for label in "AB"}
        for said in prompt.schema["properties"]["winner"]["enum"]:
            judged = prompt.read(reply(said, scores=scores))
            assert judged.winner == {"A": "first", "B": "second", "tie": "tie"}[said], name
            assert (set(judged.scores["first"]), judged.absent) == (set(criteria), ()), name
    assert (PICTURES.allows_tie, PICTURES.schema["properties"]["winner"]["enum"]) == (False, ["A", "B"])
    for said in TIES:
        judged = PICTURES.read(json.dumps({"winner": said}))
        assert (judged.winner, "asks for a choice" in judged.unread_reason) == (None, True), said


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_an_answer_names_a_side_only_with_its_letter(said):
    with suppress(Unreadable):
        letters = {"first": "AaＡａ", "second": "BbＢｂ"}.get(choice_in(said))
        assert letters is None or any(letter in said for letter in letters) or "first" in said.lower() or "第" in said
