"""What flows over the pages of a PDF: text and tables at their places, with rules and badges at their sides.

ReportLab's own paragraphs break lines at spaces alone, or anywhere in CJK mode, and its tables set every cell as one
of those; here lines break as each script allows within the same text, and a row that is longer than a page goes on.
"""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from itertools import count, groupby
from typing import Any, Literal, NamedTuple

from reportlab.lib.colors import Color, HexColor
from reportlab.platypus import CondPageBreak, Flowable

from experiments.runs.reports.pdf_fonts import ASCENT, DESCENT, UNITS, Style, Typefaces

Underline = Literal["", "dotted", "solid"]

OPENING = "（［｛《〈「『【〔〖“‘"
CLOSING = "、。，．：；！？）］｝》〉」』】〕〗”’…—％"
WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U0001f000-\U0001faff\U00020000-\U0003ffff"
TOKENS = re.compile(f"\n| +|[{OPENING}]*[{WIDE}][{CLOSING}]*|[^ \n{WIDE}]+")
RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
RIGHT_TO_LEFT = re.compile(f"[{RTL}](?:[{RTL} ]*[{RTL}])?")
LEAST_LINES = 2  # of a passage that stay together at the end and at the beginning of a page
LEAST_OF_ROW = 6  # lines, at the end of a page, of a row that is too long for one
SMALL_TABLE = 160.0  # points: a table of this height stays on one page
BADGE = 17.0  # points at the left of a line for a badge
RULE, HEAD_RULE = "#d1d9e0", "#7d8590"


@dataclass(frozen=True, slots=True)
class Ink:
    """How words look. color: #rrggbb."""

    style: Style = "regular"
    size: float = 9.0
    color: str = "#1f2328"
    underline: Underline = ""


class Span(NamedTuple):
    text: str
    ink: Ink


class Piece(NamedTuple):
    """Words of one ink at x points from the left of their line."""

    x: float
    width: float
    text: str
    ink: Ink


Line = tuple[Piece, ...]
_keys = count()  # of places among the bookmarks


@cache
def color(hexadecimal: str) -> Color:
    return HexColor(hexadecimal)


# --- lines ---


def break_lines(faces: Typefaces, spans: Sequence[Span], width: float) -> list[Line]:
    """The spans in lines of at most `width` points. Breaks are at spaces, between Chinese, Japanese and Korean
    characters, and inside a word only where the word alone is longer than a line.
    """
    lines: list[Line] = []
    parts: list[tuple[str, Ink, float]] = []  # of the line that is being filled, with their widths
    x, is_wrapped = 0.0, False  # is_wrapped: the line begins because the one before was full, so not with a space

    def end(*, wrapped: bool) -> None:
        nonlocal x, is_wrapped
        lines.append(_pieces(parts))
        parts.clear()
        x, is_wrapped = 0.0, wrapped

    for text, ink in spans:
        for token in TOKENS.findall(text):
            if token[0] == "\n":
                end(wrapped=False)
                continue
            length = faces.width(ink.style, ink.size, token)
            if token[0] == " ":
                if parts or not is_wrapped:
                    length = min(length, max(0.0, width - x))
                    parts.append((token, ink, length))
                    x += length
                continue
            if x + length > width and parts:
                end(wrapped=True)
            pieces = _cut(faces, token, ink, width) if length > width else [(token, length)]
            for number, (piece, length) in enumerate(pieces):
                if number:
                    end(wrapped=True)
                parts.append((piece, ink, length))
                x += length
    if parts or not lines:
        end(wrapped=False)
    return lines


def _cut(faces: Typefaces, word: str, ink: Ink, width: float) -> list[tuple[str, float]]:
    """A word that is longer than a line, in pieces that fill lines, with their widths."""
    widths = faces.widths(ink.style)
    pieces, start, length = [], 0, 0.0
    for place, character in enumerate(word):
        step = widths[character] * ink.size
        if length + step > width and place > start:
            pieces.append((word[start:place], length))
            start, length = place, 0.0
        length += step
    return [*pieces, (word[start:], length)]


def _pieces(parts: Sequence[tuple[str, Ink, float]]) -> Line:
    """Neighbours of one ink become one piece. Stretches of Hebrew and Arabic stand from right to left; their letters
    are not joined: that takes a shaping engine.
    """
    pieces, x = [], 0.0
    for ink, group in groupby(parts, key=lambda part: part[1]):
        texts, _inks, widths = zip(*group, strict=True)
        text = RIGHT_TO_LEFT.sub(lambda found: found[0][::-1], "".join(texts))
        pieces.append(Piece(x, sum(widths), text, ink))
        x += sum(widths)
    return tuple(pieces)


def draw_line(canvas: Any, faces: Typefaces, line: Line, x: float, top: float, leading: float) -> None:
    """top: of the line, whose words stand in the middle of its leading."""
    size = max((piece.ink.size for piece in line), default=0.0)
    y = top - (leading + (ASCENT + DESCENT) / UNITS * size) / 2
    for piece in line:
        ink = piece.ink
        canvas.setFillColor(color(ink.color))
        canvas.setFont(faces.name(ink.style), ink.size)
        canvas.drawString(x + piece.x, y, piece.text)
        if ink.underline and piece.text.strip():
            canvas.saveState()
            canvas.setStrokeColor(color(ink.color))
            canvas.setLineWidth(0.7)
            if ink.underline == "dotted":
                canvas.setDash(0.8, 1.4)
            canvas.line(x + piece.x, y - 1.8, x + piece.x + piece.width, y - 1.8)
            canvas.restoreState()


# --- where and how ---


class Rule(NamedTuple):
    """A line down the left side: x points from the left."""

    x: float
    color: str
    width: float


class Place(NamedTuple):
    """Where in the column something stands: what is free at its left, and the rules that run down there."""

    indent: float = 0.0
    rules: tuple[Rule, ...] = ()

    def inside(self, indent: float, color: str, width: float) -> "Place":
        return Place(self.indent + indent, (*self.rules, Rule(self.indent + 1, color, width)))

    def draw_rules(self, canvas: Any, height: float) -> None:
        for rule in self.rules:
            canvas.setStrokeColor(color(rule.color))
            canvas.setLineWidth(rule.width)
            canvas.line(rule.x, 0, rule.x, height)


@dataclass(frozen=True, slots=True)
class Look:
    """How a passage or the rows of a table are set, in points. fill: the colour behind a passage. outline: its title
    and level among the bookmarks. gap: between the columns of a table.
    """

    leading: float = 13.0
    before: float = 0.0
    after: float = 4.0
    padding: float = 0.0
    fill: str = ""
    underlined: str = ""
    outline: tuple[str, int] | None = None
    gap: float = 8.0


class Beside(NamedTuple):
    """What stands at the ends of a passage's first line: a badge of a colour, and words at the right."""

    badge: str = ""
    color: str = ""
    right: tuple[Span, ...] = ()


def _part(whole: Flowable, **changes: Any) -> Flowable:
    """What of something stands on one page. `_postponed` is Platypus' mark of what found no room on a page before."""
    part = copy(whole)
    vars(part).pop("_postponed", None)
    vars(part).update(changes)
    return part


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
            badge, right = BADGE if self.beside.badge else 0.0, 0.0
            if self.beside.right:
                right = 10 + sum(self.faces.width(ink.style, ink.size, text) for text, ink in self.beside.right)
            room = width - self.place.indent - 2 * self.look.padding - badge - right
            self._lines = break_lines(self.faces, self.spans, room)
        self.height = self._height(len(self._lines))
        return width, self.height

    def _height(self, lines: int) -> float:
        return self.look.before + self.look.after + 2 * self.look.padding + lines * self.look.leading

    def split(self, width: float, height: float) -> list[Flowable]:
        self.wrap(width, height)
        lines = self._lines or []
        fits = min(int((height - self._height(0)) // self.look.leading), len(lines) - LEAST_LINES)
        if fits < LEAST_LINES:
            return []
        rest = replace(self.look, before=0.0, outline=None)
        return [
            _part(self, _lines=lines[:fits], look=replace(self.look, after=0.0)),
            _part(self, _lines=lines[fits:], look=rest, beside=Beside()),
        ]

    def draw(self) -> None:
        canvas, look, lines = self.canv, self.look, self._lines or []
        canvas.saveState()
        self.place.draw_rules(canvas, self.height)
        left, top = self.place.indent, self.height - look.before
        if look.outline:
            title, level = look.outline
            key = f"place-{next(_keys)}"
            canvas.bookmarkHorizontal(key, 0, self.height)
            canvas.addOutlineEntry(title, key, level, closed=level == 0 and None)
        if look.fill:
            canvas.setFillColor(color(look.fill))
            canvas.rect(left, look.after, self.width - left, top - look.after, stroke=0, fill=1)
        x = left + look.padding
        if self.beside.badge:
            self._draw_badge(left, top - look.leading / 2)
            x += BADGE
        if self.beside.right:
            [line] = break_lines(self.faces, self.beside.right, 10_000)
            draw_line(canvas, self.faces, line, self.width - line[-1].x - line[-1].width, top, look.leading)
        for number, line in enumerate(lines):
            draw_line(canvas, self.faces, line, x, top - look.padding - number * look.leading, look.leading)
        if look.underlined:
            canvas.setStrokeColor(color(look.underlined))
            canvas.setLineWidth(0.8)
            canvas.line(left, look.after - 2, self.width, look.after - 2)
        canvas.restoreState()

    def _draw_badge(self, left: float, middle: float) -> None:
        self.canv.setFillColor(color(self.beside.color))
        self.canv.roundRect(left, middle - 6, 12.5, 12, 2.5, stroke=0, fill=1)
        self.canv.setFillColor(color("#ffffff"))
        self.canv.setFont(self.faces.name("bold"), 7.5)
        self.canv.drawCentredString(left + 6.25, middle - 2.7, self.beside.badge)


class Cell(NamedTuple):
    spans: tuple[Span, ...]
    at_right: bool = False


Row = list[list[Line]]  # the lines of each cell


class Grid(Flowable):  # type: ignore[misc]  # reportlab has no types
    """Rows of cells. shares: how the width is divided. The head comes again on every page; a row that is too long for
    one goes on.
    """

    def __init__(
        self,
        faces: Typefaces,
        head: Sequence[Cell],
        rows: Sequence[Sequence[Cell]],
        shares: Sequence[float],
        place: Place,
        look: Look,
    ) -> None:
        super().__init__()
        self.faces, self.head, self.rows, self.shares, self.place, self.look = faces, head, rows, shares, place, look
        self.at_right = [cell.at_right for cell in (head or (rows[0] if rows else ()))]
        self._rows: list[Row] | None = None
        self._head: Row = []

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width = width
        if self._rows is None:
            self._head = self._broken(self.head)
            self._rows = [self._broken(row) for row in self.rows]
        self.height = self._height(self._head) + sum(map(self._height, self._rows)) + self.look.after
        return width, self.height

    def _broken(self, row: Sequence[Cell]) -> Row:
        return [
            break_lines(self.faces, cell.spans, width)
            for cell, (_left, width) in zip(row, self._columns(), strict=True)
        ] if row else []  # fmt: skip

    def _columns(self) -> list[tuple[float, float]]:
        """Left edge and width of each."""
        gaps = self.look.gap * (len(self.shares) - 1)
        room = (self.width - self.place.indent - gaps) / sum(self.shares)
        edges, x = [], self.place.indent
        for share in self.shares:
            edges.append((x, share * room))
            x += share * room + self.look.gap
        return edges

    def _height(self, row: Row) -> float:
        return max(map(len, row)) * self.look.leading + 2 * self.look.padding if row else 0.0

    def split(self, width: float, height: float) -> list[Flowable]:
        self.wrap(width, height)
        rows = self._rows or []
        if self.height <= SMALL_TABLE:
            return []
        room, fits = height - self._height(self._head), 0
        while fits < len(rows) and self._height(rows[fits]) <= room:
            room -= self._height(rows[fits])
            fits += 1
        if fits:
            fits = min(fits, len(rows) - 1)  # all rows but not what follows them: the last one goes along
            before, after = rows[:fits], rows[fits:]
        else:
            lines = int((room - 2 * self.look.padding) // self.look.leading)
            if not rows or lines < LEAST_OF_ROW:
                return []
            before = [[cell[:lines] for cell in rows[0]]]
            after = [[cell[lines:] for cell in rows[0]], *rows[1:]]
        if not before:
            return []
        return [_part(self, _rows=before, look=replace(self.look, after=0.0)), _part(self, _rows=after)]

    def draw(self) -> None:
        canvas, look, y = self.canv, self.look, self.height
        canvas.saveState()
        self.place.draw_rules(canvas, self.height)
        for number, row in enumerate([self._head, *(self._rows or [])]):
            if not row:
                continue
            for lines, at_right, (left, width) in zip(row, self.at_right, self._columns(), strict=True):
                for place, line in enumerate(lines):
                    used = line[-1].x + line[-1].width if line else 0.0
                    x, top = left + (width - used if at_right else 0), y - look.padding - place * look.leading
                    draw_line(canvas, self.faces, line, x, top, look.leading)
            y -= self._height(row)
            canvas.setStrokeColor(color(RULE if number else HEAD_RULE))
            canvas.setLineWidth(0.4)
            canvas.line(self.place.indent, y, self.width, y)
        canvas.restoreState()


class Room(CondPageBreak):  # type: ignore[misc]  # reportlab has no types
    """A new page where these do not fit on what is left of this one, unless they are taller than `most` points."""

    def __init__(self, flowables: Sequence[Flowable], most: float) -> None:
        super().__init__(0)
        self._flowables, self._most = flowables, most

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.height = min(self._most, sum(flowable.wrap(width, height)[1] for flowable in self._flowables))
        return super().wrap(width, height)  # type: ignore[no-any-return]  # reportlab has no types
