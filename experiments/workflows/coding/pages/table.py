"""A contest as a table: one row per vote, with the solution that it is on and what the sandbox saw of it."""

from collections.abc import Iterator
from typing import Any

from experiments.models import Cycle, Judgment, Run
from experiments.workflows.coding.judging import DIMENSIONS
from experiments.workflows.coding.pages.record import Contents, contents, passed

SCORES = (*DIMENSIONS, "overall")
COLUMNS = (
    *("run", "cycle", "state", "reason", "counts", "void_reason", "title", "setter", "setter_model"),
    *("solver", "solver_model", "is_setter", "mean", "unrated", "tests_passed", "tests", "complaint", "is_unsafe"),
    *("judge", "judge_model", *SCORES, "unscored_reason", "flags", "feedback", "code", "explanation_text", "ended"),
)
Cells = dict[str, object]


def lines(run: Run) -> Iterator[list[Any]]:
    """The head, then the rows. A solution without judgments, and a cycle without a problem, have a row of their own.

    Cells are empty where something is missing: a missing vote is never a zero.
    """
    yield list(COLUMNS)
    for row in run.cycles.order_by("turn").iterator(chunk_size=1):
        row.run = run
        record = contents(row)
        for cells in _of_cycle(record):
            yield [cells.get(name) for name in COLUMNS]


def _of_cycle(record: Contents) -> Iterator[Cells]:
    about = _about(record.cycle)
    if record.set_problem is None:
        yield about
        return
    for seat in record.seats:
        solver = about | _of_solver(record, seat)
        judgments = record.judgments.get(seat, ())
        yield from (solver | _of_judgment(record, one) for one in judgments)
        if not judgments:
            yield solver


def _about(row: Cycle) -> Cells:
    return {
        "run": row.run_id,
        "cycle": row.turn,
        "state": row.state,
        "reason": row.reason,
        "counts": row.state == Cycle.State.RATED and row.voided is None,
        "void_reason": row.void_reason,
        "title": row.title,
        "setter": row.setter,
        "setter_model": dict(row.contestants).get(row.setter),
        "ended": row.ended,
    }


def _of_solver(record: Contents, seat: str) -> Cells:
    row, ran, solution = record.cycle, record.executions.get(seat), record.solution(seat)
    return {
        "solver": seat,
        "solver_model": dict(row.contestants).get(seat),
        "is_setter": seat == row.setter,
        "mean": row.found.get("means", {}).get(seat),
        "unrated": record.unrated(seat),
        "tests_passed": passed(ran),
        "tests": len(ran.results) if ran and ran.results is not None else None,
        "complaint": ran.complaint if ran else None,
        "is_unsafe": ran.is_unsafe if ran else None,
        "code": solution.get("code") if solution else None,
        "explanation_text": solution.get("explanation") if solution else None,
    }


def _of_judgment(record: Contents, one: Judgment) -> Cells:
    return {
        "judge": one.judge_seat,
        "judge_model": dict(record.cycle.contestants).get(one.judge_seat),
        **{name: (one.scores or {}).get(name) for name in SCORES},
        "unscored_reason": one.unscored_reason,
        "flags": "; ".join(one.flags),
        "feedback": one.rationale,
    }
