"""Tables of a PDF, which go on over pages with their heads repeated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reportlab.platypus import Flowable

from experiments.runs.reports.pdf_flow import Place, baseline, draw_line, draw_rules
from experiments.runs.reports.pdf_fonts import Typefaces
from experiments.runs.reports.pdf_text import Line, Span, break_lines, color

SMALL_TABLE = 160.0  # points: a table of this height stays on one page
LEAST_LINES = 6  # of a row that is too long for a page, at its end
RULE, HEAD_RULE = "#d1d9e0", "#7d8590"


@dataclass(frozen=True, slots=True)
class Cell:
    spans: tuple[Span, ...]
    at_right: bool = False


@dataclass(frozen=True, slots=True)
class GridLook:
    leading: float = 10.5
    gap: float = 8.0
    padding: float = 2.5
    after: float = 8.0


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
        look: GridLook | None = None,
    ) -> None:
        super().__init__()
        self.faces, self.head, self.rows, self.shares, self.place = faces, head, rows, shares, place
        self.look = look or GridLook()
        self._set: list[list[list[Line]]] | None = None  # rows of cells of lines
        self._head: list[list[Line]] = []

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width = width
        if self._set is None:
            self._head = self._lines(self.head)
            self._set = [self._lines(row) for row in self.rows]
        self.height = self._head_height() + sum(map(self._row_height, self._set)) + self.look.after
        return width, self.height

    def split(self, width: float, height: float) -> list[Flowable]:
        self.wrap(width, height)
        rows = self._set or []
        if self.height <= SMALL_TABLE:
            return []
        room, fits = height - self._head_height(), 0
        while fits < len(rows) and self._row_height(rows[fits]) <= room:
            room -= self._row_height(rows[fits])
            fits += 1
        if fits:
            fits = min(fits, len(rows) - 1)  # all rows but not what follows them: the last one goes along
            return [] if not fits else self._in_two(rows[:fits], rows[fits:])
        lines = int((room - 2 * self.look.padding) // self.look.leading)
        if not rows or lines < LEAST_LINES:
            return []
        before, after = [cell[:lines] for cell in rows[0]], [cell[lines:] for cell in rows[0]]
        return self._in_two([before], [after, *rows[1:]])

    def draw(self) -> None:
        self.canv.saveState()
        draw_rules(self.canv, self.place.rules, self.height)
        y = self.height
        if self._head:
            y = self._draw_row(self._head, self.head, y, HEAD_RULE)
        for row in self._set or []:
            y = self._draw_row(row, self.rows[0] if self.rows else (), y, RULE)
        self.canv.restoreState()

    def _in_two(self, before: list[list[list[Line]]], after: list[list[list[Line]]]) -> list[Flowable]:
        if not after:
            return []
        return [self._of(before, replace(self.look, after=0.0)), self._of(after, self.look)]

    def _of(self, lines: list[list[list[Line]]], look: GridLook) -> "Grid":
        part = Grid(self.faces, self.head, self.rows[:1], self.shares, self.place, look)
        part._set, part._head = lines, self._head
        return part

    def _columns(self) -> list[tuple[float, float]]:
        """Left edge and width of each."""
        gaps = self.look.gap * (len(self.shares) - 1)
        room = (self.width - self.place.indent - gaps) / sum(self.shares)
        edges, x = [], self.place.indent
        for share in self.shares:
            edges.append((x, share * room))
            x += share * room + self.look.gap
        return edges

    def _lines(self, row: Sequence[Cell]) -> list[list[Line]]:
        return [
            break_lines(self.faces, cell.spans, width)
            for cell, (_left, width) in zip(row, self._columns(), strict=True)
        ] if row else []  # fmt: skip

    def _row_height(self, row: list[list[Line]]) -> float:
        return max(map(len, row), default=0) * self.look.leading + 2 * self.look.padding

    def _head_height(self) -> float:
        return self._row_height(self._head) if self._head else 0.0

    def _draw_row(self, row: list[list[Line]], cells: Sequence[Cell], y: float, rule: str) -> float:
        for lines, cell, (left, width) in zip(row, cells, self._columns(), strict=True):
            for number, line in enumerate(lines):
                used = line[-1].x + line[-1].width if line else 0.0
                size = line[0].ink.size if line else 8.0
                down = y - self.look.padding - number * self.look.leading - baseline(self.look.leading, size)
                draw_line(self.canv, self.faces, line, left + (width - used if cell.at_right else 0), down)
        bottom = y - self._row_height(row)
        self.canv.setStrokeColor(color(rule))
        self.canv.setLineWidth(0.4)
        self.canv.line(self.place.indent, bottom, self.width, bottom)
        return bottom
