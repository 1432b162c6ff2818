"""What solvers and judges may answer, a solution or a vote; whatever they answer, a cycle is played to its end."""

import json
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engine.text import storable, storable_data
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.records import Record
from experiments.workflows.coding.judging import DIMENSIONS, read_vote
from experiments.workflows.coding.solving import read_solution
from tests.experiments import contests
from tests.experiments.contests import judgment
from tests.experiments.cycles import but, one_cycle, problem, ran, well
from tests.fuzzing.generated import LEAVES, inputs_of
from tests.fuzzing.target import Target, text_of
from tests.hanging import without_hanging


def solution(answer):
    return read_solution(answer if isinstance(answer, str) else json.dumps(answer))


NO_CODE = (None, "", "  \n ", [], ["def f(): pass"], {"python": "x"}, 7, True, "```python\n\n```")


def test_a_solution_is_code_and_what_its_author_explains():
    found = solution({"solution_code": "```python\ndef f(): pass\n```", "explanation": " It does nothing. "})
    assert (found.code, found.explanation) == ("def f(): pass", "It does nothing.")
    assert found.text == "```python\ndef f(): pass\n```\n\nIt does nothing."
    for explanation, kept in (("一回の走査で。", "一回の走査で。"), (None, ""), (7, ""), (["words"], "")):
        found = solution({"solution_code": "名前 = '😀'", "explanation": explanation})
        assert (found.code, found.explanation) == ("名前 = '😀'", kept), explanation


def test_an_answer_without_a_solution_says_why():
    for answer, reason in (
        *(({"solution_code": code}, "solution_code is missing, is empty, or is no text") for code in NO_CODE),
        ("{}", "none of the names"),
        ('["def f(): pass"]', "is a list"),
        ('{"explanation": "Only words."}', "solution_code is missing"),
        ({"solution_code": "#" * 60_001}, "longer than"),
    ):
        with without_hanging(), pytest.raises(Unreadable, match=re.escape(reason)) as raised:
            solution(answer)
        assert len(str(raised.value)) < 300, answer


def vote(answer):
    return read_vote(answer if isinstance(answer, str) else json.dumps(answer))


def no_vote(answer) -> str:
    with pytest.raises(Unreadable) as raised:
        vote(answer)
    return str(raised.value)


def test_a_vote_is_five_numbers_and_their_mean():
    found = vote(judgment(scores=dict(zip(DIMENSIONS, (10, 8.5, 0, 4, 7), strict=True)), overall_score=5.9))
    assert found.scores == {**dict(zip(DIMENSIONS, (10, 8.5, 0, 4, 7), strict=True)), "overall": 5.9}
    assert (found.flags, found.feedback) == ((), "Right. Short. Clear.")
    without_overall = judgment(7)
    del without_overall["overall_score"]
    assert vote(without_overall).scores["overall"] == 7
    more = vote(judgment(7, scores={**dict.fromkeys(DIMENSIONS, 7), "style": 10, "overall": 10}, winner="me"))
    assert more.scores == {**dict.fromkeys(DIMENSIONS, 7), "overall": 7}
    for feedback in ("结果正确，代码简洁。", "😀", "", None, ["ok"], "x" * 100_000):
        found = vote(judgment(7, feedback=feedback))
        assert found.feedback == (feedback[:10_000] if isinstance(feedback, str) else "")


def test_a_score_is_a_number_from_0_to_10_and_nothing_else():
    for value, reason in ((10.01, "outside 0 to 10"), ("8.5", "is not a number"), (None, "is missing")):
        said = no_vote(judgment(scores={**dict.fromkeys(DIMENSIONS, 7), "correctness": value}))
        assert (said.startswith("correctness "), reason in said) == (True, True), value
    for dimension in DIMENSIONS:
        others = dict.fromkeys(set(DIMENSIONS) - {dimension}, 7)
        assert no_vote(judgment(scores=others)) == f"{dimension} is missing"
    for scores in (None, [7, 7, 7, 7, 7], "all 7"):
        assert "scores is missing, or is no object" in no_vote(judgment(scores=scores))


def test_an_overall_that_is_not_the_mean_is_computed_anew_and_flagged():
    for overall in (0, 6.9, 7.1, math.nan, 11, 10**400, "7", True, None, [7]):
        found = vote(judgment(7, overall_score=overall))
        assert (found.scores["overall"], found.flags) == (7, ("overall_differs",)), overall
    for rounded in (6.4, 6.42, 6.45):
        scores = dict(zip(DIMENSIONS, (7, 7, 7, 7, 4.1), strict=True))
        found = vote(judgment(scores=scores, overall_score=rounded))
        assert (found.scores["overall"], found.flags) == (pytest.approx(6.42), ()), rounded


CONTEST = Target(
    "contest",
    read=len,
    check=len,
    names=("title", "test_cases", "input", "expected_output", "solution_code", "scores", "overall_score", "feedback"),
    seeds=tuple(json.dumps(said).encode() for said in (problem(1), json.loads(contests.solution()), judgment(7))),
)
ANSWERS = inputs_of(CONTEST).map(lambda data: storable(text_of(data)))  # as the engine hands them on


@settings(max_examples=40)
@given(st.sampled_from(("problem", "solution/coder-2", "judge/coder-1/of/coder-2")), ANSWERS, ANSWERS)
def test_a_cycle_is_played_to_its_end_whatever_is_answered(part, first, second):
    play = one_cycle(but({f"cycle/1/{part}": first, f"cycle/1/{part}/repair": second}), setters="random")

    assert (play.end.reason, play.waiting) == ("completed", [])
    facts = [step.data for step in play.steps if isinstance(step, Record)]
    assert storable_data(json.loads(json.dumps(facts, allow_nan=False))) == facts
    assert len(play.found("cycle_rated")) + len(play.found("cycle_void")) == 1


@settings(max_examples=15)
@given(value=LEAVES | st.lists(LEAVES), error=st.text(), complaint=st.text())
def test_a_cycle_is_played_to_its_end_whatever_its_programs_do(value, error, complaint):
    def answer(step):
        if step.key != "cycle/1/execution/coder-2":
            return ran(step, complaint=complaint) if step.key == "cycle/1/execution/coder-3" else well(step)
        return ran(step, ["failed", "error", "timeout"], value=value, error=error)

    play = one_cycle(answer)
    assert (play.end.reason, len(play.asked("judge"))) == ("completed", 6)
