"""Text on paper: where lines break, in every script, and what stands in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from reportlab.lib.colors import Color, HexColor

from experiments.runs.reports.pdf_fonts import Style, Typefaces

Underline = Literal["", "dotted", "solid"]

OPENING = "（［｛《〈「『【〔〖“‘"
CLOSING = "、。，．：；！？）］｝》〉」』】〕〗”’…—％"
WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U0001f000-\U0001faff\U00020000-\U0003ffff"
TOKENS = re.compile(f"\n| +|[{OPENING}]*[{WIDE}][{CLOSING}]*|[^ \n{WIDE}]+")
RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
RIGHT_TO_LEFT = re.compile(f"[{RTL}](?:[{RTL} ]*[{RTL}])?")


@dataclass(frozen=True, slots=True)
class Ink:
    """How words look. color: #rrggbb."""

    style: Style = "regular"
    size: float = 9.0
    color: str = "#1f2328"
    underline: Underline = ""


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    ink: Ink


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of one ink at x points from the left of their line."""

    x: float
    width: float
    text: str
    ink: Ink


Line = tuple[Piece, ...]


@cache
def color(hexadecimal: str) -> Color:
    return HexColor(hexadecimal)


def break_lines(faces: Typefaces, spans: Sequence[Span], width: float) -> list[Line]:
    """The spans in lines of at most `width` points. Breaks are at spaces, between Chinese, Japanese and Korean
    characters, and inside a word only where the word alone is longer than a line.
    """
    setter = _Setter(faces, width)
    for span in spans:
        for token in TOKENS.findall(span.text):
            setter.add(token, span.ink)
    return setter.done()


class _Setter:
    """Fills lines with tokens."""

    def __init__(self, faces: Typefaces, width: float) -> None:
        self._faces, self._width = faces, width
        self._lines: list[Line] = []
        self._parts: list[tuple[str, Ink, float]] = []
        self._x = 0.0
        self._is_wrapped = False

    def add(self, token: str, ink: Ink) -> None:
        if token.startswith("\n"):
            self._end(is_wrapped=False)
            return
        width = self._faces.width(ink.style, ink.size, token)
        if token[0] == " ":
            if self._parts or not self._is_wrapped:
                self._put(token, ink, min(width, max(0.0, self._width - self._x)))
            return
        if self._x + width > self._width and self._parts:
            self._end(is_wrapped=True)
        if width > self._width:
            self._cut(token, ink)
        else:
            self._put(token, ink, width)

    def done(self) -> list[Line]:
        if self._parts or not self._lines:
            self._end(is_wrapped=False)
        return self._lines

    def _cut(self, word: str, ink: Ink) -> None:
        """A word longer than a line fills lines."""
        widths = self._faces.widths(ink.style)
        start, length = 0, 0.0
        for place, character in enumerate(word):
            step = widths[character] * ink.size
            if length + step > self._width and place > start:
                self._put(word[start:place], ink, length)
                self._end(is_wrapped=True)
                start, length = place, 0.0
            length += step
        self._put(word[start:], ink, length)

    def _put(self, text: str, ink: Ink, width: float) -> None:
        self._parts.append((text, ink, width))
        self._x += width

    def _end(self, *, is_wrapped: bool) -> None:
        self._lines.append(tuple(_pieces(self._parts)))
        self._parts, self._x, self._is_wrapped = [], 0.0, is_wrapped


def _pieces(parts: Sequence[tuple[str, Ink, float]]) -> Iterator[Piece]:
    """Neighbours of one ink become one piece."""
    x = start = 0.0
    words: list[str] = []
    before: Ink | None = None
    for text, ink, width in parts:
        if before is not None and ink is not before and ink != before:
            yield Piece(start, x - start, _as_seen("".join(words)), before)
            words, start = [], x
        words.append(text)
        before = ink
        x += width
    if before is not None:
        yield Piece(start, x - start, _as_seen("".join(words)), before)


def _as_seen(text: str) -> str:
    """Stretches of Hebrew and Arabic from right to left. Their letters are not joined: that takes a shaping engine."""
    return RIGHT_TO_LEFT.sub(lambda found: found[0][::-1], text)
