"""What solvers and judges may answer: a solution or a vote, or why it is none."""

import json
import math

import pytest

from experiments.workflows.coding.judging import DIMENSIONS, read_vote
from experiments.workflows.coding.solving import read_solution
from experiments.workflows.parsing import Unreadable
from tests.cases import each_case
from tests.experiments.contests import judgment
from tests.hanging import without_hanging

# --- solutions ---


def solution(answer):
    return read_solution(answer if isinstance(answer, str) else json.dumps(answer), "coder-1")


def no_solution(answer) -> str:
    with pytest.raises(Unreadable) as raised:
        solution(answer)
    return str(raised.value)


def test_a_solution_is_code_and_what_its_author_explains():
    found = solution({"solution_code": "```python\ndef f(): pass\n```", "explanation": " It does nothing. "})
    assert (found.code, found.explanation) == ("def f(): pass", "It does nothing.")
    assert found.text == "```python\ndef f(): pass\n```\n\nIt does nothing."


@each_case("code", [None, "", "  \n ", [], ["def f(): pass"], {"python": "x"}, 7, True, "```python\n\n```"])
def test_what_is_no_code_is_no_solution(code):
    assert "solution_code is missing, is empty, or is no text" in no_solution({"solution_code": code})


@each_case(
    ("answer", "reason"),
    [
        ("", "no JSON object"),
        ("def f(): pass", "no JSON object"),
        ("{}", "none of the names"),
        ("null", "no JSON object"),
        ('["def f(): pass"]', "is a list"),
        ('{"explanation": "Only words."}', "solution_code is missing"),
        ('{"solution_code": "x = 1"', "cut short"),
        ('{"solution_code": "x = 1"} or {"solution_code": "x = 2"}', "two JSON objects that differ"),
        (json.dumps({"solution_code": "#" * 60_001}), "longer than"),
        (json.dumps({"solution_code": "#" * 10_000_000}), "longer than"),
    ],
)
def test_an_answer_without_a_solution_says_why(answer, reason):
    with without_hanging():
        said = no_solution(answer)
    assert reason in said
    assert len(said) < 300


def test_the_answer_counts_and_not_the_thinking_before_it():
    draft = json.dumps({"solution_code": "draft = 1"})
    assert solution(f"<think>{draft}</think>\n" + json.dumps({"solution_code": "real = 1"})).code == "real = 1"


@each_case("explanation", [None, 7, ["words"], {"a": 1}])
def test_a_solution_may_do_without_an_explanation(explanation):
    assert solution({"solution_code": "x = 1", "explanation": explanation}).explanation == ""


def test_a_solution_in_any_language_of_people_is_read():
    found = solution({"solution_code": "名前 = '😀'", "explanation": "一回の走査で両端を求めます。"})
    assert (found.code, found.explanation) == ("名前 = '😀'", "一回の走査で両端を求めます。")


# --- votes ---


def vote(answer):
    return read_vote(answer if isinstance(answer, str) else json.dumps(answer))


def no_vote(answer) -> str:
    with pytest.raises(Unreadable) as raised:
        vote(answer)
    return str(raised.value)


def scored(value, **others):
    """A judgment in which correctness is `value`."""
    return judgment(scores={**dict.fromkeys(DIMENSIONS, 7), "correctness": value}, **others)


def test_a_vote_is_five_numbers_and_their_mean():
    found = vote(judgment(scores=dict(zip(DIMENSIONS, (10, 8.5, 0, 4, 7), strict=True)), overall_score=5.9))
    assert found.scores == {**dict(zip(DIMENSIONS, (10, 8.5, 0, 4, 7), strict=True)), "overall": 5.9}
    assert (found.flags, found.feedback) == ((), "Right. Short. Clear.")


@each_case(
    ("value", "reason"),
    [
        (math.nan, "is not a finite number"),
        (math.inf, "is not a finite number"),
        (-math.inf, "is not a finite number"),
        (-1, "is -1, outside 0 to 10"),
        (-0.001, "outside 0 to 10"),
        (11, "is 11, outside 0 to 10"),
        (10.01, "outside 0 to 10"),
        (1000, "outside 0 to 10"),
        (10**400, "is far, outside 0 to 10"),
        ("8.5", "is not a number"),
        ("8/10", "is not a number"),
        ("", "is not a number"),
        (True, "is not a number"),
        (False, "is not a number"),
        (None, "is missing"),
        ([8], "is not a number"),
        ({"score": 8}, "is not a number"),
    ],
)
def test_a_score_is_a_number_from_0_to_10_and_nothing_else(value, reason):
    said = no_vote(scored(value))
    assert said.startswith("correctness ")
    assert reason in said


@each_case("dimension", DIMENSIONS)
def test_every_dimension_is_needed(dimension):
    scores = {name: 7 for name in DIMENSIONS if name != dimension}
    assert no_vote(judgment(scores=scores)) == f"{dimension} is missing"


@each_case("value", [0, 10, -0.0, 0.1, 10.0])
def test_the_ends_of_the_scale_are_scores(value):
    assert vote(scored(value)).scores["correctness"] == value


@each_case("overall", [0, 10, 6.9, 7.1, math.nan, math.inf, -1, 11, 10**400, "7", "7/10", True, None, [7], {"mean": 7}])
def test_an_overall_that_is_not_the_mean_is_computed_anew_and_flagged(overall):
    found = vote(judgment(7, overall_score=overall))
    assert (found.scores["overall"], found.flags) == (7, ("overall_differs",))


@each_case("overall", [6.4, 6.42, 6.45])
def test_a_rounded_overall_is_the_mean(overall):
    found = vote(judgment(scores=dict(zip(DIMENSIONS, (7, 7, 7, 7, 4.1), strict=True)), overall_score=overall))
    assert (found.scores["overall"], found.flags) == (pytest.approx(6.42), ())


def test_a_missing_overall_is_no_obstacle():
    given = judgment(7)
    del given["overall_score"]
    assert vote(given).scores["overall"] == 7


@each_case("feedback", ["结果正确，代码简洁。", "صحيح وواضح", "Да.", "😀", "", None, 7, ["ok"], "x" * 100_000])
def test_feedback_of_any_kind_leaves_the_vote_as_it_is(feedback):
    found = vote(judgment(7, feedback=feedback))
    assert found.scores["overall"] == 7
    assert found.feedback == (feedback[:10_000] if isinstance(feedback, str) else "")


@each_case("scores", [None, 7, [7, 7, 7, 7, 7], "all 7", {}, [], True])
def test_scores_are_an_object(scores):
    assert "scores is missing, or is no object" in no_vote(judgment(scores=scores)) or scores == {}
    assert no_vote(judgment(scores=scores))


@each_case("answer", ["", "8/10", "7", "null", "[]", "{}", "[7]", "Overall I would say 8.", '{"overall_score": 8}'])
def test_what_holds_no_scores_is_no_vote(answer):
    assert no_vote(answer)


def test_two_votes_in_one_answer_are_none():
    assert "differ" in no_vote(f"{json.dumps(judgment(7))}\nOn reflection:\n{json.dumps(judgment(2))}")


def test_what_a_vote_says_beyond_what_was_asked_counts_for_nothing():
    found = vote(judgment(7, scores={**dict.fromkeys(DIMENSIONS, 7), "style": 10, "overall": 10}, winner="me"))
    assert set(found.scores) == {*DIMENSIONS, "overall"}
    assert found.scores["overall"] == 7
