"""What solvers and judges may answer, a solution or a vote; whatever they answer, a cycle is played to its end."""

import copy
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engine.text import storable, storable_data
from experiments.workflows.coding.judging import DIMENSIONS, read_vote
from experiments.workflows.coding.solving import read_solution
from experiments.workflows.parsing import Unreadable
from experiments.workflows.steps import Execute, Outcome, Prompt
from tests.cases import each_case
from tests.experiments import contests
from tests.experiments.contests import judgment
from tests.experiments.cycles import Play, but, one_cycle, problem, well
from tests.hanging import without_hanging

# --- solutions ---


def solution(answer):
    return read_solution(answer if isinstance(answer, str) else json.dumps(answer), "coder-1")


NO_CODE = (None, "", "  \n ", [], ["def f(): pass"], {"python": "x"}, 7, True, "```python\n\n```")


def no_solution(answer) -> str:
    with pytest.raises(Unreadable) as raised:
        solution(answer)
    return str(raised.value)


def test_a_solution_is_code_and_what_its_author_explains():
    found = solution({"solution_code": "```python\ndef f(): pass\n```", "explanation": " It does nothing. "})
    assert (found.code, found.explanation) == ("def f(): pass", "It does nothing.")
    assert found.text == "```python\ndef f(): pass\n```\n\nIt does nothing."
    found = solution({"solution_code": "名前 = '😀'", "explanation": "一回の走査で両端を求めます。"})
    assert (found.code, found.explanation) == ("名前 = '😀'", "一回の走査で両端を求めます。")


@each_case(
    ("answer", "reason"),
    [
        *(({"solution_code": code}, "solution_code is missing, is empty, or is no text") for code in NO_CODE),
        ("{}", "none of the names"),
        ('["def f(): pass"]', "is a list"),
        ('{"explanation": "Only words."}', "solution_code is missing"),
        ({"solution_code": "#" * 60_001}, "longer than"),
        ({"solution_code": "#" * 10_000_000}, "longer than"),
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_an_answer_without_a_solution_says_why(answer, reason):
    with without_hanging():
        said = no_solution(answer)
    assert reason in said
    assert len(said) < 300


@each_case("explanation", [None, 7, ["words"], {"a": 1}])
def test_a_solution_may_do_without_an_explanation(explanation):
    assert solution({"solution_code": "x = 1", "explanation": explanation}).explanation == ""


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
    without_overall = judgment(7)
    del without_overall["overall_score"]
    assert vote(without_overall).scores["overall"] == 7


@each_case(
    ("value", "reason"),
    [
        (math.nan, "is not a finite number"),
        (-1, "is -1, outside 0 to 10"),
        (10.01, "outside 0 to 10"),
        (10**400, "is far, outside 0 to 10"),
        ("8.5", "is not a number"),
        (True, "is not a number"),
        (None, "is missing"),
    ],
)
def test_a_score_is_a_number_from_0_to_10_and_nothing_else(value, reason):
    said = no_vote(scored(value))
    assert said.startswith("correctness ")
    assert reason in said


def test_every_dimension_is_needed():
    for dimension in DIMENSIONS:
        scores = {name: 7 for name in DIMENSIONS if name != dimension}
        assert no_vote(judgment(scores=scores)) == f"{dimension} is missing"


@each_case("overall", [0, 6.9, 7.1, math.nan, 11, 10**400, "7", True, None, [7]])
def test_an_overall_that_is_not_the_mean_is_computed_anew_and_flagged(overall):
    found = vote(judgment(7, overall_score=overall))
    assert (found.scores["overall"], found.flags) == (7, ("overall_differs",))


@each_case("overall", [6.4, 6.42, 6.45])
def test_a_rounded_overall_is_the_mean(overall):
    found = vote(judgment(scores=dict(zip(DIMENSIONS, (7, 7, 7, 7, 4.1), strict=True)), overall_score=overall))
    assert (found.scores["overall"], found.flags) == (pytest.approx(6.42), ())


@each_case("feedback", ["结果正确，代码简洁。", "😀", "", None, ["ok"], "x" * 100_000])
def test_feedback_of_any_kind_leaves_the_vote_as_it_is(feedback):
    found = vote(judgment(7, feedback=feedback))
    assert found.scores["overall"] == 7
    assert found.feedback == (feedback[:10_000] if isinstance(feedback, str) else "")


@each_case("scores", [None, 7, [7, 7, 7, 7, 7], "all 7", {}, True])
def test_scores_are_an_object(scores):
    assert "scores is missing, or is no object" in no_vote(judgment(scores=scores)) or scores == {}


def test_what_a_vote_says_beyond_what_was_asked_counts_for_nothing():
    found = vote(judgment(7, scores={**dict.fromkeys(DIMENSIONS, 7), "style": 10, "overall": 10}, winner="me"))
    assert set(found.scores) == {*DIMENSIONS, "overall"}
    assert found.scores["overall"] == 7


# --- whatever models answer ---

TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["", "NaN", "[[1]]", '"x"', "{solution}", "$token", "```", "\ud800", "\x00", "def", "9" * 400]),
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, -(10**400), 1e308, -0.0, 0, 10, 11, -1]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)


@st.composite
def changed(draw: Any, whole: Any) -> Any:
    """The value with something in it replaced, taken away, or put twice."""
    said = copy.deepcopy(whole)
    for _change in range(draw(st.integers(1, 3))):
        place, name = said, None
        while isinstance(place, dict | list) and place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            parent, name = place, draw(st.sampled_from(keys))
            place = parent[name]
            if draw(st.booleans()):
                break
        if name is None:
            return draw(VALUES)
        what = draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        if what == "replace":
            parent[name] = draw(VALUES)
        elif what == "remove":
            del parent[name]
        elif isinstance(parent, list):
            parent.append(parent[name])
        else:
            parent[f"{name}s"] = parent[name]
    return said


def answers(whole: Any) -> st.SearchStrategy[str]:
    """As JSON, now and then cut short or with something around it."""
    texts = changed(whole).map(json.dumps)
    cut = st.tuples(texts, st.integers(0, 400)).map(lambda pair: pair[0][: pair[1]])
    around = st.tuples(TEXTS, texts, TEXTS).map("\n".join)
    return st.one_of(texts, texts, cut, around, TEXTS).map(storable)  # as the engine hands them on


def assert_played(play: Play) -> None:
    assert play.end is not None
    assert (play.end.reason, play.waiting) == ("completed", [])
    for step in play.steps:
        fields = {name: getattr(step, name) for name in step.__dataclass_fields__ if name != "inspect"}
        told = json.loads(json.dumps(fields, allow_nan=False, default=_plain))
        assert storable_data(told) == told, f"{step.key} could not be sent or stored"


def _plain(value: Any) -> Any:
    return value.content if isinstance(value, Prompt) else list(value)


@settings(max_examples=15)
@given(first=answers(problem(1)), second=answers(problem(1)))
def test_any_answer_of_a_setter(first, second):
    play = one_cycle(but({"cycle/1/problem": first, "cycle/1/problem/repair": second}), setters="random")
    assert_played(play)
    assert len(play.found("problem_set")) + len(play.found("cycle_void")) == 1


@settings(max_examples=15)
@given(first=answers(json.loads(contests.solution())), second=answers(json.loads(contests.solution())))
def test_any_answer_of_a_solver(first, second):
    play = one_cycle(but({"cycle/1/solution/coder-2": first, "cycle/1/solution/coder-2/repair": second}))
    assert_played(play)
    [rated] = play.found("cycle_rated")
    assert ("coder-2" in rated["means"]) != ("coder-2" in rated["unrated"])


@settings(max_examples=15)
@given(first=answers(judgment(7)), second=answers(judgment(7)))
def test_any_answer_of_a_judge(first, second):
    key = "cycle/1/judge/coder-1/of/coder-2"
    play = one_cycle(but({key: first, f"{key}/repair": second}))
    assert_played(play)
    [vote] = [vote for vote in play.found("solution_judged") if vote["key"] == key]
    assert bool(vote["scores"]) != bool(vote["unscored_reason"])
    assert all(0 <= score <= 10 for score in (vote["scores"] or {}).values())
    assert len(vote["unscored_reason"]) <= 500


@settings(max_examples=15)
@given(value=VALUES, error=TEXTS, complaint=TEXTS)
def test_any_value_and_any_error_of_a_program(value, error, complaint):
    """Of what a sandbox finds: its values are JSON, its texts are any."""

    def answer(step: Any) -> Outcome:
        outcome = well(step)
        if not isinstance(step, Execute) or step.purpose == "check":
            return outcome
        verdicts = ["failed", "error", "timeout", "memory", "output_limit", "not_run", "passed"]
        results = [
            {**result, "verdict": verdicts[place % 7], "value": value, "error": error}
            for place, result in enumerate(outcome.found["results"])
        ]
        said = complaint if step.seat == "coder-3" else ""
        return Outcome(found={**outcome.found, "results": results, "complaint": said})

    play = one_cycle(answer)
    assert play.end is not None
    assert play.end.reason == "completed"
    assert len(play.asked("judge")) == 6
