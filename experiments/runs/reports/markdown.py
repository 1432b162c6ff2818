"""A report as Markdown: plain text that reads well by itself. What models and people said cannot pass for a part of the
report: it is escaped, quoted or fenced.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override
from markdown_it import MarkdownIt

from experiments.models import Run
from experiments.runs.reports import report
from experiments.runs.reports.messages import percent
from experiments.runs.reports.narrative import narrate
from experiments.templatetags.arena import figure

LONGEST_QUOTED = 100_000  # characters that are read to see what they would look like; longer texts are fenced
MOST_SIGNS = 5_000  # that Markdown may mean something by, likewise
SIGNS = re.compile(r"[\n*_`~\[\]<>&\\|]")
SPECIAL = re.compile(r"([\\`*\[\]<|~&#$]|(?<![^\W_])_|_(?![^\W_]))")
BEGINNING = re.compile(r"^(?:([-+=:>])|(\d+)([.)])(?=\s|$))")
LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
UNSAFE = re.compile(r"(?:javascript|vbscript|file)\s*:|data\s*:\s*\w+/", re.IGNORECASE)
CALLOUT = re.compile(r"^([^\S\n]*)\[!", re.MULTILINE)
TICKS = re.compile("`+")
FORBIDDEN = frozenset({"heading_open", "html_block", "html_inline", "image"})

_parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def render_markdown(run: Run, language: str) -> str:
    """The report of a run fetched by `with_totals`."""
    told = narrate(run, language)
    with override(language):
        contents = " · ".join(inline(section.title) for section in told.sections)
        paragraphs = [
            [f"# {inline(told.title)}"],
            [inline(told.subject)],
            *([_bold(notice.text)] for notice in told.notices),
            *_section(told.result),
            [f"{_bold(told.contents)}: {contents}"],
            *chain.from_iterable(map(_section, told.sections)),
            ["---"],
            [inline(told.footer)],
        ]
        return "\n\n".join("\n".join(paragraph) for paragraph in paragraphs) + "\n"


Paragraphs = Iterator[list[str]]


def _section(section: report.Section) -> Paragraphs:
    yield [f"## {inline(section.title)}"]
    yield from _blocks(section.blocks, 0)


def _blocks(blocks: Iterable[report.Block], depth: int) -> Paragraphs:
    return chain.from_iterable(_block(block, depth) for block in blocks)


def _block(block: report.Block, depth: int) -> Paragraphs:
    """depth: inside of how many blocks it stands."""
    match block:
        case report.Text():
            yield from _text(block)
        case report.Facts():
            yield [
                f"- {_bold(fact.name)}: {inline(fact.value)}" + (f" ({inline(fact.note)})" if fact.note else "")
                for fact in block.facts
            ]
        case report.Table():
            if block.title:
                yield [_bold(block.title)]
            yield _grid([(column.name, column.is_figure) for column in block.columns], block.rows)
        case report.Tokens():
            yield fenced("\n".join(f"{percent(token.probability):>8}  {token.text!r}" for token in block.tokens))
            if block.rest:
                yield [f"_{inline(block.rest)}_"]
        case report.Fold():
            yield [_bold(block.title) + (f": {inline(block.summary)}" if block.summary else "")]
            yield from _blocks(block.blocks, depth + 1)
        case report.Entry():
            yield [f"#### {inline(block.title)}"]
            beside = [inline(part) for part in (block.by, block.when) if part]
            if beside := [*beside, *(_bold(mark.text) for mark in block.marks)]:
                yield [" · ".join(beside)]
            yield from _blocks(block.blocks, depth + 1)
        case report.Turn():
            yield [f"### {inline(block.title)}"]
        case report.Part():
            yield [_bold(block.title) if depth else f"### {inline(block.title)}"]
            yield from _blocks(block.blocks, depth + 1)
        case report.Charts():  # as the values that they draw
            for drawing in block.drawings:
                yield [_bold(drawing.title)]
                columns = [(_("Turn"), True), *((name, True) for name in drawing.columns)]
                yield _grid(columns, ([str(row.turn), *map(figure, row.values)] for row in drawing.rows))


def _text(block: report.Text) -> Paragraphs:
    if block.form == "prose":
        yield quoted(block.text)
    elif block.form == "plain":
        yield fenced(block.text)
    elif block.text.strip():
        mark = {"muted": "_", "warning": "**", "danger": "**"}.get(block.tone, "")
        yield [f"{mark}{inline(block.text)}{mark}"]


def _bold(text: str) -> str:
    return f"**{inline(text)}**"


def _grid(columns: list[tuple[str, bool]], rows: Iterable[Iterable[str]]) -> list[str]:
    def row(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rule = row("---:" if is_figure else "---" for _name, is_figure in columns)
    return [row(inline(name) for name, _is_figure in columns), rule, *(row(map(inline, cells)) for cells in rows)]


# --- words of models and people ---


def inline(text: str) -> str:
    """In one line, with every sign that Markdown knows escaped."""
    line = SPECIAL.sub(r"\\\1", UNSEEN.sub("", " ".join(text.split())))
    return BEGINNING.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", line)


def quoted(text: str) -> list[str]:
    """Markdown as a quotation. Its headings are shown as they were typed; what holds HTML, pictures or links that run
    something, and what would break out of the quotation, is fenced.
    """
    lines = _cleaned(text).strip("\n")
    is_short = len(lines) <= LONGEST_QUOTED and len(SIGNS.findall(lines)) <= MOST_SIGNS
    tamed = _tamed(lines) if is_short and not UNSAFE.search(lines) else None
    return fenced(text) if tamed is None else tamed


def fenced(text: str) -> list[str]:
    """As it stands, between fences that are longer than any in it."""
    lines = _cleaned(text)
    longest = max((len(run) for run in TICKS.findall(lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines.split("\n"), fence]


def _cleaned(text: str) -> str:
    return UNSEEN.sub("\ufffd", LINE_ENDS.sub("\n", text))


def _tamed(text: str) -> list[str] | None:
    """The quotation; None when something in it is more than words."""
    lines = CALLOUT.sub(r"\1\\[!", text).split("\n")
    for token in _parser.parse("\n".join(lines)):
        if token.type == "heading_open" and token.map:
            first, end = token.map
            is_underlined = token.markup in ("=", "-")
            row = end - 1 if is_underlined else first
            lines[row] = lines[row].replace(token.markup[0], f"\\{token.markup[0]}", 1)
    quotation = [f"> {line}".rstrip() for line in lines]
    env: dict[str, Any] = {}
    tokens = _parser.parse("\n".join(quotation), env)
    kinds = {one.type for token in tokens for one in (token, *(token.children or []))}
    outside = [token.type for token in tokens if token.level == 0]
    if outside != ["blockquote_open", "blockquote_close"] or kinds & FORBIDDEN or env.get("references"):
        return None
    return quotation
