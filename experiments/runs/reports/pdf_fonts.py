"""The typefaces of one PDF: three fonts, each made of just the characters that the document uses in it.

Their glyphs come from open fonts that Python packages bring, so that no machine needs its own: of each character from
the first font that has it. So one font has every script, and no text needs a fallback.
"""

import io
import logging
import threading
import unicodedata
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import fontpkg_jetbrains_mono
import manimgx_fonts
import manimgx_fonts_cjk
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.filterPen import DecomposingFilterPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont as FontFile
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import SUBSETN, TTFont

Style = Literal["regular", "bold", "mono"]
WEIGHTS: dict[Style, int] = {"regular": 400, "bold": 650, "mono": 400}
UNITS = 1000  # per em, of every glyph that is drawn here
ASCENT, DESCENT = 1069, -293
ROUNDING = 0.5  # units by which a curve may differ from its original
ALWAYS = "".join(map(chr, range(32, 127)))
MOST_KEPT = 8192  # glyphs, of some kilobytes each, that are not drawn again for the next document
MOST_AT_ONCE = 100  # entries of a character map in one block, by the PDF standard
SIMPLIFIED_CHINESE = 2  # which of the five fonts in the collection

_NOTO = Path(manimgx_fonts.__path__[0])
CJK = Path(manimgx_fonts_cjk.__path__[0]) / "NotoSansCJK-VF.otf.ttc"
_MONO = Path(fontpkg_jetbrains_mono.__path__[0]) / "files" / "JetBrainsMono[wght].ttf"
_files = threading.Lock()  # fonts are read piece by piece, from files that all threads share

logging.getLogger("fontTools").setLevel(logging.ERROR)


class Outline(NamedTuple):
    """A drawn glyph and its width, in UNITS."""

    glyph: Any
    width: int


class Typefaces:
    """Used in two steps: `need` collects what will be drawn, `cut` makes the fonts; only then widths are known."""

    def __init__(self) -> None:
        self._needed: dict[Style, set[str]] = {style: set(ALWAYS) for style in WEIGHTS}
        self._widths: dict[Style, dict[str, float]] = {}
        self._names: dict[Style, str] = {}

    def need(self, style: Style, text: str) -> str:
        """The text as it can be drawn; its characters will be in the font."""
        shown = drawable(text)
        self._needed[style].update(shown)
        return shown

    @contextmanager
    def cut(self) -> Iterator[None]:
        """The fonts exist inside the context: ReportLab knows fonts by name, for the whole process."""
        mark = uuid.uuid4().hex[:8]
        try:
            for style, weight in WEIGHTS.items():
                name = f"ArenaLab-{style}-{mark}"
                characters = "".join(sorted(self._needed[style] - {"\n"}))
                drawn = outlines(characters, weight=weight, is_mono=style == "mono")
                self._widths[style] = {character: outline.width / UNITS for character, outline in drawn.items()}
                pdfmetrics.registerFont(_Embedded(name, _font_file(name, drawn)))
                self._names[style] = name
            yield
        finally:
            for name in self._names.values():
                pdfmetrics._fonts.pop(name, None)

    def name(self, style: Style) -> str:
        """ReportLab's name of the font."""
        return self._names[style]

    def width(self, style: Style, size: float, text: str) -> float:
        """In points. Every character has to be one that was needed."""
        widths = self._widths[style]
        return sum([widths[character] for character in text]) * size

    def widths(self, style: Style) -> dict[str, float]:
        """Of each character, in ems."""
        return self._widths[style]


def _font_file(name: str, drawn: dict[str, Outline]) -> io.BytesIO:
    """A TrueType file of these glyphs. No text uses `.notdef`, which every font must have: see `drawable`."""
    missing = Outline(TTGlyphPen(None).glyph(), 500)
    glyphs = {".notdef": missing, **{f"u{ord(character):04X}": one for character, one in drawn.items()}}
    builder = FontBuilder(UNITS, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({ord(character): f"u{ord(character):04X}" for character in drawn})
    builder.setupGlyf({key: one.glyph for key, one in glyphs.items()})
    table: Any = builder.font["glyf"]
    builder.setupHorizontalMetrics({key: (one.width, getattr(table[key], "xMin", 0)) for key, one in glyphs.items()})
    builder.setupHorizontalHeader(ascent=ASCENT, descent=DESCENT)
    builder.setupNameTable({"familyName": name, "styleName": "Regular", "psName": name, "fullName": name})
    builder.setupOS2(sTypoAscender=ASCENT, sTypoDescender=DESCENT, usWinAscent=ASCENT, usWinDescent=-DESCENT, fsType=0)
    builder.setupPost(keepGlyphNames=False)
    file = io.BytesIO()
    builder.save(file)
    file.seek(0)
    return file


class _Embedded(TTFont):  # type: ignore[misc]  # reportlab has no types
    """A font whose text can be copied out of the PDF, also beyond U+FFFF, which ReportLab's own map gets wrong."""

    def addObjects(self, doc: Any) -> None:  # noqa: N802 - ReportLab's name
        subsets = [list(subset) for subset in self.state[doc].subsets]
        super().addObjects(doc)
        for number, subset in enumerate(subsets):
            name = (b"".join((SUBSETN(number), b"+", self.face.name, self.face.subfontNameX))).decode("ascii")
            doc.idToObject[f"toUnicodeCMap:{name}"].content = character_map(name, subset)


def character_map(name: str, codes: Sequence[int]) -> str:
    """The ToUnicode map of a font: its codes, 0 to 255, to characters in UTF-16."""
    entries = [
        f"<{place:02X}> <{chr(code).encode('utf-16-be', 'surrogatepass').hex().upper()}>"
        for place, code in enumerate(codes)
        if code
    ]
    blocks = [entries[first : first + MOST_AT_ONCE] for first in range(0, len(entries), MOST_AT_ONCE)]
    body = "".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar\n" for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        f"/CIDSystemInfo << /Registry ({name}) /Ordering ({name}) /Supplement 0 >> def\n"
        f"/CMapName /{name} def\n/CMapType 2 def\n"
        "1 begincodespacerange\n<00> <FF>\nendcodespacerange\n"
        f"{body}endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"
    )


# --- glyphs ---


@cache
def _sources(is_mono: bool) -> tuple[tuple[Any, dict[int, str]], ...]:
    """Fonts in the order in which they are asked, each with the names of the glyphs of its characters."""
    first, last = ("NotoSans[wght].ttf", "NotoSansSymbols[wght].ttf"), "NotoEmoji[wght].ttf"
    others = sorted(path.name for path in _NOTO.glob("NotoSans*.ttf") if "Italic" not in path.name)
    scripts = [name for name in others if name not in first]
    paths = [
        *([_MONO] if is_mono else []),
        *(_NOTO / name for name in first),
        CJK,
        *(_NOTO / name for name in (last, *scripts)),
    ]
    return tuple(_source(path) for path in paths)


@cache
def _source(path: Path) -> tuple[Any, dict[int, str]]:
    font = FontFile(str(path), fontNumber=SIMPLIFIED_CHINESE if path == CJK else -1, lazy=True)
    return font, font.getBestCmap()


@cache
def _glyphs(font: Any, weight: int) -> Any:
    return font.getGlyphSet(location={"wght": weight})


@cache
def _covered() -> frozenset[int]:
    with _files:
        return frozenset(code for _font, names in _sources(False) for code in names)


def outlines(characters: str, *, weight: int, is_mono: bool = False) -> dict[str, Outline]:
    """Each character that some font has, drawn by the first one that has it."""
    drawn = {}
    with _files:
        for character in characters:
            code = ord(character)
            if source := next(((font, names[code]) for font, names in _sources(is_mono) if code in names), None):
                drawn[character] = _draw(*source, weight)
    return drawn


@lru_cache(maxsize=MOST_KEPT)
def _draw(font: Any, name: str, weight: int) -> Outline:
    glyphs = _glyphs(font, weight)
    scale = UNITS / font["head"].unitsPerEm
    pen = TTGlyphPen(None)
    quadratic = Cu2QuPen(pen, ROUNDING, reverse_direction="CFF2" in font)
    glyphs[name].draw(DecomposingFilterPen(TransformPen(quadratic, (scale, 0, 0, scale, 0, 0)), glyphs))
    return Outline(pen.glyph(), round(glyphs[name].width * scale))


class _Drawable(dict[int, str]):
    """What each character is drawn as, found out once."""

    def __missing__(self, code: int) -> str:
        self[code] = drawn = self._drawn_as(chr(code))
        return drawn

    @staticmethod
    def _drawn_as(character: str) -> str:
        if character in "\n\t":
            return {"\n": "\n", "\t": "    "}[character]
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
