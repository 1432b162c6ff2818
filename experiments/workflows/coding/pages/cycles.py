"""A cycle as its page shows it: the problem, everybody's solution, what the sandbox found, and who judged it how."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import Any

from django.db.models import Count, Q, Sum

from experiments.models import Call, Cycle, Execution, Judgment, Message
from experiments.workflows.coding.judging import DIMENSIONS
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.coders import Coder, coders, names
from experiments.workflows.coding.pages.drawings import Radar, radar
from experiments.workflows.coding.pages.rated import Moment

Data = Mapping[str, Any]
LARGE = ("request", "logprobs", "text", "reasoning")


@dataclass(frozen=True, slots=True)
class TestRow:
    """A test with what came of it. result: of the sandbox; None when it was never run."""

    name: str
    is_hidden: bool
    arguments: Any
    expected: Any
    result: Data | None

    @property
    def verdict(self) -> str:
        return str(self.result["verdict"]) if self.result else "not_run"


@dataclass(frozen=True, slots=True)
class Solver:
    """What a model made of the problem. solution: what was read of its answer; None when there is none. drafts: answers
    that could not be read. mean: of its votes, None when it is not rated, and reason says why. points: means of the
    dimensions.
    """

    coder: Coder
    is_setter: bool
    message: Message | None
    drafts: tuple[Message, ...]
    solution: Data | None
    execution: Execution | None
    tests: tuple[TestRow, ...]
    judgments: tuple[Judgment, ...]
    mean: float | None
    reason: str
    points: Mapping[str, float | None]
    radar: Radar | None

    @property
    def passed(self) -> int:
        return sum(test.verdict == "passed" for test in self.tests)

    @property
    def verdicts(self) -> list[dict[str, str]]:
        return [{"name": test.name, "verdict": test.verdict} for test in self.tests]

    @property
    def has_failures(self) -> bool:
        return self.passed < len(self.tests)

    @property
    def was_run(self) -> bool:
        return self.execution is not None and self.execution.state == Execution.State.DONE

    @property
    def votes(self) -> int:
        return sum(judgment.scores is not None for judgment in self.judgments)


@dataclass(frozen=True, slots=True)
class Figures:
    """overall: mean of the means, 0 to 10. solved: solutions that pass every test, of those that were run. cost None
    while a price is not known; at_least: some are not.
    """

    overall: float | None
    solved: int
    run: int
    votes: int
    missing: int
    seconds: float | None
    cost: Decimal | None
    at_least: bool


def context(cycle: Cycle) -> dict[str, object]:
    """What the page is made of; the number of queries depends neither on the models nor on the votes."""
    cast = cycle.run.experiment.labels
    seats = [seat for seat, _slug in cycle.contestants]
    messages = list(cycle.run.messages.filter(turn=cycle.turn).select_related("step").order_by("seq"))
    executions = list(cycle.run.executions.filter(turn=cycle.turn).select_related("step").order_by("id"))
    judgments = list(cycle.run.judgments.filter(turn=cycle.turn).order_by("judge_seat"))
    problem, drafts = _problem(messages)
    parsed = problem.parsed if problem else None
    solvers = [_solver(cycle, coder, parsed, messages, executions, judgments) for coder in coders(cast, seats)]
    boards = {moment.turn: moment for moment in ratings.history_of(cycle.run)}
    return {
        "run": cycle.run,
        "cycle": cycle,
        "cast": cast,
        "setter": names(cast).get(cycle.setter, cycle.setter),
        "problem": problem,
        "parsed": parsed,
        "drafts": drafts,
        "solvers": sorted(solvers, key=_place),
        "figures": _figures(cycle, solvers, judgments),
        "dimensions": (*DIMENSIONS, "overall"),
        "names": names(cast),
        "after": _after(boards.get(cycle.turn), cycle, cast),
        **_neighbours(cycle),
    }


def _problem(messages: Iterable[Message]) -> tuple[Message | None, list[Message]]:
    """What was set, or would have been; and the answers before it."""
    said = [message for message in messages if message.step.purpose == "problem"]
    return (said[-1], said[:-1]) if said and not said[-1].superseded else (None, said)


def _solver(
    cycle: Cycle,
    coder: Coder,
    parsed: Data | None,
    messages: Sequence[Message],
    executions: Sequence[Execution],
    judgments: Sequence[Judgment],
) -> Solver:
    said = [one for one in messages if one.step.purpose == "solution" and one.seat == coder.seat]
    message = said[-1] if said and not said[-1].superseded else None
    mine = [one for one in executions if one.step.purpose == "execution" and one.seat == coder.seat]
    judged = tuple(one for one in judgments if one.subject == coder.seat)
    points = {name: _mean(one.scores[name] for one in judged if one.scores) for name in DIMENSIONS}
    return Solver(
        coder=coder,
        is_setter=coder.seat == cycle.setter,
        message=message,
        drafts=tuple(one for one in said if one.superseded),
        solution=message.parsed if message else None,
        execution=mine[-1] if mine else None,
        tests=_tests(parsed, mine[-1] if mine else None),
        judgments=judged,
        mean=cycle.found.get("means", {}).get(coder.seat),
        reason=cycle.found.get("unrated", {}).get(coder.seat, ""),
        points=points,
        radar=radar(list(points.items())) if any(one.scores for one in judged) else None,
    )


def _tests(parsed: Data | None, execution: Execution | None) -> tuple[TestRow, ...]:
    if parsed is None or execution is None:
        return ()
    results = {result["name"]: result for result in execution.results or ()}
    return tuple(
        TestRow(test["name"], kind == "hidden", test["arguments"], test["expected"], results.get(test["name"]))
        for kind in ("shown", "hidden")
        for test in parsed[kind]
    )


def _figures(cycle: Cycle, solvers: Sequence[Solver], judgments: Sequence[Judgment]) -> Figures:
    calls = Call.objects.filter(run=cycle.run_id, step__turn=cycle.turn).exclude(step__purpose="health")
    unpriced = Count("pk", filter=Q(cost__isnull=True) & ~Q(state=Call.State.SENT))
    sums = calls.aggregate(total=Sum("cost"), unpriced=unpriced)
    ran = [solver for solver in solvers if solver.was_run]
    votes = sum(judgment.scores is not None for judgment in judgments)
    return Figures(
        overall=cycle.found.get("overall"),
        solved=sum(bool(solver.tests) and solver.passed == len(solver.tests) for solver in ran),
        run=len(ran),
        votes=votes,
        missing=len(judgments) - votes,
        seconds=(cycle.ended - cycle.began).total_seconds() if cycle.ended else None,
        cost=sums["total"],
        at_least=bool(sums["unpriced"]),
    )


def _after(moment: Moment | None, cycle: Cycle, cast: Mapping[str, str]) -> list[tuple[str, float, float | None]]:
    """The compatible board after this cycle, the highest first: name, rating and change, of those who are seated."""
    if moment is None:
        return []
    called = names(cast)
    slugs = {slug: called.get(seat, slug) for seat, slug in cycle.contestants}
    rows = [(slugs.get(slug, slug), rating, moment.changes.get(slug)) for slug, rating in moment.compatible.items()]
    return sorted(rows, key=lambda row: -row[1])


def _neighbours(cycle: Cycle) -> dict[str, Cycle | None]:
    others = Cycle.objects.filter(run=cycle.run_id).only("turn", "title", "run_id")
    return {
        "previous": others.filter(turn__lt=cycle.turn).order_by("-turn").first(),
        "next": others.filter(turn__gt=cycle.turn).order_by("turn").first(),
    }


def _place(solver: Solver) -> tuple[bool, float, int]:
    return (solver.mean is None, -(solver.mean or 0.0), solver.coder.number)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
