"""A report as a PDF: A4, with bookmarks and page numbers, its fonts inside."""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import get_language_info, override
from django.utils.translation import gettext as _
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, CondPageBreak, Flowable, Frame, PageTemplate

from experiments.models import Run
from experiments.runs.reports import report
from experiments.runs.reports.narrative import narrate
from experiments.runs.reports.pdf_charts import Figures
from experiments.runs.reports.pdf_flow import (
    RULE,
    SMALL_TABLE,
    Beside,
    Cell,
    Grid,
    Ink,
    Look,
    Passage,
    Place,
    Room,
    Span,
    color,
)
from experiments.runs.reports.pdf_fonts import Typefaces

MARGIN, BOTTOM = 48.0, 54.0
NUMBERS = "0123456789/ "
PAGES = "number-of-pages"
NARRATED, BUILT, CUT = 0.1, 0.15, 0.25  # shares of the work that are done when each is
FOOTER_SIZE = 7.5

TEXT, MUTED, EDGE, PANEL = "#1f2328", "#59636e", "#7d8590", "#f6f8fa"
GREEN, BROWN, RED = "#116329", "#7a4f00", "#a40e26"
TONES = {
    "plain": TEXT,
    "muted": MUTED,
    "warning": BROWN,
    "danger": RED,
    "operator": "#99286e",
    "people": GREEN,
    "judge": BROWN,
}
DANGER = ("#cf222e", RED)
SIDES = {  # of seats: the colours of rules and badges, and of words
    **dict.fromkeys(("A", "model"), ("#0969da", "#0550ae")),
    "B": ("#8250df", "#6639ba"),
    "C": ("#0e7490", "#155e75"),
    **dict.fromkeys(("researcher", "person"), ("#1a7f37", GREEN)),
    **dict.fromkeys(("judge", "chair", "summarizer"), ("#9a6700", BROWN)),
    "operator": ("#bf3989", "#99286e"),
}
BANDS: dict[str, Ink] = {
    "high": Ink(size=8.5, color=GREEN),
    "middle": Ink(size=8.5, color=BROWN, underline="dotted"),
    "low": Ink(style="bold", size=8.5, color=RED, underline="solid"),
}
FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
ROOM = {"charts": 340, "table": 110}  # that a part with such a block wants on its first page
LONGEST_PIECE = 20_000  # characters of one passage: longer texts are set as several

Progress = Callable[[float], None]
Story = Iterator[Flowable]


def _ignore(_share: float) -> None:
    pass


def render_pdf(run: Run, language: str, progress: Progress = _ignore) -> bytes:
    """The report of a run fetched by `with_totals`. progress is called with shares of the work done, 0 to 1, rising."""
    told = narrate(run, language)
    progress(NARRATED)
    with override(language):
        return draw(told, get_language_info(language)["code"], progress)


def draw(told: report.Report, language: str, progress: Progress = _ignore) -> bytes:
    """The PDF of a report in this language."""
    faces = Typefaces()
    builder = _Builder(faces)
    story = list(builder.story(told))
    footer = faces.need("regular", told.footer)
    faces.need("regular", NUMBERS)
    progress(BUILT)
    with faces.cut():
        progress(CUT)
        file, total = io.BytesIO(), len(story)
        document = BaseDocTemplate(
            file,
            pagesize=A4,
            title=told.title,
            subject=told.subject,
            author="Arena Lab",
            creator="Arena Lab",
            lang=language,
        )
        width, height = A4
        frame = Frame(MARGIN, BOTTOM, width - 2 * MARGIN, height - MARGIN - BOTTOM, 0, 0, 0, 0)
        font = faces.name("regular")
        number_width = faces.width("regular", FOOTER_SIZE, "/ 0000")

        def draw_foot(canvas: Any, _document: Any) -> None:
            canvas.setFillColor(color(MUTED))
            canvas.setFont(font, FOOTER_SIZE)
            canvas.drawString(MARGIN, BOTTOM - 24, footer)
            canvas.drawRightString(width - MARGIN - number_width, BOTTOM - 24, f"{canvas.getPageNumber()} ")
            canvas.saveState()
            canvas.translate(width - MARGIN - number_width, BOTTOM - 24)
            canvas.doForm(PAGES)
            canvas.restoreState()

        def on_progress(kind: str, value: Any) -> None:
            if kind == "PROGRESS" and total:
                progress(min(1.0, CUT + (1 - CUT) * value / total))

        def canvas_of(file: Any, **options: Any) -> Canvas:
            return _NumberedCanvas(file, **{**options, "initialFontName": font})

        document.addPageTemplates(PageTemplate("page", [frame], onPage=draw_foot))
        document.setProgressCallBack(on_progress)
        document.build(story, canvasmaker=canvas_of)
    progress(1.0)
    return file.getvalue()


class _NumberedCanvas(Canvas):  # type: ignore[misc]  # reportlab has no types
    """How many pages there are is known at the end: on every page it is a form, which is filled in then."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.showOutline()

    def save(self) -> None:
        self.beginForm(PAGES)
        self.setFillColor(color(MUTED))
        self.setFont(self._initialFontName, FOOTER_SIZE)
        self.drawString(0, 0, f"/ {self.getPageNumber() - 1}")
        self.endForm()
        super().save()


class _Builder:
    """Turns blocks into flowables, and tells the typefaces which characters will be drawn."""

    def __init__(self, faces: Typefaces) -> None:
        self._faces = faces

    def story(self, told: report.Report) -> Story:
        place = Place()
        yield self._passage([(told.subject, Ink(size=9.5, color=MUTED))], place, Look(after=2))
        yield self._passage([(told.title, Ink("bold", 17))], place, Look(leading=22, after=8))
        for notice in told.notices:
            yield self._text(replace(notice, tone="warning"), place.inside(8, SIDES["judge"][0], 2.0))
        for section in (told.result, *told.sections):
            look = Look(leading=19, before=18, after=10, underlined=RULE, outline=(section.title, 0))
            heading = self._passage([(section.title, Ink("bold", 13.5))], place, look)
            story = list(self._blocks(section.blocks, place))
            begin = [part for part in story[:4] if not isinstance(part, CondPageBreak)][:2]
            yield Room([heading, *begin], SMALL_TABLE + 40)
            yield heading
            yield from story

    def _blocks(self, blocks: tuple[report.Block, ...], place: Place) -> Story:
        for block in blocks:
            yield from getattr(self, f"_{block.kind}_block")(block, place)

    def _text_block(self, block: report.Text, place: Place) -> Story:
        """What a model wrote stands as it wrote it; what it fenced as code in a face of its own."""
        if block.form != "prose":
            yield from self._pieces(block, place)
            return
        for number, part in enumerate(_fenced(block.text)):
            if number % 2:
                look = Look(leading=11, before=2, after=6, padding=6, fill=PANEL)
                yield self._passage([(part, Ink("mono", 8))], place, look)
            elif part.strip():
                yield from self._pieces(report.Text(part.strip("\n"), "plain"), place)

    def _pieces(self, block: report.Text, place: Place) -> Story:
        for first in range(0, max(1, len(block.text)), LONGEST_PIECE):
            yield self._text(replace(block, text=block.text[first : first + LONGEST_PIECE]), place)

    def _text(self, block: report.Text, place: Place) -> Passage:
        is_small = block.form == "note" or block.tone == "muted"
        ink = Ink(size=8.5 if is_small else 9.0, color=TONES[block.tone])
        return self._passage([(block.text, ink)], place, Look(leading=12 if is_small else 13))

    def _facts_block(self, block: report.Facts, place: Place) -> Story:
        name, value, note = Ink(size=8.5, color=MUTED), Ink(size=8.5), Ink(size=8, color=MUTED)
        rows = []
        for fact in block.facts:
            notes = [(f"  ({fact.note})", note)] if fact.note else []
            rows.append((Cell(self._spans([(fact.name, name)])), Cell(self._spans([(fact.value, value), *notes]))))
        yield Grid(self._faces, (), rows, (1, 3), place, Look(leading=11.5, padding=2.5, after=8))

    def _table_block(self, block: report.Table, place: Place) -> Story:
        parts: list[Flowable] = []
        if block.title:
            parts.append(self._passage([(block.title, Ink("bold", 9))], place, Look(before=4, after=2)))
        size = 8.0 if len(block.columns) < 8 else 7.0
        head, body = Ink(size=size - 0.5, color=MUTED), Ink(size=size)
        heads = [Cell(self._spans([(column.name, head)]), column.is_figure) for column in block.columns]
        rows = [
            [
                Cell(self._spans([(text, body)]), column.is_figure)
                for text, column in zip(row, block.columns, strict=True)
            ]
            for row in block.rows
        ]
        look = Look(leading=size + 2.5, padding=2.5, after=8, gap=6)
        parts.append(Grid(self._faces, heads, rows, [column.share for column in block.columns], place, look))
        yield Room(parts, SMALL_TABLE + 20)
        yield from parts

    def _tokens_block(self, block: report.Tokens, place: Place) -> Story:
        legend = [part for band, said in block.legend for part in ((said, replace(BANDS[band], size=7.5)), _GAP)]
        yield self._passage(legend, place, Look(leading=11, after=2))
        yield self._passage([(token.text, BANDS[token.band]) for token in block.tokens], place, Look())
        if block.rest:
            yield self._text(report.Text(block.rest, tone="muted"), place)

    def _fold_block(self, block: report.Fold, place: Place) -> Story:
        title = [(block.title, Ink("bold", 8.5, TONES[block.tone])), (f"  {block.summary}", Ink(size=8, color=MUTED))]
        yield CondPageBreak(36)
        yield self._passage(title, place, Look(leading=12, before=2, after=2))
        yield from self._blocks(block.blocks, place.inside(9, RULE, 1.2))

    def _turn_block(self, block: report.Turn, place: Place) -> Story:
        yield CondPageBreak(80)
        look = Look(leading=12, before=4, after=8, outline=(block.title, 1))
        yield self._passage([(block.title, Ink("bold", 8.5, MUTED))], place, look)

    def _entry_block(self, block: report.Entry, place: Place) -> Story:
        solid, dark = DANGER if block.tone == "danger" else SIDES.get(block.seat, (EDGE, TEXT))
        inner = place.inside(9, solid, 2.0)
        title = [(block.title, Ink("bold", 9, dark))]
        title += [(f"   {block.by}", Ink(size=8, color=MUTED))] if block.by else []
        title += [(f"   [{mark.text}]", Ink("bold", 7.5, TONES[mark.tone])) for mark in block.marks]
        when = self._spans([(block.when, Ink(size=7.5, color=MUTED))])
        beside = Beside(self._faces.need("bold", block.badge), solid, when)
        yield CondPageBreak(58)
        yield self._passage(title, inner, Look(leading=14, after=3), beside)
        yield from self._blocks(block.blocks, inner)
        yield self._passage([("", Ink(size=4))], place, Look(leading=6, after=0))

    def _part_block(self, block: report.Part, place: Place) -> Story:
        solid, dark = SIDES.get(block.seat, (EDGE, TEXT))
        is_top = not place.indent
        yield CondPageBreak(max((ROOM.get(inner.kind, 60) for inner in block.blocks), default=60))
        beside = Beside(self._faces.need("bold", block.badge), solid) if block.badge else None
        look = Look(leading=14, before=5 if is_top else 1, after=4, outline=(block.title, 1) if is_top else None)
        yield self._passage([(block.title, Ink("bold", 9.5 if is_top else 8.5, dark))], place, look, beside)
        yield from self._blocks(block.blocks, place.inside(9, RULE, 1.2))

    def _charts_block(self, block: report.Charts, place: Place) -> Story:
        yield Figures(self._faces, block.drawings, self._faces.need("regular", _("No value in any turn.")), place)

    def _passage(self, parts: list[tuple[str, Ink]], place: Place, look: Look, beside: Beside | None = None) -> Passage:
        return Passage(self._faces, self._spans(parts), place, look, beside)

    def _spans(self, parts: list[tuple[str, Ink]]) -> tuple[Span, ...]:
        return tuple(Span(self._faces.need(ink.style, str(text)), ink) for text, ink in parts)


_GAP = ("    ", Ink(size=7.5))


def _fenced(text: str) -> list[str]:
    """Text outside and inside of code fences, in turns, without the fences' own lines."""
    parts: list[str] = []
    lines: list[str] = []
    for line in text.split("\n"):
        if FENCE.match(line):
            parts.append("\n".join(lines))
            lines = []
        else:
            lines.append(line)
    return [*parts, "\n".join(lines)]
