"""Where the lines of a PDF break, what characters are drawn as, and the map by which text is copied."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.reports.pdf_fonts import Typefaces, character_map
from experiments.reports.pdf_glyphs import drawable, outlines
from experiments.reports.pdf_text import Ink, Span, break_lines
from tests.cases import each_case

INK = Ink(size=10)
TEXTS = (
    "Plain words stand here (in brackets) - and go on, until the line is full; then they go on below.\n\n  indented",
    "这里有一段没有空格的中文，它必须在字之间换行；但是标点不能在行首。（括号也不能在行尾）好的。",
    "x" * 200,
    "mixed 中文 and English 混排 text，with punctuation。",
)


@pytest.fixture(scope="module")
def faces() -> Iterator[Typefaces]:
    typefaces = Typefaces()
    for text in TEXTS:
        typefaces.need("regular", text)
    with typefaces.cut():
        yield typefaces


def lines(faces: Typefaces, text: str, width: float = 120) -> list[str]:
    return ["".join(piece.text for piece in line) for line in break_lines(faces, [Span(text, INK)], width)]


@each_case("text", TEXTS)
def test_no_line_is_wider_than_it_may_be_and_no_character_is_lost(faces: Typefaces, text: str) -> None:
    broken = lines(faces, text)

    assert all(faces.width("regular", 10, line.rstrip()) <= 120.01 for line in broken)
    assert "".join("".join(broken).split()) == "".join(text.split())


def test_chinese_punctuation_neither_begins_a_line_nor_opens_at_its_end(faces: Typefaces) -> None:
    broken = lines(faces, TEXTS[1])

    assert len(broken) > 3
    assert not [line for line in broken if line[0] in "，；。）"]
    assert not [line for line in broken if line.endswith("（")]


def test_words_are_kept_whole_where_they_fit(faces: Typefaces) -> None:
    found = {word for line in lines(faces, TEXTS[0]) for word in line.split()}

    assert found == set(TEXTS[0].split())


def test_empty_lines_and_indents_are_kept(faces: Typefaces) -> None:
    assert lines(faces, TEXTS[0])[-2:] == ["", "  indented"]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=50))
def test_every_text_can_be_drawn(text: str) -> None:
    shown = drawable(text)

    drawn = outlines("".join(set(shown) - {"\n"}), weight=400)
    assert set(shown) - {"\n"} == drawn.keys()


def test_the_map_for_copying_knows_characters_beyond_the_first_plane() -> None:
    entries = character_map("F", [0, *range(65, 91), 0x1F9FF, *range(0x4E00, 0x4E80)])

    assert "<01> <0041>" in entries
    assert "<1B> <D83EDDFF>" in entries
    assert max(int(line.split()[0]) for line in entries.splitlines() if line.endswith("beginbfchar")) == 100
