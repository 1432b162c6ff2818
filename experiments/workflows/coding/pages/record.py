"""What a cycle left in the record: its problem, the solutions, what the sandbox found, and the votes in words."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.models import Cycle, Execution, Judgment, Message

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """By seat: answers that count, solutions as they ran, judgments on each solution in the order of the seats.

    problem: the answer that was set, None where there is none. checks: runs that proved the problem.
    """

    cycle: Cycle
    problem: Message | None
    solutions: Mapping[str, Message]
    executions: Mapping[str, Execution]
    checks: Sequence[Execution]
    judgments: Mapping[str, Sequence[Judgment]]

    @property
    def seats(self) -> list[str]:
        return [seat for seat, _slug in self.cycle.contestants]

    @property
    def set_problem(self) -> Data | None:
        """What was read out of the setter's answer."""
        return self.problem.parsed if self.problem and self.cycle.state != Cycle.State.VOID else None

    def solution(self, seat: str) -> Data | None:
        """code and explanation; None where nothing could be read."""
        message = self.solutions.get(seat)
        parsed = message.parsed if message else None
        return parsed if parsed and parsed.get("kind") == "solution" else None

    def tests(self) -> list[Data]:
        """Of the problem that was set, those that were shown first."""
        problem = self.set_problem or {}
        return [*problem.get("shown", ()), *problem.get("hidden", ())]

    def unrated(self, seat: str) -> str:
        """Why a solver has no score in this cycle; empty for one that has."""
        return str(self.cycle.found.get("unrated", {}).get(seat, ""))


def contents(cycle: Cycle) -> Contents:
    """In three queries, whatever the number of models."""
    said = cycle.run.messages.filter(turn=cycle.turn, superseded=False).select_related("step", "call").order_by("seq")
    messages = [message for message in said if message.step.purpose in {"problem", "solution"}]
    executions = list(cycle.run.executions.filter(turn=cycle.turn).select_related("step").order_by("id"))
    judgments: dict[str, list[Judgment]] = defaultdict(list)
    place = {seat: number for number, (seat, _slug) in enumerate(cycle.contestants)}
    found = cycle.run.judgments.filter(turn=cycle.turn).select_related("call", "step")
    for judgment in sorted(found, key=lambda one: (place.get(one.judge_seat, len(place)), one.judge_seat)):
        judgments[judgment.subject].append(judgment)
    problems = [message for message in messages if message.step.purpose == "problem"]
    return Contents(
        cycle=cycle,
        problem=problems[-1] if problems else None,
        solutions={message.seat: message for message in messages if message.step.purpose == "solution"},
        executions={one.seat: one for one in executions if one.step.purpose == "execution"},
        checks=[one for one in executions if one.step.purpose == "check"],
        judgments=dict(judgments),
    )


def passed(execution: Execution | None) -> int | None:
    """How many tests it passed; None when nothing was run to its end."""
    if execution is None or execution.results is None:
        return None
    verdicts = [str(result["verdict"]) for result in execution.results]
    return verdicts.count("passed")
