"""A ladder as a file: CSV, JSON, or a table in Markdown."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from experiments.models import Board
from experiments.runs import figures
from experiments.runs.reports.csv_export import cell
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, RunRatings, SetterRow, Solver
from experiments.workflows.coding.pages.words import reason_words
from leaderboard.boards import coding
from leaderboard.boards.compute import Current
from leaderboard.boards.standings import Row
from leaderboard.boards.titles import board_title
from leaderboard.models import Ladder

COLUMNS = (
    *("rank", "best", "worst", "group", "name", "label", "rating", "lower", "upper", "reason", "first"),
    *("battles", "wins", "losses", "ties", "both_bad", "win_rate", "consistency", "component", "version", "link"),
)


def document(ladder: Ladder, current: Current) -> dict[str, object]:
    """Everything that is known of a ladder, as the API and the JSON file say it."""
    found = current.standings
    totals = {name: getattr(found, name) for name in ("battles", "ties", "both_bad", "consistency", "components")}
    return {
        **summary(ladder),
        "subset": found.subset,
        "category": found.category,
        "subsets": list(found.subsets),
        "categories": list(found.categories),
        "computed": current.computed.isoformat(),
        "behind": current.behind,
        "intervals": {"method": found.method, "rounds": found.rounds, "seed": found.seed},
        **totals,
        "rows": [asdict(row) for row in found.rows],
        "excluded": [asdict(one) for one in found.excluded],
        "contest": contest_document(found.contest) if ladder.workflow == coding.WORKFLOW else None,
    }


def summary(ladder: Ladder) -> dict[str, object]:
    """What a ladder is, without its rows."""
    board = ladder.board
    return {
        "slug": ladder.slug,
        "title": title_of(ladder),
        "workflow": ladder.workflow,
        "dataset": board.dataset.slug if board else None,
        "judge": _judge(board) if board else None,
        "withdrawn_reason": ladder.withdrawn_reason,
    }


def title_of(ladder: Ladder) -> str:
    return board_title(ladder.board) if ladder.board else ladder.title


def as_json(ladder: Ladder, current: Current) -> str:
    return json.dumps(document(ladder, current), ensure_ascii=False, indent=2, allow_nan=False)


def as_csv(ladder: Ladder, current: Current) -> str:
    """One line per contestant. A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if ladder.workflow == coding.WORKFLOW:
        return contest_csv(current.standings.contest)
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(COLUMNS)
    for row in current.standings.rows:
        lines.writerow([cell(getattr(row, name)) for name in COLUMNS])
    return written.getvalue()


def as_markdown(ladder: Ladder, current: Current) -> str:
    """The table as it is put into papers and READMEs."""
    found = current.standings
    if ladder.workflow == coding.WORKFLOW:
        return _title(ladder) + contest_markdown(found.contest)
    head = ["Rank", "Model", "Rating", "95 % interval", "Win rate", "W/L/T", "Battles"]
    lines = [markdown_line(head), markdown_line(["---:", ":---", *["---:"] * 5])]
    lines += [markdown_line(_told(row)) for row in found.rows]
    lines += [
        markdown_line(["–", f"{markdown_escaped(one.label or one.name)}: {markdown_escaped(one.reason)}", *"–––––"])
        for one in found.excluded
    ]
    told = f"{found.battles} battles, computed {current.computed:%Y-%m-%d %H:%M} UTC.\n\n"
    return _title(ladder) + told + "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[str, Callable[[Ladder, Current], str]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


def _title(ladder: Ladder) -> str:
    return f"# {markdown_escaped(title_of(ladder))}\n\n"


def _judge(board: Board) -> dict[str, str]:
    return {"kind": board.kind, "name": board.judge, "prompt": board.prompt, "prompt_version": board.prompt_version}


def _told(row: Row) -> list[str]:
    record = f"{row.wins}/{row.losses}/{row.ties}"
    rate = "–" if row.win_rate is None else f"{100 * row.win_rate:.1f} %"
    shown = f"{row.shown} ({figures.reason_words(row.reason)})" if row.reason else row.shown
    interval = "–" if row.rating is None else f"{figures.elo(row.lower)} to {figures.elo(row.upper)}"
    rating = markdown_escaped(figures.rating_or_bound(row))
    return [figures.rank_range(row), markdown_escaped(shown), rating, interval, rate, record, str(row.battles)]


def markdown_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def markdown_escaped(text: str) -> str:
    """One line, in which nothing is markup."""
    return re.sub(r"([\\|`*_\[\]<>])", r"\\\1", " ".join(text.split()))


SOLVER = (
    *("name", "label", "compatible", "change", "reverse", "elo", "elo_change"),
    *("rating", "lower", "upper", "reason", "component", "rank", "best", "worst", "group", "first"),
    *("battles", "wins", "losses", "ties", "cycles", "votes", "unrated"),
)
OF_SOLVER = ("mean", "passed")
OF_SETTER = ("calibration", "by_others", "overall", "passed")
OF_JUDGE = ("mean", "spread", "severity", "consensus", "consensus_ranks", "passed")
ENDS = ("", "_lower", "_upper", "_reason")


def contest_columns() -> list[str]:
    """Figures have their interval beside them, and the reason where there is none."""
    figures_of = {"": OF_SOLVER, "setter_": OF_SETTER, "judge_": OF_JUDGE}
    wide = {role: [f"{role}{name}{end}" for name in names for end in ENDS] for role, names in figures_of.items()}
    setter, judge = ["setter_problems", "setter_void"], ["judge_votes", "judge_missing"]
    return [*SOLVER, *wide[""], *setter, *wide["setter_"], *judge, *wide["judge_"]]


def contest_document(contest: RunRatings | None) -> dict[str, object]:
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


def contest_csv(contest: RunRatings | None) -> str:
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(contest_columns())
    setters = {row.name: row for row in contest.setters} if contest else {}
    judges = {row.name: row for row in contest.judges} if contest else {}
    for solver in contest.solvers if contest else ():
        values = _values(solver, setters.get(solver.name), judges.get(solver.name))
        lines.writerow([cell(value) for value in values])
    return written.getvalue()


def contest_markdown(contest: RunRatings | None) -> str:
    """Tables under their headings."""
    if contest is None:
        return "No cycle counts yet.\n"
    free = sorted(contest.solvers, key=lambda one: (figures.sequence(one), one.name))
    tables = [
        _table(
            "Order-free boards", ("Rank", "Model", "Bradley-Terry", "95 % interval", "Batch Elo"), map(_free_line, free)
        ),
        _table(
            "Compatible board",
            ("#", "Model", "Elo", "Order reversed", "Mean score", "Tests passed", "Cycles", "Unrated"),
            (_compatible_line(number, one) for number, one in enumerate(contest.solvers, 1)),
        ),
        _table(
            "Setters", ("Model", "Calibration", "Mean score", "Problems", "Void"), map(_setter_line, contest.setters)
        ),
        _table(
            "Judges",
            ("Model", "Severity", "Mean vote", "With the tests", "Votes", "Missing"),
            map(_judge_line, contest.judges),
        ),
    ]
    agreement = f"Agreement of the judges (Krippendorff's alpha): {_figure(contest.alpha, '.2f')}.\n"
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


def _free_line(one: Solver) -> list[str]:
    shown = f"{one.shown} ({figures.reason_words(one.reason)})" if one.reason else one.shown
    interval = "–" if one.rating is None else f"{figures.elo(one.lower)} to {figures.elo(one.upper)}"
    return [figures.rank_range(one), shown, figures.rating_or_bound(one), interval, figures.elo(one.elo)]


def _compatible_line(number: int, one: Solver) -> list[str]:
    boards = [figures.elo(one.compatible), figures.elo(one.reverse)]
    share = _figure(one.passed, ".0%")
    return [str(number), one.shown, *boards, _figure(one.mean, ".1f"), share, str(one.cycles), str(one.unrated)]


def _setter_line(one: SetterRow) -> list[str]:
    return [one.shown, _figure(one.calibration, ".2f"), _figure(one.overall, ".1f"), str(one.problems), str(one.void)]


def _judge_line(one: JudgeRow) -> list[str]:
    told = [_figure(one.severity, "+.2f"), _figure(one.mean, ".1f"), _figure(one.passed, "+.2f")]
    return [one.shown, *told, str(one.votes), str(one.missing)]


def _figure(found: Figure, form: str) -> str:
    if found.value is None:
        return f"– ({reason_words(found.reason)})"
    if found.low is None or found.high is None:
        return f"{found.value:{form}}"
    return f"{found.value:{form}} ({found.low:{form}} to {found.high:{form}})"


def _table(title: str, head: Sequence[str], rows: Iterable[list[str]]) -> str:
    lines = [
        markdown_line(head),
        markdown_line(["---"] * len(head)),
        *(markdown_line([markdown_escaped(one) for one in row]) for row in rows),
    ]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"
