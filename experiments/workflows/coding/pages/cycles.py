"""A cycle: what it left in the record, and its page with everybody's solution, its tests and its judges."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.db.models import Count, Q, Sum

from experiments.models import CALLS_UNDER_WAY, Call, Cycle, Execution, Judgment, Message
from experiments.runs import timeline
from experiments.runs.timeline import Entry
from experiments.workflows.coding.judging import DIMENSIONS
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.drawings import radar
from experiments.workflows.coding.pages.run_page import Coder, coders, names, slot_of

Data = Mapping[str, Any]
SCORES = (*DIMENSIONS, "overall")


@dataclass(frozen=True, slots=True)
class Contents:
    """By seat: answers that count, solutions as they ran, judgments on each solution in the order of the seats.

    problem: the answer that was set, or would have been; None where there is none. drafts: answers that were not taken.
    checks: runs that proved the problem.
    """

    cycle: Cycle
    problem: Message | None
    drafts: Sequence[Message]
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

    def mean(self, seat: str) -> float | None:
        found: float | None = self.cycle.found.get("means", {}).get(seat)
        return found

    def unrated(self, seat: str) -> str:
        """Why a solver has no score in this cycle; empty for one that has."""
        return str(self.cycle.found.get("unrated", {}).get(seat, ""))


def contents(cycle: Cycle) -> Contents:
    """In three queries, whatever the number of models."""
    messages = cycle.run.messages.filter(turn=cycle.turn, step__purpose__in=("problem", "solution"))
    answers = list(messages.select_related("step").order_by("seq"))
    taken = [message for message in answers if not message.superseded]
    problems = [message for message in taken if message.step.purpose == "problem"]
    executions = list(cycle.run.executions.filter(turn=cycle.turn).select_related("step").order_by("id"))
    place = {seat: number for number, (seat, _slug) in enumerate(cycle.contestants)}
    judgments: dict[str, list[Judgment]] = defaultdict(list)
    found = cycle.run.judgments.filter(turn=cycle.turn).select_related("step")
    for judgment in sorted(found, key=lambda one: (place.get(one.judge_seat, len(place)), one.judge_seat)):
        judgments[judgment.subject].append(judgment)
    return Contents(
        cycle=cycle,
        problem=problems[-1] if problems else None,
        drafts=[message for message in answers if message.superseded],
        solutions={message.seat: message for message in taken if message.step.purpose == "solution"},
        executions={one.seat: one for one in executions if one.step.purpose == "execution"},
        checks=[one for one in executions if one.step.purpose == "check"],
        judgments=dict(judgments),
    )


def passed(execution: Execution | None) -> int | None:
    """How many tests it passed; None when nothing was run to its end."""
    if execution is None or execution.results is None:
        return None
    return sum(str(result["verdict"]) == "passed" for result in execution.results)


# --- the page ---


def context(cycle: Cycle) -> dict[str, object]:
    """What the page is made of; the number of queries depends neither on the models nor on the votes."""
    cast = cycle.run.experiment.labels
    record, named = contents(cycle), names(cast)
    parsed = record.problem.parsed if record.problem else None
    best_first = sorted(
        coders(cast, record.seats), key=lambda one: (record.mean(one.seat) is None, -(record.mean(one.seat) or 0.0))
    )
    solvers = [_solver(record, coder, parsed) for coder in best_first]
    measured = _measured(cycle)
    others = Cycle.objects.filter(run=cycle.run_id).only("turn", "title", "run_id")
    return {
        "run": cycle.run,
        "cycle": cycle,
        "cast": cast,
        "setter": named.get(cycle.setter, cycle.setter),
        "problem": record.problem,
        "parsed": parsed,
        "drafts": [one for one in record.drafts if one.step.purpose == "problem"],
        "solvers": [
            {**one, "measured": measured.get(f"solution-{cycle.turn}-{one['coder'].seat}", [])} for one in solvers
        ],
        "measured": measured.get(f"outcome-{cycle.turn}", []),
        "figures": _figures(record, solvers),
        "dimensions": SCORES,
        "names": named,
        "after": _after(cycle, named),
        "previous": others.filter(turn__lt=cycle.turn).order_by("-turn").first(),
        "next": others.filter(turn__gt=cycle.turn).order_by("turn").first(),
    }


def _measured(cycle: Cycle) -> dict[str, list[Entry]]:
    """What the run's judge found of the cycle by its instrument, by the places that the run's page has for it."""
    if not cycle.run.config.get("judge"):
        return {}
    found = cycle.run.steps.filter(turn=cycle.turn, purpose="unit_judged").order_by("id").values_list("data", flat=True)
    shown = (timeline.entry("unit_judged", data) for data in found)
    return timeline.arranged((entry for entry in shown if entry), slot_of)


def _solver(record: Contents, coder: Coder, problem: Data | None) -> dict[str, Any]:
    """What a model made of the problem. solution: what was read of its answer; None when there is none. drafts: answers
    that could not be read. tests: each with the sandbox's result, None when it was never run. mean: of its votes, None
    when it is not rated, and reason says why. points: means of the dimensions.
    """
    seat, message, execution = coder.seat, record.solutions.get(coder.seat), record.executions.get(coder.seat)
    tests = []
    if problem is not None and execution is not None:
        results = {result["name"]: result for result in execution.results or ()}
        for kind in ("shown", "hidden"):
            for test in problem[kind]:
                result = results.get(test["name"])
                verdict = result["verdict"] if result else "not_run"
                tests.append({**test, "is_hidden": kind == "hidden", "result": result, "verdict": verdict})
    judgments = record.judgments.get(seat, ())
    scored = [judgment.scores for judgment in judgments if judgment.scores]
    points = {name: fmean(scores[name] for scores in scored) if scored else None for name in DIMENSIONS}
    count = sum(test["verdict"] == "passed" for test in tests)
    return {
        "coder": coder,
        "is_setter": seat == record.cycle.setter,
        "message": message,
        "drafts": [one for one in record.drafts if one.step.purpose == "solution" and one.seat == seat],
        "solution": message.parsed if message else None,
        "execution": execution,
        "was_run": execution is not None and execution.state == Execution.State.DONE,
        "tests": tests,
        "passed": count,
        "has_failures": count < len(tests),
        "judgments": judgments,
        "votes": len(scored),
        "mean": record.mean(seat),
        "reason": record.unrated(seat),
        "points": points,
        "radar": radar(list(points.items())) if scored else None,
    }


def _figures(record: Contents, solvers: Sequence[Data]) -> dict[str, object]:
    """solved: solutions that pass every test, of those that were run. cost None while no price is known; at_least: some
    are not.
    """
    cycle, ran = record.cycle, [solver for solver in solvers if solver["was_run"]]
    calls = Call.objects.filter(run=cycle.run_id, step__turn=cycle.turn).exclude(step__purpose="health")
    unpriced = Count("pk", filter=Q(cost__isnull=True) & ~Q(state__in=CALLS_UNDER_WAY))
    sums = calls.aggregate(total=Sum("cost"), unpriced=unpriced)
    judgments = [judgment for given in record.judgments.values() for judgment in given]
    votes = sum(judgment.scores is not None for judgment in judgments)
    return {
        "overall": cycle.found.get("overall"),
        "solved": sum(bool(solver["tests"]) and not solver["has_failures"] for solver in ran),
        "run": len(ran),
        "votes": votes,
        "missing": len(judgments) - votes,
        "seconds": (cycle.ended - cycle.began).total_seconds() if cycle.ended else None,
        "cost": sums["total"],
        "at_least": bool(sums["unpriced"]),
    }


def _after(cycle: Cycle, named: Mapping[str, str]) -> list[tuple[str, float, float | None]]:
    """The compatible board after this cycle, the highest first: name, rating and change, of those who are seated."""
    moment = ratings.moment_of(cycle)
    if moment is None:
        return []
    called = {slug: named.get(seat, slug) for seat, slug in cycle.contestants}
    rows = [(called.get(slug, slug), rating, moment.changes.get(slug)) for slug, rating in moment.compatible.items()]
    return sorted(rows, key=lambda row: -row[1])
