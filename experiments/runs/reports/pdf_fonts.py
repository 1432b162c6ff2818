"""The typefaces of one PDF: three fonts, each made of just the characters that the document uses in it."""

import io
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from fontTools.fontBuilder import FontBuilder
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import SUBSETN, TTFont

from experiments.runs.reports.pdf_glyphs import UNITS, Outline, drawable, missing_glyph, outlines

Style = Literal["regular", "bold", "mono"]
WEIGHTS: dict[Style, int] = {"regular": 400, "bold": 650, "mono": 400}
ASCENT, DESCENT = 1069, -293
ALWAYS = "".join(map(chr, range(32, 127)))
MOST_AT_ONCE = 100  # entries of a character map in one block, by the PDF standard


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
            for style in WEIGHTS:
                self._cut(style, f"ArenaLab-{style}-{mark}")
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

    def _cut(self, style: Style, name: str) -> None:
        characters = "".join(sorted(self._needed[style] - {"\n"}))
        drawn = outlines(characters, weight=WEIGHTS[style], is_mono=style == "mono")
        self._widths[style] = {character: outline.width / UNITS for character, outline in drawn.items()}
        pdfmetrics.registerFont(_Embedded(name, _font_file(name, drawn)))
        self._names[style] = name


def _font_file(name: str, drawn: dict[str, Outline]) -> io.BytesIO:
    """A TrueType file of these glyphs."""
    glyphs = {".notdef": missing_glyph(), **{f"u{ord(character):04X}": one for character, one in drawn.items()}}
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
