"""A ladder as a file: CSV, JSON, or tables in Markdown. That of coding has one line per model with all of its roles."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from accounts.csv_cells import cell
from experiments.runs import figures
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, RunRatings, SetterRow, Solver, reason_words
from leaderboard.boards import coding
from leaderboard.boards.combining import POOLED, Combined
from leaderboard.boards.compute import Current
from leaderboard.boards.contamination import Unseen
from leaderboard.boards.influence import dependences
from leaderboard.boards.standings import Row
from leaderboard.boards.style import Adjusted
from leaderboard.boards.tables import FACETS, Further
from leaderboard.boards.titles import board_title
from leaderboard.models import Ladder

COLUMNS = (
    *("rank", "best", "worst", "group", "name", "label", "rating", "lower", "upper", "reason", "first"),
    *("battles", "wins", "losses", "ties", "both_bad", "win_rate", "consistency", "component", "version", "link"),
)
SOLVER = (
    *("name", "label", "compatible", "change", "reverse", "elo", "elo_change"),
    *("rating", "lower", "upper", "reason", "component", "rank", "best", "worst", "group", "first"),
    *("battles", "wins", "losses", "ties", "cycles", "votes", "unrated"),
)
NOTHING = Further()
ADJUSTED = ("rank", "best", "worst", "rating", "lower", "upper", "reason")
BESIDE = {"unseen": (*ADJUSTED, "released", "battles", "moves", "moves_lower", "moves_upper")}  # others: ADJUSTED
OF_SOLVER = ("mean", "passed")
OF_SETTER = ("calibration", "by_others", "overall", "passed")
OF_JUDGE = ("mean", "spread", "severity", "consensus", "consensus_ranks", "passed")


def document(ladder: Ladder, current: Current, further: Further = NOTHING) -> dict[str, object]:
    """Everything that is known of a ladder, as the API and the JSON file say it."""
    found = current.standings
    totals = {name: getattr(found, name) for name in ("battles", "ties", "both_bad", "consistency", "components")}
    return {
        **summary(ladder),
        **found.slice._asdict(),
        **{plural: list(getattr(found, plural)) for _label, plural in FACETS.values()},
        "computed": current.computed.isoformat(),
        "behind": current.behind,
        "intervals": {"method": found.method, "rounds": found.rounds, "seed": found.seed},
        **totals,
        "rows": [asdict(row) for row in found.rows],
        "excluded": [asdict(one) for one in found.excluded],
        "contest": _contest_document(found.contest) if ladder.workflow == coding.WORKFLOW else None,
        "style": asdict(further.style) if further.style else None,
        "combined": asdict(further.combined) if further.combined else None,
        "unseen": asdict(further.unseen) if further.unseen else None,
        "dependence": [asdict(one) for one in dependences(ladder.board)]
        if ladder.board and not found.slice.chosen
        else [],
    }


def summary(ladder: Ladder) -> dict[str, object]:
    """What a ladder is, without its rows."""
    board = ladder.board
    judge = {"kind": board.kind, "name": board.judge, "prompt": board.prompt} if board else {}
    return {
        "slug": ladder.slug,
        "title": _title(ladder),
        "workflow": ladder.workflow,
        "dataset": board.dataset.slug if board else None,
        "judge": {**judge, "prompt_version": board.prompt_version} if board else None,
        "withdrawn_reason": ladder.withdrawn_reason,
    }


def as_json(ladder: Ladder, current: Current, further: Further = NOTHING) -> str:
    return json.dumps(document(ladder, current, further), ensure_ascii=False, indent=2, allow_nan=False)


def as_csv(ladder: Ladder, current: Current, further: Further = NOTHING) -> str:
    """One line per contestant. A text that a spreadsheet would take for a formula gets an apostrophe before it.

    Columns of further ratings, "adjusted_…", "combined_…" and "unseen_…", follow those of the plain ones.
    """
    found = current.standings
    of_coding = ladder.workflow == coding.WORKFLOW
    beside = further.columns
    names = [f"{kind}_{one}" for kind in beside for one in BESIDE.get(kind, ADJUSTED)]

    def line(row: Row) -> list[Any]:
        held = [(one.row(row.name), BESIDE.get(kind, ADJUSTED)) for kind, one in beside.items()]
        return [getattr(row, one) for one in COLUMNS] + [getattr(one, name, None) for one, of in held for name in of]

    rows = _contest_rows(found.contest) if of_coding else map(line, found.rows)
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(_contest_columns() if of_coding else [*COLUMNS, *names])
    lines.writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()


def as_markdown(ladder: Ladder, current: Current, further: Further = NOTHING) -> str:
    """The table as it is put into papers and READMEs. Further ratings stand beside the plain ones."""
    found, title = current.standings, f"# {_escaped(_title(ladder))}\n\n"
    if ladder.workflow == coding.WORKFLOW:
        return title + _contest_markdown(found.contest)
    beside = further.columns
    heads = {
        "adjusted": ["Adjusted rank", "Adjusted for style", "95 % interval"],
        "combined": ["Combined rank", "People and judges", "95 % interval"],
        "unseen": ["Rank, unseen samples", "Unseen samples", "95 % interval"],
    }
    held = [head for kind in beside for head in heads[kind]]
    lines = [_line(["Rank", "Model", "Rating", "95 % interval", *held, "Win rate", "W/L/T", "Battles"])]
    lines += [_line(["---:", ":---", *["---:"] * (5 + len(held))])]
    for row in found.rows:
        rate = "–" if row.win_rate is None else f"{100 * row.win_rate:.1f} %"
        record = f"{row.wins}/{row.losses}/{row.ties}"
        placed = list(map(_escaped, _place(row)))
        placed += [one for held in beside.values() for one in _adjusted_place(held.row(row.name))]
        lines += [_line([*placed, rate, record, str(row.battles)])]
    for one in found.excluded:
        named = f"{_escaped(one.label or one.name)}: {_escaped(one.reason)}"
        lines += [_line(["–", named, *["–"] * (5 + len(held))])]
    told = f"{found.battles} battles, computed {current.computed:%Y-%m-%d %H:%M} UTC.\n\n"
    if found.slice.chosen:
        words = "; ".join(f"{name} {_escaped(word)}" for name, word in found.slice.chosen.items())
        told += f"Only battles of: {words}.\n\n"
    if further.style:
        names = ", ".join(one.name for one in further.style.covariates)
        told += f"Adjusted for {names}, from {further.style.battles} battles.\n\n"
    if further.combined:
        told += f"{_combined_words(further.combined)}\n\n"
    if further.unseen:
        told += f"{_unseen_words(further.unseen)}\n\n"
    return title + told + "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[str, Callable[[Ladder, Current, Further], str]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


def _title(ladder: Ladder) -> str:
    return board_title(ladder.board) if ladder.board else ladder.title


def _place(row: Any) -> list[str]:
    """Rank, name, rating and interval."""
    shown = f"{row.shown} ({figures.reason_words(row.reason)})" if row.reason else row.shown
    interval = "–" if row.rating is None else f"{figures.elo(row.lower)} to {figures.elo(row.upper)}"
    return [figures.rank_range(row), shown, figures.rating_or_bound(row), interval]


def _adjusted_place(row: Adjusted | None) -> list[str]:
    """Rank, rating and interval with style held equal."""
    if row is None or row.rating is None:
        return ["–"] * 3
    return [figures.rank_range(row), figures.elo(row.rating), f"{figures.elo(row.lower)} to {figures.elo(row.upper)}"]


def _combined_words(found: Combined) -> str:
    sources = "; ".join(_escaped(one.title) for one in found.sources)
    said = f"People and judges: {found.votes} votes and {found.verdicts} verdicts, of {sources}. "
    if found.reason:
        return said + f"No combined rating: {found.reason}."
    if found.method == POOLED:
        return said + f"Each verdict counts as {found.weight:g} votes."
    return said + f"Ratings of people, corrected with a weight of {found.weight:.2f} of the verdicts."


def _unseen_words(found: Unseen) -> str:
    said = f"Unseen samples: {found.battles} of {found.of} battles; {found.seen} are on samples that were public before"
    said += f" one of the two was released, and of {found.unknown} a date is not known"
    without = [f"{found.undated} of {found.samples} samples"] if found.undated else []
    without += [", ".join(map(_escaped, found.undated_contestants))] if found.undated_contestants else []
    said += f" (without a date: {'; '.join(without)})." if without else "."
    for row in found.rows:
        if row.moves is not None and row.moves_lower is not None and row.moves_upper is not None:
            span = f"{row.moves_lower:+.1f} to {row.moves_upper:+.1f}"
            said += f"\n* {_escaped(row.name)}: {row.moves:+.1f} points on unseen samples ({span})."
    return said


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """One line, in which nothing is markup."""
    return re.sub(r"([\\|`*_\[\]<>])", r"\\\1", " ".join(text.split()))


def _contest_document(contest: RunRatings | None) -> dict[str, object]:
    """All boards, and the history cycle by cycle: by numbers, without titles, times or runs."""
    if contest is None:
        return {"cycles": 0, "solvers": [], "setters": [], "judges": [], "history": []}
    plain, mapped = ("number", "setter", "overall", "calibration"), ("means", "compatible", "elo")
    history = [
        {name: getattr(one, name) for name in plain} | {name: dict(getattr(one, name)) for name in mapped}
        for one in coding.history()
    ]
    return {**asdict(contest), "history": history}


def _contest_columns() -> list[str]:
    """Figures have their interval beside them, and the reason where there is none."""

    def wide(role: str, names: Sequence[str]) -> list[str]:
        return [f"{role}{name}{end}" for name in names for end in ("", "_lower", "_upper", "_reason")]

    setter, judge = ["setter_problems", "setter_void"], ["judge_votes", "judge_missing"]
    return [*SOLVER, *wide("", OF_SOLVER), *setter, *wide("setter_", OF_SETTER), *judge, *wide("judge_", OF_JUDGE)]


def _contest_rows(contest: RunRatings | None) -> Iterable[list[Any]]:
    setters = {row.name: row for row in contest.setters} if contest else {}
    judges = {row.name: row for row in contest.judges} if contest else {}

    def wide(row: Any, names: Sequence[str]) -> Iterable[Any]:
        for found in (getattr(row, name) if row else Figure() for name in names):
            yield from (found.value, found.low, found.high, found.reason or found.no_interval)

    for solver in contest.solvers if contest else ():
        setter, judge = setters.get(solver.name), judges.get(solver.name)
        yield [
            *(getattr(solver, name) for name in SOLVER),
            *wide(solver, OF_SOLVER),
            *((setter.problems, setter.void) if setter else (0, 0)),
            *wide(setter, OF_SETTER),
            *((judge.votes, judge.missing) if judge else (None, None)),
            *wide(judge, OF_JUDGE),
        ]


def _contest_markdown(contest: RunRatings | None) -> str:
    """Tables under their headings."""
    if contest is None:
        return "No cycle counts yet.\n"

    def compatible(number: int, one: Solver) -> list[str]:
        ratings = [figures.elo(one.compatible), figures.elo(one.reverse), _figure(one.mean, ".1f")]
        return [str(number), one.shown, *ratings, _figure(one.passed, ".0%"), str(one.cycles), str(one.unrated)]

    def setter(one: SetterRow) -> list[str]:
        told = [_figure(one.calibration, ".2f"), _figure(one.overall, ".1f")]
        return [one.shown, *told, str(one.problems), str(one.void)]

    def judge(one: JudgeRow) -> list[str]:
        told = [_figure(one.severity, "+.2f"), _figure(one.mean, ".1f"), _figure(one.passed, "+.2f")]
        return [one.shown, *told, str(one.votes), str(one.missing)]

    free = sorted(contest.solvers, key=lambda one: (figures.sequence(one), one.name))
    of_solvers = ("#", "Model", "Elo", "Order reversed", "Mean score", "Tests passed", "Cycles", "Unrated")
    tables = [
        _table(
            "Order-free boards",
            ("Rank", "Model", "Bradley-Terry", "95 % interval", "Batch Elo"),
            ([*_place(one), figures.elo(one.elo)] for one in free),
        ),
        _table("Compatible board", of_solvers, (compatible(*each) for each in enumerate(contest.solvers, 1))),
        _table("Setters", ("Model", "Calibration", "Mean score", "Problems", "Void"), map(setter, contest.setters)),
        _table(
            "Judges",
            ("Model", "Severity", "Mean vote", "With the tests", "Votes", "Missing"),
            map(judge, contest.judges),
        ),
    ]
    agreement = f"Agreement of the judges (Krippendorff's alpha): {_figure(contest.alpha, '.2f')}.\n"
    order = (
        f"Reversing the order of contestants moves a rating of the compatible board by up to {contest.order_moves:.1f}."
    )
    return "\n".join([*tables, agreement, order]) + "\n"


def _figure(found: Figure, form: str) -> str:
    if found.value is None:
        return f"– ({reason_words(found.reason)})"
    if found.low is None or found.high is None:
        return f"{found.value:{form}}"
    return f"{found.value:{form}} ({found.low:{form}} to {found.high:{form}})"


def _table(title: str, head: Sequence[str], rows: Iterable[list[str]]) -> str:
    lines = [_line(head), _line(["---"] * len(head)), *(_line([_escaped(one) for one in row]) for row in rows)]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"
