"""Whatever models answer, a cycle is played to its end: nothing that they say is an error of ours."""

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engine.text import storable, storable_data
from experiments.workflows.steps import Execute, Outcome, Prompt
from tests.experiments import contests
from tests.experiments.contests import judgment
from tests.experiments.cycles import Play, but, one_cycle, problem, well

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


@settings(max_examples=60)
@given(first=answers(problem(1)), second=answers(problem(1)))
def test_any_answer_of_a_setter(first, second):
    play = one_cycle(but({"cycle/1/problem": first, "cycle/1/problem/repair": second}), setters="random")
    assert_played(play)
    assert len(play.found("problem_set")) + len(play.found("cycle_void")) == 1


@settings(max_examples=60)
@given(first=answers(json.loads(contests.solution())), second=answers(json.loads(contests.solution())))
def test_any_answer_of_a_solver(first, second):
    play = one_cycle(but({"cycle/1/solution/coder-2": first, "cycle/1/solution/coder-2/repair": second}))
    assert_played(play)
    [rated] = play.found("cycle_rated")
    assert ("coder-2" in rated["means"]) != ("coder-2" in rated["unrated"])


@settings(max_examples=60)
@given(first=answers(judgment(7)), second=answers(judgment(7)))
def test_any_answer_of_a_judge(first, second):
    key = "cycle/1/judge/coder-1/of/coder-2"
    play = one_cycle(but({key: first, f"{key}/repair": second}))
    assert_played(play)
    [vote] = [vote for vote in play.found("solution_judged") if vote["key"] == key]
    assert bool(vote["scores"]) != bool(vote["unscored_reason"])
    assert all(0 <= score <= 10 for score in (vote["scores"] or {}).values())
    assert len(vote["unscored_reason"]) <= 500


@settings(max_examples=60)
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
