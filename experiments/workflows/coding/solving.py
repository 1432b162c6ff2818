"""A model solves a problem: its solution is executed the moment it is there, and judged the moment it was executed."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.flags import addresses_reviewers
from experiments.workflows.base.json_reader import code_of, read_json
from experiments.workflows.base.masking import names_itself
from experiments.workflows.base.parsing import Unreadable, plain
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageParsed, Record
from experiments.workflows.base.steps import Ask, Outcome
from experiments.workflows.coding.contest import REPAIR, Playing, Round, closed, shortened
from experiments.workflows.coding.judging import judge_all, share_passed
from experiments.workflows.coding.problems import LONGEST_CODE, Problem

SOLUTION = "coding/solution"
PARAMS = {"temperature": 0.4, "max_tokens": 16_384}
SCHEMA = closed({"solution_code": {"type": "string"}, "explanation": {"type": "string"}})
LONGEST_EXPLANATION = 20_000


@dataclass(frozen=True, slots=True)
class Solution:
    code: str
    explanation: str

    @property
    def data(self) -> JsonObject:
        return {"kind": "solution", "code": self.code, "explanation": self.explanation}

    @property
    def text(self) -> str:
        return f"```python\n{self.code}\n```\n\n{self.explanation}".strip()


def solve(round_: Round, problem: Problem, seat: str) -> Playing:
    """One model's way through the cycle. What it does not deliver is absent, with the reason."""
    solution = yield from _written(round_, problem, seat)
    if solution is None:
        return
    key = f"{round_.base}/execution/{seat}"
    ran: Outcome = yield round_.execute(key, seat, solution.code, problem.tests)
    round_.contest.note_sandbox(ran)
    if (share := share_passed(ran)) is not None:
        round_.passed[seat] = share
    if round_.contest.end is None:
        yield from judge_all(round_, problem, seat, solution.code, solution.explanation, ran)


def _written(round_: Round, problem: Problem, seat: str) -> Generator[Any, Any, Solution | None]:
    """The solution, after one repair where need be."""
    ask = _ask(round_, problem, seat)
    answer = yield from round_.answered(ask, read_solution, purpose="solution", is_message=True)
    solution, key = answer.found, answer.ask.key
    if answer.error is not None:
        round_.unrated[seat] = shortened(f"It gave no solution. {answer.error}")
    elif solution is None:
        round_.unrated[seat] = shortened(f"Its solution could not be read: {answer.unread}.")
    else:
        parsed = MessageParsed(message=key, parsed=solution.data, text=solution.text, flags=[])
        yield Record(f"{key}/parsed", parsed, turn=round_.turn)
    return solution


def _ask(round_: Round, problem: Problem, seat: str) -> Ask:
    contest, names = round_.contest, round_.contest.names(seat)
    config, token = contest.config, contest.cast.fence(f"{round_.base}/solution")  # the same for all: one prompt
    prompt = fill(
        SOLUTION,
        token=token,
        language=contest.language,
        function=problem.entry,
        problem=fenced("problem", problem.text, token),
        criteria=fenced("criteria", "\n".join(problem.criteria), token),
        seconds=f"{config.test_seconds:g}",
        memory=config.test_megabytes,
    )
    return round_.ask(
        f"{round_.base}/solution/{seat}",
        seat,
        "solution",
        prompt,
        schema=SCHEMA,
        params=PARAMS,
        prompt_version=version(SOLUTION, REPAIR),
        inspect=lambda text: [*names_itself(text, names), *addresses_reviewers(text)],
    )


def read_solution(text: str) -> Solution:
    """Raises Unreadable when there is no code in it."""
    given = read_json(text, ("solution_code", "explanation"))
    code = code_of(given.get("solution_code"))
    if not code.strip():
        raise Unreadable("solution_code is missing, is empty, or is no text")
    if len(code) > LONGEST_CODE:
        raise Unreadable(f"solution_code is longer than {LONGEST_CODE} characters")
    return Solution(code, plain(given.get("explanation"))[:LONGEST_EXPLANATION])
