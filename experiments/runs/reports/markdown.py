"""A report as Markdown: plain text that reads well by itself. What models said cannot pass for a part of the report."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from experiments.models import Run
from experiments.runs.reports import report
from experiments.runs.reports.messages import percent
from experiments.runs.reports.narrative import narrate
from experiments.runs.reports.quoting import fenced, inline, quoted
from experiments.templatetags.arena import MISSING, figure


def render_markdown(run: Run, language: str) -> str:
    """The report of a run fetched by `with_totals`."""
    told = narrate(run, language)
    with override(language):
        return "\n\n".join("\n".join(paragraph) for paragraph in _report(told)) + "\n"


Paragraphs = Iterator[list[str]]


def _report(told: report.Report) -> Paragraphs:
    yield [f"# {inline(told.title)}"]
    yield [inline(told.subject)]
    for notice in told.notices:
        yield [f"**{inline(notice.text)}**"]
    yield from _facts(told.header, 0)
    yield [f"**{inline(told.contents)}**: " + " · ".join(inline(section.title) for section in told.sections)]
    for section in told.sections:
        yield [f"## {inline(section.title)}"]
        yield from _blocks(section.blocks, 0)
    yield ["---"]
    yield [inline(told.footer)]


def _blocks(blocks: Iterable[report.Block], depth: int) -> Paragraphs:
    """depth: inside of how many blocks these stand."""
    for block in blocks:
        yield from DRAWN[block.kind](block, depth)


def _text(block: report.Text, _depth: int) -> Paragraphs:
    if block.form == "prose":
        yield quoted(block.text)
    elif block.form == "plain":
        yield fenced(block.text)
    elif block.text.strip():
        mark = {"muted": "_", "warning": "**", "danger": "**"}.get(block.tone, "")
        yield [f"{mark}{inline(block.text)}{mark}"]


def _facts(block: report.Facts, _depth: int) -> Paragraphs:
    yield [f"- **{inline(fact.name)}**: {_fact(fact)}" for fact in block.facts]


def _fact(fact: report.Fact) -> str:
    return f"{inline(fact.value)} ({inline(fact.note)})" if fact.note else inline(fact.value)


def _table(block: report.Table, _depth: int) -> Paragraphs:
    if block.title:
        yield [f"**{inline(block.title)}**"]
    yield _grid([(column.name, column.is_figure) for column in block.columns], block.rows)


def _grid(columns: list[tuple[str, bool]], rows: Iterable[Iterable[str]]) -> list[str]:
    head = _row(name for name, _is_figure in columns)
    rule = _row("---:" if is_figure else "---" for _name, is_figure in columns).replace("\\", "")
    return [head, rule, *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(inline(cell) for cell in cells)} |"


def _tokens(block: report.Tokens, _depth: int) -> Paragraphs:
    lines = [f"{percent(token.probability):>8}  {token.text!r}" for token in block.tokens]
    yield fenced("\n".join(lines))
    if block.rest:
        yield [f"_{inline(block.rest)}_"]


def _fold(block: report.Fold, depth: int) -> Paragraphs:
    summary = f": {inline(block.summary)}" if block.summary else ""
    yield [f"**{inline(block.title)}**{summary}"]
    yield from _blocks(block.blocks, depth + 1)


def _entry(block: report.Entry, depth: int) -> Paragraphs:
    yield [f"#### {inline(block.title)}"]
    beside = [inline(part) for part in (block.by, block.when) if part]
    beside += [f"**{inline(mark.text)}**" for mark in block.marks]
    if beside:
        yield [" · ".join(beside)]
    yield from _blocks(block.blocks, depth + 1)


def _turn(block: report.Turn, _depth: int) -> Paragraphs:
    yield [f"### {inline(block.title)}"]


def _part(block: report.Part, depth: int) -> Paragraphs:
    yield [f"**{inline(block.title)}**" if depth else f"### {inline(block.title)}"]
    yield from _blocks(block.blocks, depth + 1)


def _charts(block: report.Charts, _depth: int) -> Paragraphs:
    """The values that a chart draws."""
    for drawing in block.drawings:
        yield [f"**{inline(drawing.title)}**"]
        columns = [(_("Turn"), True), *((name, True) for name in drawing.columns)]
        yield _grid(columns, ([str(row.turn), *map(_value, row.values)] for row in drawing.rows))


def _value(value: float | None) -> str:
    return MISSING if value is None else figure(value)


DRAWN: dict[str, Callable[[Any, int], Paragraphs]] = {
    "text": _text,
    "facts": _facts,
    "table": _table,
    "tokens": _tokens,
    "fold": _fold,
    "entry": _entry,
    "turn": _turn,
    "part": _part,
    "charts": _charts,
}
