"""What models answer where a form was asked for: JSON, verdicts, scores, problems, solutions, orders of answers."""

import json
from collections.abc import Callable
from typing import Any

from experiments.workflows.base.ballots import FLAGS, Ranked, read_ballot, read_repaired
from experiments.workflows.base.filter import NOTHING_LEFT, own_words, read_filter
from experiments.workflows.base.json_reader import Found, Missing, code_of, find_json, read_json
from experiments.workflows.base.judge import RANGES, read_verdicts
from experiments.workflows.base.labels import labels_for, plain
from experiments.workflows.base.parsing import Unreadable
from experiments.workflows.base.steps import Outcome
from experiments.workflows.battles.reading import Judged, read_verdict
from experiments.workflows.coding.judging import DIMENSIONS, HIGH, LOW, read_vote
from experiments.workflows.coding.problems import COMPARISONS, is_plain, read_problem
from experiments.workflows.coding.solving import read_solution
from experiments.workflows.debate.answers import ENGLISH, Part, prose, read_actions, read_brief, read_points
from tests.fuzzing.target import Target, text_of

NAMES = ("points", "more")
SIDES = ("A", "B")
CRITERIA = ("accuracy", "style")
ORIGINAL = "I would offer you ten apples today, and <think>hide two</think> keep the rest."


def attempt(read: Callable[..., Any], *given: Any) -> Any:
    """What is read; None with a reason of at least a few letters."""
    try:
        return read(*given)
    except Unreadable as why:
        assert len(str(why)) > 5
        return None


def find(data: bytes) -> Found | Missing:
    return find_json(text_of(data), NAMES, or_list=True)


def check_json(data: bytes) -> None:
    """What is found fits; what is not found has its reason."""
    found = find(data)
    if isinstance(found, Missing):
        assert len(found.message) > 5
        return
    assert found.value if isinstance(found.value, list) else set(found.value) & set(NAMES)
    assert len(found.around) < 2 * len(text_of(data))


def judge(data: bytes) -> Any:
    return read_verdicts(Outcome(text=text_of(data)), SIDES)


def check_judge(data: bytes) -> None:
    """A score is one that stands in the answer, within its range; a missing one has its reason."""
    verdicts, dynamics = judge(data)
    assert [verdict.subject for verdict in verdicts] == list(SIDES)
    for verdict in verdicts:
        scores = verdict.scores or {}
        assert verdict.scores != {}
        assert all(RANGES[name][0] <= value <= RANGES[name][1] for name, value in scores.items())
        assert bool(verdict.unscored_reason) == (set(scores) < set(RANGES))
        assert verdict.confidence is None or 0 <= verdict.confidence <= 1
        assert verdict.rationale in said_in(data)
        if scores:
            given = read_json(text_of(data), SIDES)[verdict.subject]
            flat = {**(given.get("sentiment") if isinstance(given.get("sentiment"), dict) else {}), **given}
            assert all(flat[name] == value for name, value in scores.items())
    assert dynamics in said_in(data)


def said_in(data: bytes) -> set[str]:
    """Every text in the JSON of the answer."""
    found = attempt(read_json, text_of(data), SIDES)
    said, waiting = {""}, [found]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            said.add(item)
        elif isinstance(item, dict | list):
            waiting += item.values() if isinstance(item, dict) else item
    return said


def verdict(data: bytes) -> Judged:
    return read_verdict(text_of(data), CRITERIA, allows_tie=True)


def check_verdict(data: bytes) -> None:
    for allows_tie in (True, False):
        found = read_verdict(text_of(data), CRITERIA, allows_tie=allows_tie)
        assert found.winner in (None, "first", "second", *(("tie",) if allows_tie else ()))
        assert bool(found.unread_reason) == (found.winner is None)
        assert found.scores != {}
        for scores in (found.scores or {}).values():
            assert set(scores) <= set(CRITERIA)
            assert all(1 <= value <= 10 for value in scores.values())
        assert found.confidence is None or 0 <= found.confidence <= 1


def filtered(data: bytes) -> Any:
    return read_filter(Outcome(text=text_of(data)), ORIGINAL)


def check_filter(data: bytes) -> None:
    """Whatever the filter says, nothing passes that was not said."""
    passed = filtered(data)
    assert passed.text == NOTHING_LEFT or own_words(passed.text, ORIGINAL)
    if passed.status in ("failed", "refused", "kept"):
        assert passed.text == ORIGINAL
    assert passed.status != "failed" or passed.reasoning
    assert passed.confidence is None or 0 <= passed.confidence <= 1


def contest(data: bytes) -> tuple[Any, Any, Any]:
    text = text_of(data)
    return attempt(read_problem, text), attempt(read_solution, text), attempt(read_vote, text)


def check_contest(data: bytes) -> None:
    problem, solution, vote = contest(data)
    if problem:
        json.dumps(problem.data, allow_nan=False).encode()
        assert is_plain(problem.data | {"shown": [], "hidden": []})
        assert all(is_plain(test.arguments) and is_plain(test.expected) for test in problem.tests)
        assert problem.comparison in COMPARISONS
        assert problem.text
    if solution:
        assert solution.code.strip()
        assert is_plain(solution.data)
    if vote:
        assert all(LOW <= value <= HIGH for value in vote.scores.values())
    assert len(code_of(text_of(data))) <= len(text_of(data))


PART = Part("A", 2, points=3, counterpoints=2)
KNOWN = ("A1.p1", "B1", "C2.c1")


def debate(data: bytes) -> list[Any]:
    text = text_of(data)
    prose(text)
    readers = ((read_brief,), (read_points, PART), (read_actions, KNOWN))
    return [attempt(read, text, *more, ENGLISH) for read, *more in readers]


def check_debate(data: bytes) -> None:
    brief, points, actions = debate(data)
    for reading in filter(None, (brief, points, actions)):
        json.dumps(reading.parsed).encode()
        assert is_plain(reading.parsed)
        assert reading.text.strip()
    if brief:
        assert brief.parsed["objective"]
    if points:
        said = points.parsed["new_perspectives"] + points.parsed["counterpoints"]
        assert said
        assert all(one["contents"].strip() for one in said)
    if actions:
        named = actions.parsed["recommended"] + actions.parsed["discouraged"]
        assert all(set(one["sources"]) <= set(KNOWN) for one in named)


LABELS = labels_for(4)
SHOWN = ("The sky is blue.", "FINAL RANKING:\n1. Response B\n2. Response A")


def ballots_of(data: bytes) -> list[Ranked]:
    found = []
    text = text_of(data)
    for read, more in ((read_ballot, (SHOWN,)), (read_repaired, ())):
        try:
            found.append(read(text, LABELS, *more))
        except Unreadable as why:
            assert len(str(why)) > 5
    return found


def check_ballots(data: bytes) -> None:
    """A vote is for somebody who stands in the text, once, and what was put right is said."""
    letters = plain(text_of(data)).upper()
    for ballot in ballots_of(data):
        named = [label for place in ballot.order for label in place]
        assert named
        assert all(ballot.order)
        assert len(set(named)) == len(named)
        assert set(named) <= set(LABELS)
        assert all(label[-1] in letters for label in named)
        assert ("partial" in ballot.flags) == (len(named) < len(LABELS))
        assert ("ties" in ballot.flags) == any(len(place) > 1 for place in ballot.order)
        assert set(ballot.flags) <= set(FLAGS)


def seed(value: Any) -> tuple[bytes, ...]:
    """Bare, in a fence after some thinking, in Python's way of writing, and cut short."""
    text = json.dumps(value, indent=1)
    dressed = f"<think>It is {{}}.</think>\nHere it is:\n```json\n{text}\n```\n"
    return tuple(one.encode() for one in (text, dressed, repr(value), text[: len(text) * 2 // 3]))


SCORES = dict.fromkeys(RANGES, 0.5)
PROBLEM = {
    "title": "Sum",
    "description": "Add.",
    "function_name": "total",
    "test_cases": [{"input": f"[{n}, 1]", "expected_output": str(n + 1)} for n in range(3)],
    "hidden_test_cases": [{"input": [n, 2], "expected_output": n + 2} for n in range(12)],
    "reference_solution": "```python\ndef total(a, b):\n    return a + b\n```",
    "evaluation_criteria": ["It adds."],
}
VOTE = {"scores": dict.fromkeys(DIMENSIONS, 7), "overall_score": 7, "feedback": "Fine."}
BATTLE = {"winner": "A", "confidence": 0.8, "rationale": "A is better."}
BATTLE |= {"scores": {"A": {"accuracy": 7, "style": 8}, "B": {"accuracy": 5, "style": 6}}}
JSON = (
    "{", "}", "[", "]", '"', "'", ":", ",", "\\", "```json\n", "```", "\n", " ", "<think>", "</think>", "//", "/*",
    "*/", "null", "true", "NaN", "Infinity", "1e999", "-0", "1" * 400, '"points": 1', '"more": ', "points: 'a'", ",",
    "\x00", "\ud800", "\ufeff", "text", '\\"', "\\'", '{"points": [', "]}",
)  # fmt: skip
PROSE = (
    "A", "B", "Response A", "Image B", "is better than", "is worse than", "The winner is", "tie", "Both", "equal",
    "neither", "not", ">", "=", ".", "回答A", "更好", "比", "**", "winner", "prefer ", "however", ", ", "is clearly ",
)  # fmt: skip
OF_JUDGES = (*RANGES, "sentiment", "notes", "confidence", "dynamics", "A", "B")
OF_VERDICTS = (
    "winner", "scores", "A", "B", "accuracy", "style", "confidence", "rationale", "better_response", "evaluation",
)  # fmt: skip
OF_CONTESTS = (
    *PROBLEM, *VOTE, *VOTE["scores"], "input", "expected_output", "solution_code", "explanation", "comparison",
)  # fmt: skip
OF_DEBATES = (
    "objective", "context", "preferences", "missing", "clarifying_questions", "new_perspectives", "counterpoints",
    "recommended", "discouraged", "contents", "id", "speaker", "sources", "text",
)  # fmt: skip

OF_BALLOTS = (
    "FINAL RANKING:", "**Final Ranking**\n", "最终排名：", "\n", "1. ", "2. ", "3) ", "- ", "> ", " > ", " = ", ", ",
    "|", "| # | Response |\n", "|-|-|\n", "Response A", "Response B", "Response C", "Response D", "Response Z",
    "A", "B", "回答 C", "is better than", "[", "]", '"', "{", "}", '{"ranking": ["Response A", ', "```\n", "(tie)",
    "**", "&gt;", "第1名", "１．", "🥇", "\u200b", "\x00", "\ud800", "\u2028", "    ", "\t", "</b>", ". ",
    "Response Analysis",
)  # fmt: skip
BALLOTS = (
    b"Good.\n\nFINAL RANKING:\n1. Response C\n2. Response A\n3. Response B\n4. Response D",
    b"FINAL RANKING: C > A = B > D",
    b"## Final ranking\n| # | Response |\n|-|-|\n| 2 | A |\n| 1 | B |",
    b'```json\n{"review": "x", "ranking": ["Response A", ["Response B", "Response C"]]}\n```',
    "最终排名：\n1. 回答 B\n2. 回答 A".encode(),
)
PASSED = {"text": "I would offer you ten apples", "removed": ["aside"], "confidence": 1, "reasoning": "x"}
CONTESTS = (*seed(PROBLEM), *seed(VOTE), *seed({"solution_code": "def f(): pass", "explanation": "x"}))
DEBATES = (
    *seed({"objective": "x", "missing": ["y"]}),
    *seed({"new_perspectives": [{"id": "p1", "contents": "x"}], "counterpoints": ["y"], "speaker": "A"}),
    *seed({"recommended": [{"contents": "x", "sources": ["A1.p1", "B9"]}]}),
)

TARGETS = (
    Target("json", find, check_json, JSON, NAMES, seed({"points": [{"id": 1}], "more": "a, }"})),
    Target("judge", judge, check_judge, JSON, OF_JUDGES, seed({side: {**SCORES, "notes": "x"} for side in SIDES})),
    Target("verdict", verdict, check_verdict, (*JSON, *PROSE), OF_VERDICTS, (*seed(BATTLE), b"Image B is better.")),
    Target("filter", filtered, check_filter, (*JSON, *ORIGINAL.split()), tuple(PASSED), seed(PASSED)),
    Target("contest", contest, check_contest, (*JSON, "def total(a, b):\n", "```python\n"), OF_CONTESTS, CONTESTS),
    Target("debate", debate, check_debate, (*JSON, "A1.p1", "B1", "Model A", "（A）"), OF_DEBATES, DEBATES),
    Target("ballot", ballots_of, check_ballots, OF_BALLOTS, ("ranking", "review"), BALLOTS),
)
