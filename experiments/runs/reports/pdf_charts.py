"""Charts on paper: the drawing of `experiments.runs.drawings.charts` with lines of a PDF instead of those of an SVG."""

from collections.abc import Sequence
from typing import Any

from reportlab.platypus import Flowable

from experiments.runs.drawings import charts
from experiments.runs.reports.pdf_flow import Place, color
from experiments.runs.reports.pdf_fonts import Typefaces
from experiments.templatetags.drawing import Drawing, tick_label

INKS = {
    "happiness": "#1f77b4",
    "sadness": "#8c564b",
    "anger": "#cf222e",
    "hopelessness": "#57606a",
    "excitement": "#1a7f37",
    "fear": "#8a6100",
    "deception": "#8250df",
    "side-A": "#0969da",
    "side-B": "#8250df",
    "side-model": "#0969da",
}
GRID, MUTED = "#d1d9e0", "#59636e"
WORDS = 8.5  # size of titles and labels, before scaling
TITLE_HEIGHT = 13.0
GAP = 16.0


class Figures(Flowable):  # type: ignore[misc]  # reportlab has no types
    """Drawings of one seat: a large one with the small ones at its side, or all below each other. Kept on one page."""

    def __init__(self, faces: Typefaces, drawings: Sequence[Drawing], nothing: str, place: Place) -> None:
        super().__init__()
        self.faces, self.drawings, self.nothing, self.place = faces, drawings, nothing, place
        for drawing in drawings:
            faces.need("regular", drawing.title + nothing + "".join(line.label for line in drawing.chart.lines))
            faces.need("regular", "".join(tick_label(tick.value) for tick in drawing.chart.y_ticks))

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        self.width = width
        sizes = [drawing.chart.size for drawing in self.drawings]
        is_beside = len({size.width for size in sizes}) > 1
        self._corners: list[tuple[float, float]] = []  # upper left, from that of all
        x, y, lowest = 0.0, 0.0, 0.0
        for number, size in enumerate(sizes):
            self._corners.append((x, -y))
            lowest = max(lowest, y + size.height + TITLE_HEIGHT)
            if is_beside and not number:
                x = size.width + GAP
            else:
                y += size.height + TITLE_HEIGHT + GAP / 2
        full = sizes[0].width + GAP + sizes[-1].width if is_beside else max(size.width for size in sizes)
        self._scale = (width - self.place.indent) / full
        self.height = lowest * self._scale + 10
        return width, self.height

    def draw(self) -> None:
        canvas = self.canv
        self.place.draw_rules(canvas, self.height)
        canvas.saveState()
        canvas.translate(self.place.indent, self.height)
        canvas.scale(self._scale, self._scale)
        for drawing, (x, y) in zip(self.drawings, self._corners, strict=True):
            canvas.saveState()
            canvas.translate(x, y - TITLE_HEIGHT)
            self._words(0, 4, drawing.title, MUTED)
            if drawing.chart.is_empty:
                self._words(0, -12, self.nothing, MUTED)
            else:
                self._grid(drawing.chart)
                for line in drawing.chart.lines:
                    self._line(drawing.chart, line)
            canvas.restoreState()
        canvas.restoreState()

    def _words(self, x: float, y: float, text: str, ink: str, align: str = "left") -> None:
        canvas = self.canv
        canvas.setFillColor(color(ink))
        canvas.setFont(self.faces.name("regular"), WORDS)
        draw = {"left": canvas.drawString, "right": canvas.drawRightString, "middle": canvas.drawCentredString}[align]
        draw(x, y, text)

    def _grid(self, chart: charts.Chart) -> None:
        self.canv.setStrokeColor(color(GRID))
        self.canv.setLineWidth(0.5)
        for tick in chart.y_ticks:
            self.canv.line(chart.size.left, -tick.at, chart.plot_right, -tick.at)
            self._words(chart.size.left - 4, -tick.at - 3, tick_label(tick.value), MUTED, "right")
        for tick in chart.x_ticks:
            self._words(tick.at, -chart.size.height + 5, f"{tick.value:g}", MUTED, "middle")

    def _line(self, chart: charts.Chart, line: charts.Line) -> None:
        canvas, ink = self.canv, INKS.get(line.key, "#1f2328")
        canvas.setStrokeColor(color(ink))
        canvas.setLineWidth(1.2)
        canvas.setLineJoin(1)
        canvas.setDash(list(line.dash))
        for segment in line.segments:
            _stroke(canvas, segment)
        canvas.setDash([])
        canvas.setFillColor(color(ink))
        for marker in line.markers:
            _stroke(canvas, marker, is_filled=True)
        if line.end and chart.labels_fit and len(chart.lines) > 1:
            canvas.setLineWidth(0.4)
            _stroke(canvas, (line.end.from_, (line.end.x - 3, line.end.y)))
            self._words(line.end.x, -line.end.y - 3, line.label, ink)


def _stroke(canvas: Any, shape: charts.Shape, *, is_filled: bool = False) -> None:
    path = canvas.beginPath()
    (x, y), *others = shape
    path.moveTo(x, -y)
    for x, y in others:
        path.lineTo(x, -y)
    if is_filled:
        path.close()
    canvas.drawPath(path, stroke=0 if is_filled else 1, fill=1 if is_filled else 0)
