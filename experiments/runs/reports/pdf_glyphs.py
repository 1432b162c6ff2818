"""Where the glyphs of a PDF come from: open fonts that Python packages bring, so that no machine needs its own."""

import logging
import threading
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import fontpkg_jetbrains_mono
import manimgx_fonts
import manimgx_fonts_cjk
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.filterPen import DecomposingFilterPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

UNITS = 1000  # per em, of every glyph that is drawn here
ROUNDING = 0.5  # units by which a curve may differ from its original
SIMPLIFIED_CHINESE = 2  # which of the five fonts in the collection
TAB = "    "

_NOTO = Path(manimgx_fonts.__path__[0])
_CJK = Path(manimgx_fonts_cjk.__path__[0]) / "NotoSansCJK-VF.otf.ttc"
_MONO = Path(fontpkg_jetbrains_mono.__path__[0]) / "files" / "JetBrainsMono[wght].ttf"
_FIRST = ("NotoSans[wght].ttf",)
_THEN = ("NotoSansSymbols[wght].ttf",)
_LAST = ("NotoEmoji[wght].ttf",)
_files = threading.Lock()  # fonts are read piece by piece, from files that all threads share

logging.getLogger("fontTools").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Source:
    """A font file with the characters it has. glyphs: of each weight that was asked for."""

    font: Any
    characters: dict[int, str]

    def glyphs(self, weight: int) -> Any:
        return _glyphs(self.font, weight)


@dataclass(frozen=True, slots=True)
class Outline:
    """A drawn glyph and its width, in UNITS."""

    glyph: Any
    width: int


@cache
def _glyphs(font: Any, weight: int) -> Any:
    return font.getGlyphSet(location={"wght": weight})


@cache
def _sources(is_mono: bool) -> tuple[Source, ...]:
    others = sorted(path.name for path in _NOTO.glob("NotoSans*.ttf") if "Italic" not in path.name)
    scripts = [name for name in others if name not in {*_FIRST, *_THEN}]
    files = [
        *([(_MONO, -1)] if is_mono else []),
        *((_NOTO / name, -1) for name in (*_FIRST, *_THEN)),
        (_CJK, SIMPLIFIED_CHINESE),
        *((_NOTO / name, -1) for name in (*_LAST, *scripts)),
    ]
    return tuple(_source(path, number) for path, number in files)


@cache
def _source(path: Path, number: int) -> Source:
    font = TTFont(str(path), fontNumber=number, lazy=True)
    return Source(font, font.getBestCmap())


@cache
def _covered() -> frozenset[int]:
    with _files:
        return frozenset(code for source in _sources(False) for code in source.characters)


def outlines(characters: str, *, weight: int, is_mono: bool = False) -> dict[str, Outline]:
    """Each character that some font has, drawn by the first one that has it."""
    with _files:
        found = [(character, _first(ord(character), is_mono)) for character in characters]
        return {
            character: _draw(source, source.characters[ord(character)], weight) for character, source in found if source
        }


def _first(code: int, is_mono: bool) -> Source | None:
    return next((source for source in _sources(is_mono) if code in source.characters), None)


def missing_glyph() -> Outline:
    """An empty box, as every font must have one. No text uses it: see `drawable`."""
    pen = TTGlyphPen(None)
    for corners in (((60, 0), (60, 700), (440, 700), (440, 0)), ((100, 40), (400, 40), (400, 660), (100, 660))):
        pen.moveTo(corners[0])
        for corner in corners[1:]:
            pen.lineTo(corner)
        pen.closePath()
    return Outline(pen.glyph(), 500)


def _draw(source: Source, name: str, weight: int) -> Outline:
    glyphs = source.glyphs(weight)
    scale = UNITS / source.font["head"].unitsPerEm
    pen = TTGlyphPen(None)
    quadratic = Cu2QuPen(pen, ROUNDING, reverse_direction="CFF2" in source.font)
    glyphs[name].draw(DecomposingFilterPen(TransformPen(quadratic, (scale, 0, 0, scale, 0, 0)), glyphs))
    return Outline(pen.glyph(), round(glyphs[name].width * scale))


class _Drawable(dict[int, str]):
    """What each character is drawn as, found out once."""

    def __missing__(self, code: int) -> str:
        self[code] = drawn = _drawn_as(chr(code))
        return drawn


def _drawn_as(character: str) -> str:
    if character == "\n":
        return "\n"
    if character == "\t":
        return TAB
    category = unicodedata.category(character)
    if category in {"Cc", "Cf"} or unicodedata.name(character, "").startswith("VARIATION SELECTOR"):
        return ""
    if category in {"Zl", "Zp"}:
        return "\n"
    if category == "Zs":
        return " "
    return character if ord(character) in _covered() else f"[U+{ord(character):04X}]"


_drawable = _Drawable()


def drawable(text: str) -> str:
    """The text as it can be drawn: no controls, and for a character that no font has its number, never an empty box."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", lines).translate(_drawable)
