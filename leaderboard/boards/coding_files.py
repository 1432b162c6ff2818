"""The ladder of coding as a file: one line per model with all of its roles, or tables in Markdown."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from experiments.runs import figures
from experiments.runs.reports.csv_export import cell
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, RunRatings, SetterRow, Solver
from experiments.workflows.coding.pages.words import reason_words
from leaderboard.boards import coding
from leaderboard.boards.markdown_tables import escaped, line

SOLVER = (
    *("name", "label", "compatible", "change", "reverse", "elo", "elo_change"),
    *("rating", "lower", "upper", "reason", "component", "rank", "best", "worst", "group", "first"),
    *("battles", "wins", "losses", "ties", "cycles", "votes", "unrated"),
)
OF_SOLVER = ("mean", "passed")
OF_SETTER = ("calibration", "by_others", "overall", "passed")
OF_JUDGE = ("mean", "spread", "severity", "consensus", "consensus_ranks", "passed")
ENDS = ("", "_lower", "_upper", "_reason")


def columns() -> list[str]:
    """Figures have their interval beside them, and the reason where there is none."""
    figures_of = {"": OF_SOLVER, "setter_": OF_SETTER, "judge_": OF_JUDGE}
    wide = {role: [f"{role}{name}{end}" for name in names for end in ENDS] for role, names in figures_of.items()}
    setter, judge = ["setter_problems", "setter_void"], ["judge_votes", "judge_missing"]
    return [*SOLVER, *wide[""], *setter, *wide["setter_"], *judge, *wide["judge_"]]


def document(contest: RunRatings | None) -> dict[str, object]:
    """All boards, and the history cycle by cycle: by numbers, without titles, times or runs."""
    if contest is None:
        return {"cycles": 0, "solvers": [], "setters": [], "judges": [], "history": []}
    found = asdict(contest)
    history = [
        {
            "number": one.number,
            "setter": one.setter,
            "overall": one.overall,
            "calibration": one.calibration,
            "means": dict(one.means),
            "compatible": dict(one.compatible),
            "elo": dict(one.elo),
        }
        for one in coding.history()
    ]
    return {**found, "history": history}


def as_csv(contest: RunRatings | None) -> str:
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(columns())
    setters = {row.name: row for row in contest.setters} if contest else {}
    judges = {row.name: row for row in contest.judges} if contest else {}
    for solver in contest.solvers if contest else ():
        values = _values(solver, setters.get(solver.name), judges.get(solver.name))
        lines.writerow([cell(value) for value in values])
    return written.getvalue()


def as_markdown(contest: RunRatings | None) -> str:
    """Tables under their headings."""
    if contest is None:
        return "No cycle counts yet.\n"
    free = sorted(contest.solvers, key=lambda one: (figures.sequence(one), one.name))
    tables = [
        _table("Order-free boards", ("Rank", "Model", "Bradley-Terry", "95 % interval", "Batch Elo"), map(_free, free)),
        _table(
            "Compatible board",
            ("#", "Model", "Elo", "Order reversed", "Mean score", "Tests passed", "Cycles", "Unrated"),
            (_compatible(number, one) for number, one in enumerate(contest.solvers, 1)),
        ),
        _table("Setters", ("Model", "Calibration", "Mean score", "Problems", "Void"), map(_setter, contest.setters)),
        _table(
            "Judges",
            ("Model", "Severity", "Mean vote", "With the tests", "Votes", "Missing"),
            map(_judge, contest.judges),
        ),
    ]
    agreement = f"Agreement of the judges (Krippendorff's alpha): {_told(contest.alpha, '.2f')}.\n"
    order = (
        f"Reversing the order of contestants moves a rating of the compatible board by up to {contest.order_moves:.1f}."
    )
    return "\n".join([*tables, agreement, order]) + "\n"


def _values(solver: Solver, setter: SetterRow | None, judge: JudgeRow | None) -> Iterable[Any]:
    yield from (getattr(solver, name) for name in SOLVER)
    yield from _of(solver, OF_SOLVER)
    yield from (setter.problems, setter.void) if setter else (0, 0)
    yield from _of(setter, OF_SETTER)
    yield from (judge.votes, judge.missing) if judge else (None, None)
    yield from _of(judge, OF_JUDGE)


def _of(row: Any, names: Sequence[str]) -> Iterable[Any]:
    for name in names:
        found = getattr(row, name) if row else Figure()
        yield from (found.value, found.low, found.high, found.reason or found.no_interval)


def _free(one: Solver) -> list[str]:
    shown = f"{one.shown} ({figures.reason_words(one.reason)})" if one.reason else one.shown
    interval = "–" if one.rating is None else f"{figures.elo(one.lower)} to {figures.elo(one.upper)}"
    return [figures.rank_range(one), shown, figures.rating_or_bound(one), interval, figures.elo(one.elo)]


def _compatible(number: int, one: Solver) -> list[str]:
    boards = [figures.elo(one.compatible), figures.elo(one.reverse)]
    share = _told(one.passed, ".0%")
    return [str(number), one.shown, *boards, _told(one.mean, ".1f"), share, str(one.cycles), str(one.unrated)]


def _setter(one: SetterRow) -> list[str]:
    return [one.shown, _told(one.calibration, ".2f"), _told(one.overall, ".1f"), str(one.problems), str(one.void)]


def _judge(one: JudgeRow) -> list[str]:
    told = [_told(one.severity, "+.2f"), _told(one.mean, ".1f"), _told(one.passed, "+.2f")]
    return [one.shown, *told, str(one.votes), str(one.missing)]


def _told(found: Figure, form: str) -> str:
    if found.value is None:
        return f"– ({reason_words(found.reason)})"
    if found.low is None or found.high is None:
        return f"{found.value:{form}}"
    return f"{found.value:{form}} ({found.low:{form}} to {found.high:{form}})"


def _table(title: str, head: Sequence[str], rows: Iterable[list[str]]) -> str:
    lines = [line(head), line(["---"] * len(head)), *(line([escaped(one) for one in row]) for row in rows)]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"
