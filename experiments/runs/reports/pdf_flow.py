"""What flows over the pages of a PDF: passages of text at their places, with rules and badges at their sides."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from reportlab.platypus import CondPageBreak, Flowable

from experiments.runs.reports.pdf_fonts import ASCENT, DESCENT, Typefaces
from experiments.runs.reports.pdf_glyphs import UNITS
from experiments.runs.reports.pdf_text import Ink, Line, Span, break_lines, color

LEAST_LINES = 2  # of a passage that stay together at the end and at the beginning of a page


@dataclass(frozen=True, slots=True)
class Rule:
    """A line down the left side: x points from the left."""

    x: float
    color: str
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the column something stands: what is free at its left, and the rules that run down there."""

    indent: float = 0.0
    rules: tuple[Rule, ...] = ()

    def inside(self, indent: float, *rules: Rule) -> "Place":
        moved = tuple(replace(rule, x=rule.x + self.indent) for rule in rules)
        return Place(self.indent + indent, (*self.rules, *moved))


@dataclass(frozen=True, slots=True)
class Look:
    """How a passage is set, in points. fill: the colour behind it. outline: its title and level among the bookmarks."""

    leading: float = 13.0
    before: float = 0.0
    after: float = 4.0
    padding: float = 0.0
    fill: str = ""
    underlined: str = ""
    outline: tuple[str, int] | None = None
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands at the ends of a passage's first line: a badge of a colour, and words at the right."""

    badge: str = ""
    color: str = ""
    right: tuple[Span, ...] = ()


def draw_line(canvas: Any, faces: Typefaces, line: Line, x: float, y: float) -> None:
    """y: of the baseline."""
    for piece in line:
        canvas.setFillColor(color(piece.ink.color))
        canvas.setFont(faces.name(piece.ink.style), piece.ink.size)
        canvas.drawString(x + piece.x, y, piece.text)
        if piece.ink.underline and piece.text.strip():
            _underline(canvas, piece.ink, x + piece.x, y - 1.8, piece.width)


def _underline(canvas: Any, ink: Ink, x: float, y: float, width: float) -> None:
    canvas.saveState()
    canvas.setStrokeColor(color(ink.color))
    canvas.setLineWidth(0.7)
    if ink.underline == "dotted":
        canvas.setDash(0.8, 1.4)
    canvas.line(x, y, x + width, y)
    canvas.restoreState()


def draw_rules(canvas: Any, rules: Sequence[Rule], height: float) -> None:
    for rule in rules:
        canvas.setStrokeColor(color(rule.color))
        canvas.setLineWidth(rule.width)
        canvas.line(rule.x, 0, rule.x, height)


def baseline(leading: float, size: float) -> float:
    """From the top of a line to its baseline."""
    return (leading + (ASCENT + DESCENT) / UNITS * size) / 2


class Passage(Flowable):  # type: ignore[misc]  # reportlab has no types
    """Text at a place. What a page has no room for goes on, with the same rules at its side, on the next one."""

    def __init__(
        self, faces: Typefaces, spans: Sequence[Span], place: Place, look: Look, beside: Beside | None = None
    ) -> None:
        super().__init__()
        self.faces, self.spans, self.place, self.look = faces, spans, place, look
        self.beside = beside or Beside()
        self._lines: list[Line] | None = None

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width = width
        if self._lines is None:
            self._lines = break_lines(self.faces, self.spans, self._room(width))
        self.height = self._height(len(self._lines))
        return width, self.height

    def split(self, width: float, height: float) -> list[Flowable]:
        self.wrap(width, height)
        lines = self._lines or []
        fits = int((height - self._height(0)) // self.look.leading)
        fits = min(fits, len(lines) - LEAST_LINES)
        if fits < LEAST_LINES:
            return []
        first, rest = replace(self.look, after=0.0), replace(self.look, before=0.0, outline=None, anchor="")
        return [self._of(lines[:fits], first, self.beside), self._of(lines[fits:], rest, Beside())]

    def draw(self) -> None:
        canvas, look = self.canv, self.look
        canvas.saveState()
        draw_rules(canvas, self.place.rules, self.height)
        self._mark()
        left, top = self.place.indent, self.height - look.before
        if look.fill:
            canvas.setFillColor(color(look.fill))
            canvas.rect(left, look.after, self.width - left, top - look.after, stroke=0, fill=1)
        self._draw_beside(top)
        x = left + look.padding + self._badge_room()
        for number, line in enumerate(self._lines or []):
            size = max((piece.ink.size for piece in line), default=9.0)
            y = top - look.padding - number * look.leading - baseline(look.leading, size)
            draw_line(canvas, self.faces, line, x, y)
        if look.underlined:
            canvas.setStrokeColor(color(look.underlined))
            canvas.setLineWidth(0.8)
            canvas.line(left, look.after - 2, self.width, look.after - 2)
        canvas.restoreState()

    def _room(self, width: float) -> float:
        right = sum(self.faces.width(span.ink.style, span.ink.size, span.text) for span in self.beside.right)
        return width - self.place.indent - 2 * self.look.padding - self._badge_room() - (right + 10 if right else 0)

    def _badge_room(self) -> float:
        return 17.0 if self.beside.badge else 0.0

    def _height(self, lines: int) -> float:
        return self.look.before + self.look.after + 2 * self.look.padding + lines * self.look.leading

    def _of(self, lines: list[Line], look: Look, beside: Beside) -> "Passage":
        part = Passage(self.faces, (), self.place, look, beside)
        part._lines = lines
        return part

    def _mark(self) -> None:
        key = self.look.anchor or str(id(self))
        if self.look.outline:
            title, level = self.look.outline
            self.canv.bookmarkHorizontal(key, 0, self.height)
            self.canv.addOutlineEntry(title, key, level, closed=level == 0 and None)

    def _draw_beside(self, top: float) -> None:
        left, middle = self.place.indent, top - self.look.leading / 2
        if self.beside.badge:
            self.canv.setFillColor(color(self.beside.color))
            self.canv.roundRect(left, middle - 6, 12.5, 12, 2.5, stroke=0, fill=1)
            self.canv.setFillColor(color("#ffffff"))
            self.canv.setFont(self.faces.name("bold"), 7.5)
            self.canv.drawCentredString(left + 6.25, middle - 2.7, self.beside.badge)
        if self.beside.right:
            [line] = break_lines(self.faces, self.beside.right, 10_000)
            length = sum(piece.width for piece in line)
            size = self.beside.right[0].ink.size
            draw_line(self.canv, self.faces, line, self.width - length, top - baseline(self.look.leading, size))


class Room(CondPageBreak):  # type: ignore[misc]  # reportlab has no types
    """A new page where these do not fit on what is left of this one, unless they are taller than `most` points."""

    def __init__(self, flowables: Sequence[Flowable], most: float) -> None:
        super().__init__(0)
        self._flowables, self._most = flowables, most

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.height = min(self._most, sum(flowable.wrap(width, height)[1] for flowable in self._flowables))
        return super().wrap(width, height)  # type: ignore[no-any-return]  # reportlab has no types
