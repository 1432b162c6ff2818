"""What is assumed of a contest where its cost is estimated."""

import json
from dataclasses import replace
from typing import Any

from experiments.gateway.simulated.coding import problems
from experiments.workflows.base.dry_run import BYTES_PER_TOKEN, Assumptions, Path, all_passed, mark, tokens_of
from experiments.workflows.base.material import LONGEST
from experiments.workflows.base.measuring import OF_RUN
from experiments.workflows.base.steps import Ask, Execute, Outcome, Prompt
from experiments.workflows.coding.config import CODERS
from experiments.workflows.coding.judging import DIMENSIONS, LONGEST_VALUE, MOST_FAILURES
from experiments.workflows.coding.problems import LONGEST_TITLE
from experiments.workflows.coding.setting import MOST_EARLIER

TYPICAL = {"health": 5, "problem": 1800, "solution": 900, "judge": 300, "repair": 300}
SHARE_OF_STATEMENT = 3  # a third of a problem's tokens is what the others are shown
EARLIER = mark(MOST_EARLIER * LONGEST_TITLE // 3)
WRONG = mark(8_000)  # what is told at most of a problem that cannot be set
VOTED = json.dumps(
    {"scores": dict.fromkeys(DIMENSIONS, 8), "overall_score": 8.0, "feedback": "It is right, and clear."}
)
FAILURES = mark(MOST_FAILURES * 3 * LONGEST_VALUE // 3)


def _problem() -> dict[str, Any]:
    """One that the simulated models set, too."""
    return next(iter(problems().values()))[0]


def _answer(ask: Ask, tokens: int, at_most: bool) -> str | None:
    """Problems of different cycles have no words in common."""
    if ask.purpose == "problem":
        shown = tokens if at_most else tokens // SHARE_OF_STATEMENT
        words = {name: f"{name}{ask.turn}" for name in ("title", "description")}
        problem = {**_problem(), **words, "description": f"{words['description']} {mark(shown)}"}
        return json.dumps(problem, ensure_ascii=False)
    if ask.purpose == "solution":
        code = _problem()["reference_solution"]
        explained = mark(max(0, tokens - tokens_of(code)))
        return json.dumps({"solution_code": code, "explanation": explained}, ensure_ascii=False)
    return VOTED if ask.purpose in ("judge", "repair") and ask.seat in CODERS else None


def _executed(step: Execute, at_most: bool) -> Outcome:
    """Changed programs fail. At most, so do solutions, with all that judges can be told of it."""
    passed = all_passed(step, at_most)
    if not (step.until_failure or (at_most and step.purpose == "execution")):
        return passed
    failed = {"verdict": "failed", "value": FAILURES if at_most else None, "error": ""}
    return Outcome(found={**passed.found, "results": [failed, *passed.found["results"][1:]]})


def _measured(ask: Ask, at_most: bool) -> Ask:
    """At most, a setter is told of many earlier problems, and of much that is wrong with its own."""
    if not at_most or ask.purpose != "problem":
        return ask
    told = EARLIER + (WRONG if ask.key.endswith("/repair") else "")
    return replace(ask, messages=(*ask.messages, Prompt("user", told)))


def judged_after(solutions: int, ask: Ask, at_most: bool) -> Ask:
    """`_measured` in the cycle that stands for the last: a judge of the whole run has read so many solutions before,
    and no more than a transcript shows.
    """
    if not ask.key.startswith(OF_RUN):
        return _measured(ask, at_most)
    most = LONGEST // BYTES_PER_TOKEN[at_most]
    earlier = most if at_most else min(most, solutions * TYPICAL["solution"])
    return replace(ask, messages=(*ask.messages, Prompt("user", mark(earlier if solutions else 0))))


def _dearest(config: Any, ask: Ask, earlier: int) -> Path:
    """Everything is asked for a second time, because it could not be read the first time."""
    if ask.purpose in ("problem", "solution"):
        return Path.UNREAD if earlier == 0 else Path.READ
    return Path.UNREAD if ask.purpose == "judge" and ask.seat in CODERS else Path.READ


def never_set(config: Any, ask: Ask, earlier: int) -> Path:
    """The dearest cycle without a problem."""
    return Path.UNREAD


ASSUMPTIONS = Assumptions(
    typical=TYPICAL,
    answer=_answer,
    executed=_executed,
    dearest=_dearest,
    measured=_measured,
)
