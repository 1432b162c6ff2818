"""The blocks of a report as what flows over the pages of a PDF."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from reportlab.platypus import CondPageBreak, Flowable

from experiments.runs.reports import report
from experiments.runs.reports.pdf_charts import Figures
from experiments.runs.reports.pdf_flow import Beside, Look, Passage, Place, Room, Rule
from experiments.runs.reports.pdf_fonts import Style, Typefaces
from experiments.runs.reports.pdf_tables import SMALL_TABLE, Cell, Grid, GridLook
from experiments.runs.reports.pdf_text import Ink, Span

TEXT, MUTED, EDGE, PANEL = "#1f2328", "#59636e", "#7d8590", "#f6f8fa"
TONES = {
    "plain": TEXT,
    "muted": MUTED,
    "warning": "#7a4f00",
    "danger": "#a40e26",
    "operator": "#99286e",
    "people": "#116329",
    "judge": "#7a4f00",
}
SIDES = {
    "A": ("#0969da", "#0550ae"),
    "model": ("#0969da", "#0550ae"),
    "B": ("#8250df", "#6639ba"),
    "C": ("#0e7490", "#155e75"),
    "researcher": ("#1a7f37", "#116329"),
    "person": ("#1a7f37", "#116329"),
    "judge": ("#9a6700", "#7a4f00"),
    "chair": ("#9a6700", "#7a4f00"),
    "summarizer": ("#9a6700", "#7a4f00"),
    "operator": ("#bf3989", "#99286e"),
}
DANGER = ("#cf222e", "#a40e26")
BANDS: dict[str, Ink] = {
    "high": Ink(size=8.5, color="#116329"),
    "middle": Ink(size=8.5, color="#7a4f00", underline="dotted"),
    "low": Ink(style="bold", size=8.5, color="#a40e26", underline="solid"),
}
FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
ROOM = {"charts": 340, "table": 110}  # that a part with such a block wants on its first page
LONGEST_PIECE = 20_000  # characters of one passage: longer texts are set as several


class Builder:
    """Turns blocks into flowables, and tells the typefaces which characters will be drawn."""

    def __init__(self, faces: Typefaces) -> None:
        self._faces = faces
        self._anchors = 0

    def story(self, told: report.Report) -> Iterator[Flowable]:
        title, place = Ink("bold", 17), Place()
        yield self._passage([(told.subject, Ink(size=9.5, color=MUTED))], place, Look(after=2))
        yield self._passage([(told.title, title)], place, Look(leading=22, after=8))
        for notice in told.notices:
            yield self._text(replace(notice, tone="warning"), place.inside(8, Rule(1, SIDES["judge"][0], 2.0)))
        yield from self.blocks((told.header,), place)
        for section in told.sections:
            yield from self._section(section)

    def blocks(self, blocks: tuple[report.Block, ...], place: Place) -> Iterator[Flowable]:
        for block in blocks:
            yield from getattr(self, f"_{block.kind}_block")(block, place)

    def _section(self, section: report.Section) -> Iterator[Flowable]:
        look = Look(leading=19, before=18, after=10, underlined="#d1d9e0", outline=(section.title, 0))
        heading = self._passage([(section.title, Ink("bold", 13.5))], Place(), look)
        story = list(self.blocks(section.blocks, Place()))
        begin = [part for part in story[:4] if not isinstance(part, CondPageBreak)][:2]
        yield Room([heading, *begin], SMALL_TABLE + 40)
        yield heading
        yield from story

    def _text_block(self, block: report.Text, place: Place) -> Iterator[Flowable]:
        if block.form == "prose":
            yield from self._prose(block.text, place)
        else:
            yield from self._pieces(block, place)

    def _pieces(self, block: report.Text, place: Place) -> Iterator[Flowable]:
        for first in range(0, max(1, len(block.text)), LONGEST_PIECE):
            yield self._text(replace(block, text=block.text[first : first + LONGEST_PIECE]), place)

    def _text(self, block: report.Text, place: Place) -> Passage:
        is_small = block.form == "note" or block.tone == "muted"
        ink = Ink(size=8.5 if is_small else 9.0, color=TONES[block.tone])
        return self._passage([(block.text, ink)], place, Look(leading=12 if is_small else 13))

    def _prose(self, text: str, place: Place) -> Iterator[Flowable]:
        """What a model wrote, as it wrote it; what it fenced as code in a face of its own."""
        for number, part in enumerate(_fenced(text)):
            if number % 2:
                ink, look = Ink("mono", 8), Look(leading=11, before=2, after=6, padding=6, fill=PANEL)
                yield self._passage([(part, ink)], place, look)
            elif part.strip():
                yield from self._pieces(report.Text(part.strip("\n"), "plain"), place)

    def _facts_block(self, block: report.Facts, place: Place) -> Iterator[Flowable]:
        name, value, note = Ink(size=8.5, color=MUTED), Ink(size=8.5), Ink(size=8, color=MUTED)
        rows = [
            (
                self._cell([(fact.name, name)]),
                self._cell([(fact.value, value), *([(f"  ({fact.note})", note)] if fact.note else [])]),
            )
            for fact in block.facts
        ]
        yield Grid(self._faces, (), rows, (1, 3), place, GridLook(leading=11.5))

    def _table_block(self, block: report.Table, place: Place) -> Iterator[Flowable]:
        parts: list[Flowable] = []
        if block.title:
            parts.append(self._passage([(block.title, Ink("bold", 9))], place, Look(before=4, after=2)))
        size = 8.0 if len(block.columns) < 8 else 7.0
        head, body = Ink(size=size - 0.5, color=MUTED), Ink(size=size)
        heads = [self._cell([(column.name, head)], column.is_figure) for column in block.columns]
        rows = [
            [self._cell([(text, body)], column.is_figure) for text, column in zip(row, block.columns, strict=True)]
            for row in block.rows
        ]
        shares = [column.share for column in block.columns]
        parts.append(Grid(self._faces, heads, rows, shares, place, GridLook(leading=size + 2.5, gap=6.0)))
        yield Room(parts, SMALL_TABLE + 20)
        yield from parts

    def _tokens_block(self, block: report.Tokens, place: Place) -> Iterator[Flowable]:
        legend = [(words, replace(BANDS[band], size=7.5)) for band, words in block.legend]
        between = ("    ", Ink(size=7.5))
        yield self._passage([part for one in legend for part in (one, between)], place, Look(leading=11, after=2))
        yield self._passage([(token.text, BANDS[token.band]) for token in block.tokens], place, Look())
        if block.rest:
            yield self._text(report.Text(block.rest, tone="muted"), place)

    def _fold_block(self, block: report.Fold, place: Place) -> Iterator[Flowable]:
        title = [(block.title, Ink("bold", 8.5, TONES[block.tone])), (f"  {block.summary}", Ink(size=8, color=MUTED))]
        yield CondPageBreak(36)
        yield self._passage(title, place, Look(leading=12, before=2, after=2))
        yield from self.blocks(block.blocks, place.inside(9, Rule(1, "#d1d9e0", 1.2)))

    def _turn_block(self, block: report.Turn, place: Place) -> Iterator[Flowable]:
        yield CondPageBreak(80)
        look = Look(leading=12, before=4, after=8, outline=(block.title, 1))
        yield self._passage([(block.title, Ink("bold", 8.5, MUTED))], place, look)

    def _entry_block(self, block: report.Entry, place: Place) -> Iterator[Flowable]:
        solid, words = DANGER if block.tone == "danger" else SIDES.get(block.seat, (EDGE, TEXT))
        inner = place.inside(9, Rule(1, solid, 2.0))
        marks = [(f"   [{mark.text}]", Ink("bold", 7.5, TONES[mark.tone])) for mark in block.marks]
        by = [(f"   {block.by}", Ink(size=8, color=MUTED))] if block.by else []
        yield CondPageBreak(58)
        yield self._passage(
            [(block.title, Ink("bold", 9, words)), *by, *marks],
            inner,
            Look(leading=14, after=3),
            Beside(self._need("bold", block.badge), solid, self._spans([(block.when, Ink(size=7.5, color=MUTED))])),
        )
        yield from self.blocks(block.blocks, inner)
        yield self._passage([("", Ink(size=4))], place, Look(leading=6, after=0))

    def _part_block(self, block: report.Part, place: Place) -> Iterator[Flowable]:
        solid, words = SIDES.get(block.seat, (EDGE, TEXT))
        is_top = not place.indent
        yield CondPageBreak(ROOM.get(_longest(block), 60))
        beside = Beside(self._need("bold", block.badge), solid) if block.badge else None
        outline = (block.title, 1) if is_top else None
        look = Look(leading=14, before=5 if is_top else 1, after=4, outline=outline)
        yield self._passage([(block.title, Ink("bold", 9.5 if is_top else 8.5, words))], place, look, beside)
        yield from self.blocks(block.blocks, place.inside(9, Rule(1, "#d1d9e0", 1.2)))

    def _charts_block(self, block: report.Charts, place: Place) -> Iterator[Flowable]:
        yield Figures(self._faces, block.drawings, self._need("regular", _("No value in any turn.")), place)

    def _passage(self, parts: list[tuple[str, Ink]], place: Place, look: Look, beside: Beside | None = None) -> Passage:
        if look.outline:
            self._anchors += 1
            look = replace(look, anchor=f"place-{self._anchors}", outline=look.outline)
        return Passage(self._faces, self._spans(parts), place, look, beside)

    def _cell(self, parts: list[tuple[str, Ink]], at_right: bool = False) -> Cell:
        return Cell(self._spans(parts), at_right)

    def _spans(self, parts: list[tuple[str, Ink]]) -> tuple[Span, ...]:
        return tuple(Span(self._need(ink.style, text), ink) for text, ink in parts)

    def _need(self, style: Style, text: Any) -> str:
        return self._faces.need(style, str(text))


def _longest(part: report.Part) -> str:
    """The kind of its block that wants most room."""
    return max((block.kind for block in part.blocks), key=lambda kind: ROOM.get(kind, 0), default="")


def _fenced(text: str) -> list[str]:
    """Text outside and inside of code fences, in turns, without the fences' own lines."""
    parts: list[str] = []
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        if FENCE.match(line):
            parts.append("\n".join(lines))
            lines, is_code = [], not is_code
        else:
            lines.append(line)
    return [*parts, "\n".join(lines)]
