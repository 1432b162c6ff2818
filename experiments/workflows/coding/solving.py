"""A model solves a problem: its solution is executed the moment it is there, and judged the moment it was executed."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.flags import addresses_reviewers
from experiments.workflows.base.json_reader import code_of, read_json
from experiments.workflows.base.masking import names_itself
from experiments.workflows.base.parsing import Unreadable, plain
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageParsed, Record
from experiments.workflows.base.steps import Ask, Outcome
from experiments.workflows.coding.contest import Round, closed, shortened
from experiments.workflows.coding.evidence import share_passed
from experiments.workflows.coding.judging import judge_all
from experiments.workflows.coding.problems import LONGEST_CODE, Problem

SOLUTION = "coding/solution"
PARAMS = {"temperature": 0.4, "max_tokens": 16_384}
SCHEMA = closed({"solution_code": {"type": "string"}, "explanation": {"type": "string"}})
LONGEST_EXPLANATION = 20_000

Playing = Generator[Any, Any, None]


@dataclass(frozen=True, slots=True)
class Solution:
    seat: str
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
    first = _ask(round_, problem, seat)
    ask = first
    for attempt in (1, 2):
        outcome: Outcome = yield ask
        if not outcome.ok:
            round_.contest.note_failure(seat, outcome)
            round_.unrated[seat] = shortened(f"It gave no solution. {outcome.error}")
            return None
        try:
            solution = read_solution(outcome.text, seat)
        except Unreadable as error:
            round_.unrated[seat] = shortened(f"Its solution could not be read: {error}.")
            if attempt == 1:
                yield round_.superseded(ask.key)
                key = f"{first.key}/repair"
                ask = round_.repair(
                    key,
                    first,
                    outcome.text,
                    str(error),
                    purpose="solution",
                    params=PARAMS,
                    prompt_version=first.prompt_version,
                    inspect=first.inspect,
                )
        else:
            round_.unrated.pop(seat, None)
            parsed = MessageParsed(message=ask.key, parsed=solution.data, text=solution.text, flags=[])
            yield Record(f"{ask.key}/parsed", parsed, turn=round_.turn)
            return solution
    return None


def read_solution(text: str, seat: str) -> Solution:
    """Raises Unreadable when there is no code in it."""
    given = read_json(text, ("solution_code", "explanation"))
    code = code_of(given.get("solution_code"))
    if not code.strip():
        raise Unreadable("solution_code is missing, is empty, or is no text")
    if len(code) > LONGEST_CODE:
        raise Unreadable(f"solution_code is longer than {LONGEST_CODE} characters")
    return Solution(seat, code, plain(given.get("explanation"))[:LONGEST_EXPLANATION])


def _ask(round_: Round, problem: Problem, seat: str) -> Ask:
    contest, key = round_.contest, f"{round_.base}/solution/{seat}"
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
        key,
        seat,
        "solution",
        prompt,
        schema=SCHEMA,
        if_native=True,
        params=PARAMS,
        prompt_version=version(SOLUTION, "coding/repair"),
        inspect=partial(_inspected, contest.names(seat)),
    )


def _inspected(names: tuple[str, ...], text: str) -> list[str]:
    return [*names_itself(text, names), *addresses_reviewers(text)]
