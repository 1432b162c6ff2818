"""Every other model judges a solution without knowing whose it is. A vote that is not given is left out.

Judges are told in words what the sandbox found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from experiments.workflows.base.json_reader import read_json
from experiments.workflows.base.masking import masked, names_itself
from experiments.workflows.base.parsing import Unreadable, number, plain
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Outcome
from experiments.workflows.coding.contest import REPAIR, Playing, Round, closed, shortened
from experiments.workflows.coding.problems import Problem, Test, as_json
from experiments.workflows.coding.records import SolutionJudged

JUDGE = "coding/judge"
DIMENSIONS = ("correctness", "efficiency", "readability", "robustness", "explanation")
LOW, HIGH = 0.0, 10.0
ROUNDING = 0.051  # the overall that a judge gives is rounded to one decimal
PARAMS = {"temperature": 0.2, "max_tokens": 4096}
NUMBER = {"type": "number", "minimum": LOW, "maximum": HIGH}
SCHEMA = closed(
    {
        "scores": closed(dict.fromkeys(DIMENSIONS, NUMBER)),
        "overall_score": NUMBER,
        "feedback": {"type": "string"},
    }
)
LONGEST_FEEDBACK = 10_000
OVERALL_DIFFERS = "overall_differs"
NO_EXPLANATION = "(none)"
MOST_FAILURES = 6  # that are told one by one
LONGEST_VALUE = 200  # characters


@dataclass(frozen=True, slots=True)
class Vote:
    """scores: the five dimensions and their mean as `overall`, each 0 to 10. flags: what was noticed about it."""

    scores: dict[str, float]
    feedback: str
    flags: tuple[str, ...] = ()


def judge_all(round_: Round, problem: Problem, solver: str, code: str, explanation: str, ran: Outcome) -> Playing:
    """All judges at once, in an order of the seed's: who comes first is no part of the contest. All read the same."""
    contest = round_.contest
    judges = [seat for seat in round_.coders if seat != solver]
    contest.cast.random(f"{round_.base}/judges/{solver}").shuffle(judges)
    token, names, statement = contest.cast.fence(f"{round_.base}/judges/{solver}"), contest.names(solver), problem.text
    prompt = fill(
        JUDGE,
        token=token,
        problem=fenced("problem", statement, token),
        criteria=fenced("criteria", "\n".join(problem.criteria), token),
        solution=fenced("solution", masked(code, names, statement), token),
        explanation=fenced("explanation", masked(explanation, names, statement) or NO_EXPLANATION, token),
        execution=fenced("execution", masked(in_words(ran, problem), names, statement), token),
    )
    yield [_judge(round_, solver, judge, statement, prompt) for judge in judges]


def _judge(round_: Round, solver: str, judge: str, statement: str, prompt: str) -> Playing:
    key = f"{round_.base}/judge/{judge}/of/{solver}"
    how = {"schema": SCHEMA, "params": PARAMS, "prompt_version": version(JUDGE, REPAIR)}
    answer = yield from round_.answered(round_.ask(key, judge, "judge", prompt, **how), read_vote)
    vote, flags, reason = answer.found, [], ""
    if vote is not None:
        round_.votes.setdefault(solver, {})[judge] = vote.scores["overall"]
        flags = [*vote.flags, *names_itself(vote.feedback, round_.contest.names(judge), statement)]
    elif answer.error is not None:
        reason = shortened(answer.error)
    else:
        reason = shortened(f"Its judgment could not be read: {answer.unread}.")
    judged = SolutionJudged(
        key=key,
        turn=round_.turn,
        subject=solver,
        judge_seat=judge,
        flags=flags,
        scores=vote.scores if vote else None,
        unscored_reason=reason,
        rationale=vote.feedback if vote else "",
    )
    yield Record(f"{key}/vote", judged, turn=round_.turn, source=answer.ask.key)


def read_vote(text: str) -> Vote:
    """Raises Unreadable unless all five dimensions are numbers from 0 to 10; the overall is their mean, whatever the
    judge says it is.
    """
    given = read_json(text, ("scores", "overall_score", "feedback"))
    said, scores = given.get("scores"), {}
    if not isinstance(said, Mapping):
        raise Unreadable("scores is missing, or is no object")
    for name in DIMENSIONS:
        try:
            scores[name] = number(said.get(name), LOW, HIGH)
        except Unreadable as error:
            raise Unreadable(f"{name} {error}") from error
    overall = fmean(scores.values())
    try:
        differs = abs(number(given.get("overall_score"), LOW, HIGH) - overall) > ROUNDING
    except Unreadable:
        differs = True
    feedback = plain(given.get("feedback"))[:LONGEST_FEEDBACK]
    return Vote({**scores, "overall": overall}, feedback, (OVERALL_DIFFERS,) if differs else ())


# --- what the sandbox found, as a share and in words ---


def count_passed(ran: Outcome) -> int:
    """How many tests were passed; 0 where nothing was run."""
    results: Sequence[Mapping[str, Any]] = ran.found.get("results", ())
    return sum(result["verdict"] == "passed" for result in results)


def share_passed(ran: Outcome) -> float | None:
    """0 to 1; None when the sandbox could not run the solution, which says nothing about it."""
    return count_passed(ran) / len(ran.found["results"]) if ran.ok else None


def in_words(ran: Outcome, problem: Problem) -> str:
    """What the program said or gave stands there as JSON, on one line: it cannot pass for what the sandbox says."""
    if not ran.ok:
        return f"The sandbox could not run it: {ran.error}. Trace the code by hand."
    if complaint := ran.found["complaint"]:
        return f"It could not be run at all: {as_json(shortened(complaint, LONGEST_VALUE))}"
    results: Sequence[Mapping[str, Any]] = ran.found["results"]
    pairs = zip(problem.tests, results, strict=True)
    failures = [(test, result) for test, result in pairs if result["verdict"] != "passed"]
    lines = [f"It passed {count_passed(ran)} of {len(results)} tests."]
    lines += [_failure(test, result) for test, result in failures[:MOST_FAILURES]]
    if len(failures) > MOST_FAILURES:
        lines.append(f"And {len(failures) - MOST_FAILURES} more.")
    return "\n".join(lines)


def _failure(test: Test, result: Mapping[str, Any]) -> str:
    given = shortened(as_json(test.arguments), LONGEST_VALUE)
    what = {
        "failed": f"it gave {value_of(result)}, and {shortened(as_json(test.expected), LONGEST_VALUE)} is right",
        "timeout": "it took too long",
        "memory": "it took too much memory",
        "output_limit": "it printed too much",
        "not_run": "there was no time left to run it",
        "error": f"it ended with the error {as_json(shortened(result['error'], LONGEST_VALUE))}",
    }
    return f"Test {test.name}, with {given}: {what[result['verdict']]}."


def value_of(result: Mapping[str, Any], longest: int = LONGEST_VALUE) -> str:
    """What a program gave, as JSON; of a value that was too long to be kept, its beginning."""
    if "value_sha256" in result:
        return f"{shortened(str(result['value']), longest)} (cut)"
    return shortened(as_json(result.get("value")), longest)
