"""A board's chart of intervals as a picture for papers and pages of others: drawn once, written as SVG or PNG."""

import io
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from PIL import Image, ImageDraw, ImageFont

from experiments.runs import figures
from experiments.runs.reports.pdf_fonts import CJK, SIMPLIFIED_CHINESE, WEIGHTS, drawable
from leaderboard.pages.charts import Intervals, Mark

Ink = Literal["paper", "text", "muted", "line", "mark"]
Anchor = Literal["start", "middle", "end"]

WIDTH, ROW, HEAD, FOOT, EDGE = 800.0, 26.0, 78.0, 34.0, 24.0
PLOT_LEFT, PLOT_RIGHT = 262.0, 600.0
NAME_LENGTH, TITLE_LENGTH, LINE_LENGTH = 26, 76, 112  # characters, wide ones twice
SCALE = 2  # pixels of a PNG per unit
PNG_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
THEMES: Mapping[str, Mapping[Ink, str]] = {
    "light": {"paper": "#ffffff", "text": "#1f2328", "muted": "#59636e", "line": "#d1d9e0", "mark": "#0550ae"},
    "dark": {"paper": "#0d1117", "text": "#f0f6fc", "muted": "#9da7b2", "line": "#3d444d", "mark": "#79c0ff"},
}


@dataclass(frozen=True, slots=True)
class Stroke:
    places: tuple[tuple[float, float], ...]
    ink: Ink
    width: float


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    radius: float = 4.0


@dataclass(frozen=True, slots=True)
class Words:
    """y: the line that the letters stand on."""

    x: float
    y: float
    text: str
    ink: Ink = "text"
    size: int = 13
    is_bold: bool = False
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing of width x height with y downwards, in the inks of a theme."""

    height: float
    parts: tuple[Stroke | Dot | Words, ...]
    inks: Mapping[Ink, str]
    title: str
    width: float = WIDTH


def picture(chart: Intervals | None, *, title: str, subtitle: str, foot: str, theme: str) -> Picture:
    """Without a chart it says that there are no ratings."""
    height = HEAD + ROW * (len(chart.marks) if chart else 1) + FOOT
    parts: list[Stroke | Dot | Words] = [
        Words(EDGE, 30, fitted(title, TITLE_LENGTH), size=17, is_bold=True),
        Words(EDGE, 50, fitted(subtitle, LINE_LENGTH), "muted", 12),
        Words(EDGE, height - 14, fitted(foot, LINE_LENGTH), "muted", 11),
    ]
    if chart is None:
        parts.append(Words(EDGE, HEAD + ROW / 2, _("no ratings yet"), "muted"))
    for at, rating in chart.axis.ticks if chart else ():
        parts.append(Stroke(((_x(at), HEAD), (_x(at), height - FOOT)), "line", 1))
        parts.append(Words(_x(at), HEAD - 6, f"{rating}", "muted", 11, anchor="middle"))
    for number, mark in enumerate(chart.marks if chart else ()):
        parts += _line(mark, HEAD + ROW * (number + 0.5))
    return Picture(height, tuple(parts), THEMES.get(theme, THEMES["light"]), title)


def _line(mark: Mark, y: float) -> Iterator[Stroke | Dot | Words]:
    """Rank, name, interval and figures of one contestant."""
    row = mark.row
    ink: Ink = "muted" if row.rank is None else "mark"
    yield Words(EDGE + 36, y + 5, figures.rank_range(row), "muted", 12, anchor="end")
    yield Words(EDGE + 48, y + 5, fitted(row.shown, NAME_LENGTH))
    yield Stroke(((_x(mark.low), y), (_x(mark.high), y)), ink, 2)
    for x, is_open, inwards in ((_x(mark.low), mark.is_low_open, 6), (_x(mark.high), mark.is_high_open, -6)):
        head = ((x + inwards, y - 5), (x, y), (x + inwards, y + 5)) if is_open else ((x, y - 5), (x, y + 5))
        yield Stroke(head, ink, 2)
    if mark.at is not None:
        yield Dot(_x(mark.at), y)
    yield Words(PLOT_RIGHT + 62, y + 5, figures.rating_or_bound(row), is_bold=True, anchor="end")
    yield Words(PLOT_RIGHT + 72, y + 5, figures.bounds(row), "muted", 12)


def _x(share: float) -> float:
    return round(PLOT_LEFT + share / 100 * (PLOT_RIGHT - PLOT_LEFT), 2)


def fitted(text: str, most: int) -> str:
    """As much of a text as has room; Chinese characters are as wide as two letters."""
    room = 0
    for place, character in enumerate(text):
        room += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room > most:
            return f"{text[: place - 1]}…"
    return text


def as_svg(drawn: Picture) -> SafeString:
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
        'font-family="system-ui, \'Noto Sans\', \'Noto Sans CJK SC\', sans-serif"><title>{title}</title>'
        '<rect width="100%" height="100%" fill="{paper}"/>{parts}</svg>',
        w=f"{drawn.width:g}", h=f"{drawn.height:g}", title=drawn.title, paper=drawn.inks["paper"],
        parts=format_html_join("", "{}", ((_svg_of(part, drawn.inks),) for part in drawn.parts)),
    )  # fmt: skip


def _svg_of(part: Stroke | Dot | Words, inks: Mapping[Ink, str]) -> SafeString:
    if isinstance(part, Stroke):
        places = mark_safe(" ".join(f"{x:g},{y:g}" for x, y in part.places))  # noqa: S308 - numbers
        form = '<polyline points="{}" fill="none" stroke="{}" stroke-width="{}"/>'
        return format_html(form, places, inks[part.ink], f"{part.width:g}")
    if isinstance(part, Dot):
        form = '<circle cx="{}" cy="{}" r="{}" fill="{}"/>'
        return format_html(form, f"{part.x:g}", f"{part.y:g}", f"{part.radius:g}", inks["mark"])
    return format_html(
        '<text x="{}" y="{}" fill="{}" font-size="{}" font-weight="{}" text-anchor="{}">{}</text>',
        f"{part.x:g}", f"{part.y:g}", inks[part.ink], part.size, 600 if part.is_bold else 400, part.anchor, part.text,
    )  # fmt: skip


def as_png(drawn: Picture) -> bytes:
    image = Image.new("RGB", (round(drawn.width * SCALE), round(drawn.height * SCALE)), drawn.inks["paper"])
    pen = ImageDraw.Draw(image)
    for part in drawn.parts:
        if isinstance(part, Stroke):
            places = [(x * SCALE, y * SCALE) for x, y in part.places]
            pen.line(places, drawn.inks[part.ink], round(part.width * SCALE), joint="curve")
        elif isinstance(part, Dot):
            pen.circle((part.x * SCALE, part.y * SCALE), part.radius * SCALE, drawn.inks["mark"])
        else:
            font, place = _font(part.size * SCALE, part.is_bold), (part.x * SCALE, part.y * SCALE)
            pen.text(place, drawable(part.text), drawn.inks[part.ink], font, anchor=PNG_ANCHORS[part.anchor])
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


@lru_cache(maxsize=16)
def _font(size: int, is_bold: bool) -> ImageFont.FreeTypeFont:
    """The font with Latin and Chinese letters that reports use, too."""
    font = ImageFont.truetype(CJK, size, index=SIMPLIFIED_CHINESE)
    font.set_variation_by_axes([WEIGHTS["bold" if is_bold else "regular"]])
    return font
