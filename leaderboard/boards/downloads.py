"""A ladder as a file: CSV, JSON, or a table in Markdown."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import asdict

from experiments.models import Board
from experiments.runs import figures
from experiments.runs.reports.csv_export import cell
from leaderboard.boards import coding, coding_files
from leaderboard.boards.compute import Current
from leaderboard.boards.markdown_tables import escaped, line
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
        "contest": coding_files.document(found.contest) if ladder.workflow == coding.WORKFLOW else None,
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
        return coding_files.as_csv(current.standings.contest)
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
        return _title(ladder) + coding_files.as_markdown(found.contest)
    head = ["Rank", "Model", "Rating", "95 % interval", "Win rate", "W/L/T", "Battles"]
    lines = [line(head), line(["---:", ":---", *["---:"] * 5])]
    lines += [line(_told(row)) for row in found.rows]
    lines += [
        line(["–", f"{escaped(one.label or one.name)}: {escaped(one.reason)}", *"–––––"]) for one in found.excluded
    ]
    told = f"{found.battles} battles, computed {current.computed:%Y-%m-%d %H:%M} UTC.\n\n"
    return _title(ladder) + told + "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[str, Callable[[Ladder, Current], str]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "md": ("text/markdown; charset=utf-8", as_markdown),
}


def _title(ladder: Ladder) -> str:
    return f"# {escaped(title_of(ladder))}\n\n"


def _judge(board: Board) -> dict[str, str]:
    return {"kind": board.kind, "name": board.judge, "prompt": board.prompt, "prompt_version": board.prompt_version}


def _told(row: Row) -> list[str]:
    record = f"{row.wins}/{row.losses}/{row.ties}"
    rate = "–" if row.win_rate is None else f"{100 * row.win_rate:.1f} %"
    shown = f"{row.shown} ({figures.reason_words(row.reason)})" if row.reason else row.shown
    interval = "–" if row.rating is None else f"{figures.elo(row.lower)} to {figures.elo(row.upper)}"
    rating = escaped(figures.rating_or_bound(row))
    return [figures.rank_range(row), escaped(shown), rating, interval, rate, record, str(row.battles)]
