"""Every other model judges a solution without knowing whose it is. A vote that is not given is left out."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from experiments.workflows.base.json_reader import read_json
from experiments.workflows.base.masking import masked, names_itself
from experiments.workflows.base.parsing import Unreadable, number, plain
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Outcome
from experiments.workflows.coding.contest import Round, closed, shortened
from experiments.workflows.coding.evidence import in_words
from experiments.workflows.coding.problems import Problem
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

Playing = Generator[Any, Any, None]


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


def read_vote(text: str) -> Vote:
    """Raises Unreadable unless all five dimensions are numbers from 0 to 10; the overall is their mean, whatever the
    judge says it is.
    """
    given = read_json(text, ("scores", "overall_score", "feedback"))
    scores = _scores(given.get("scores"))
    overall = fmean(scores.values())
    flags = () if _agrees(given.get("overall_score"), overall) else (OVERALL_DIFFERS,)
    return Vote({**scores, "overall": overall}, plain(given.get("feedback"))[:LONGEST_FEEDBACK], flags)


def _agrees(said: Any, overall: float) -> bool:
    try:
        return abs(number(said, LOW, HIGH) - overall) <= ROUNDING
    except Unreadable:
        return False


def _scores(given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise Unreadable("scores is missing, or is no object")
    found = {}
    for name in DIMENSIONS:
        try:
            found[name] = number(given.get(name), LOW, HIGH)
        except Unreadable as error:
            raise Unreadable(f"{name} {error}") from error
    return found


def _judge(round_: Round, solver: str, judge: str, statement: str, prompt: str) -> Playing:
    key = f"{round_.base}/judge/{judge}/of/{solver}"
    first = round_.ask(
        key,
        judge,
        "judge",
        prompt,
        schema=SCHEMA,
        if_native=True,
        params=PARAMS,
        prompt_version=version(JUDGE, "coding/repair"),
    )
    ask, reason = first, ""
    for attempt in (1, 2):
        outcome: Outcome = yield ask
        if not outcome.ok:
            round_.contest.note_failure(judge, outcome)
            reason = outcome.error
            break
        try:
            vote = read_vote(outcome.text)
        except Unreadable as error:
            reason = f"Its judgment could not be read: {error}."
            if attempt == 1:
                ask = round_.repair(
                    f"{key}/repair", first, outcome.text, str(error), params=PARAMS, prompt_version=first.prompt_version
                )
        else:
            round_.votes.setdefault(solver, {})[judge] = vote.scores["overall"]
            flags = [*vote.flags, *names_itself(vote.feedback, round_.contest.names(judge), statement)]
            yield _record(round_, key, solver, judge, ask, scores=vote.scores, feedback=vote.feedback, flags=flags)
            return
    yield _record(round_, key, solver, judge, ask, reason=shortened(reason))


def _record(
    round_: Round,
    key: str,
    solver: str,
    judge: str,
    ask: Ask,
    *,
    scores: Mapping[str, float] | None = None,
    feedback: str = "",
    flags: Sequence[str] = (),
    reason: str = "",
) -> Record:
    vote = SolutionJudged(
        key=key,
        turn=round_.turn,
        subject=solver,
        judge_seat=judge,
        flags=list(flags),
        scores=dict(scores) if scores else None,
        unscored_reason=reason,
        rationale=feedback,
    )
    return Record(f"{key}/vote", vote, turn=round_.turn, source=ask.key)
