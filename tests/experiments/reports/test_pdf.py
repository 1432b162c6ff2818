"""The PDF report: pages, bookmarks, text that can be copied, and glyphs for whatever was said."""

import io
import re
from functools import partial
from itertools import pairwise

from fontTools.ttLib import TTFont
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader
from pypdf.generic import ContentStream
from reportlab.pdfbase import pdfmetrics

from experiments.runs.reports.narrative import narrate
from experiments.runs.reports.pdf import draw, render_pdf
from experiments.runs.reports.pdf_flow import Ink, Span, break_lines
from experiments.runs.reports.pdf_fonts import Typefaces, character_map, drawable, outlines
from tests.experiments.reports.records import FILTERED, SCORES, Record, logprobs
from tests.rivals import at_once


def read(pdf):
    return PdfReader(io.BytesIO(pdf))


def text_of(reader):
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def told(record):
    return read(render_pdf(record.fetched(), "en"))


def outline_of(reader):
    return [[one.title for one in entry] if isinstance(entry, list) else entry.title for entry in reader.outline]


def test_pages_are_numbered_and_there_are_bookmarks_and_progress(alice):
    record, words = Record(alice), "Let us share. " * 60
    for turn in range(1, 10):
        record.turn(turn)
        for seat in "AB" if turn < 7 else "":
            record.reply(seat, turn, f"{words} ({turn})", text=words, filter=FILTERED)
        record.judged(turn, {"A": None if turn == 8 else SCORES})
    shares = []
    reader = read(render_pdf(record.fetched(), "en", shares.append))

    assert (shares, shares[-1]) == (sorted(shares), 1.0)
    pages = [page.extract_text() for page in reader.pages]
    assert len(pages) > 4
    for number, page in enumerate(pages, 1):
        assert f"{number} / {len(pages)}" in " ".join(page.split())
    sections = [entry for entry in outline_of(reader) if isinstance(entry, str)]
    assert sections == ["Result", "Conversation log", "Judgments", "Metrics", "Costs", "Calls", "Set-up", "Lineage"]
    [turns] = [entry for entry in outline_of(reader) if isinstance(entry, list) and "Turn 6" in entry]
    assert turns == [f"Turn {turn}" for turn in range(1, 7)]
    places = [reader.get_destination_page_number(entry) for entry in reader.outline if not isinstance(entry, list)]
    assert places == sorted(places)
    assert "Model A: Sentiment (0 to 1)" in text_of(reader)


def test_whatever_was_said_is_drawn_with_fonts_that_are_inside_and_can_be_copied(alice):
    record = Record(alice, title="星际 <b>talk</b> 🧿")
    record.reply("A", 3, "t", call={"logprobs": logprobs(0.9, 0.6, 0.2)})
    scripts = "你好，世界。数据保存在这里。日本語 한국어 Ελληνικά Русский 😀🧿🦄 → ≥ ✓ ∑ naïve"
    markup = "<para>x</para> <b>bold</b> & &amp; <font size=99> {{ 7 }} %d \\ (paren"
    record.reply("A", 1, scripts)
    record.reply("B", 1, markup)
    record.reply("A", 2, "private \ue123 and unassigned \U0003fffd, a\u200b\ufe0f\u00adb")
    record.reply("B", 2, "a\x01\x07\x1b[31mb\r\nשלום עולם\tمرحبا")
    record.reply("A", 3, "```\ncode 你\n```")

    known = set(pdfmetrics.getRegisteredFontNames())
    reader = told(record)

    text = text_of(reader)
    assert " ".join(scripts.split()) in text
    assert markup in text
    assert "private [U+E123] and unassigned [U+3FFFD], ab" in text, "no font has them"
    assert "a[31mb" in text, "controls are left out"
    assert "average confidence 56.7 %, 1 of 3 tokens below 50 %" in text
    assert "less than 50 %, solid line" in text, "tokens are more than colours"
    assert "םולש" in text or "שלום" in text
    drawn = [one for page in reader.pages for one in ContentStream(page.get_contents(), reader).operations]
    texts = [operands[0] for operands, operator in drawn if operator == b"Tj"]
    assert not any(0 in getattr(one, "original_bytes", one) for one in texts), "the box for a missing glyph"
    assert reader.metadata
    assert reader.metadata.title == "星际 <b>talk</b> 🧿"
    assert reader.trailer["/Root"]["/Lang"] == "en"
    assert [float(side) for side in reader.pages[0].mediabox[2:]] == [595.2756, 841.8898]
    assert set(pdfmetrics.getRegisteredFontNames()) <= known
    fonts = [font.get_object() for page in reader.pages for font in page["/Resources"]["/Font"].values()]
    names = {re.sub(r"^\w+\+ArenaLab-|-\w+$", "", font["/BaseFont"][1:]) for font in fonts}
    assert names == {"regular", "bold", "mono"}
    for font in fonts:
        shapes = TTFont(io.BytesIO(font["/FontDescriptor"]["/FontFile2"].get_data()))["glyf"]
        empty = [name for name in shapes.keys() if not shapes[name].numberOfContours]  # noqa: SIM118 - no dict
        assert len(empty) <= 2, font["/BaseFont"]  # the space


def test_what_is_longer_than_a_line_or_a_page_goes_on_in_order(alice):
    record = Record(alice)
    record.reply("A", 1, " ".join(f"word{n}" for n in range(1200)), text="Short.", filter=FILTERED)
    record.reply("B", 1, "x" * 3000)
    record.failure("A", 2, " ".join(f"err{n}" for n in range(1000)))

    reader = told(record)

    text = text_of(reader)
    places = [text.index(f"word{n} ") for n in range(0, 1190, 10)]
    assert all(before < after for before, after in pairwise(places))
    assert sum(map(len, re.findall("x{20,}", text))) == 3000
    ends = []
    for page in reader.pages:
        page.extract_text(visitor_text=lambda said, _cm, tm, *_font: ends.append(tm[4]) if said.strip() else None)
    assert max(ends) < 595
    assert text.count("err999") == 2  # in the log and among the calls


def test_reports_can_be_drawn_at_the_same_time(alice):
    reports = {}
    for said in ("第一个报告", "Second report"):
        record = Record(alice)
        record.reply("A", 1, said)
        reports[said] = narrate(record.fetched(), "en")

    drawn = at_once(*(partial(draw, report, "en") for report in reports.values()))

    for said, pdf in zip(reports, drawn, strict=True):
        assert said in text_of(read(pdf))


TEXTS = (
    "Plain words stand here (in brackets) - and go on, until the line is full; then they go on below.\n\n  indented",
    "这里有一段没有空格的中文，它必须在字之间换行；但是标点不能在行首。（括号也不能在行尾）好的。",
    "x" * 200,
    "mixed 中文 and English 混排 text，with punctuation。",
)


def test_lines_break_where_their_script_allows_it_none_is_too_wide_and_nothing_is_lost():
    faces = Typefaces()
    for text in TEXTS:
        faces.need("regular", text)
    with faces.cut():
        broken = [
            ["".join(piece.text for piece in line) for line in break_lines(faces, [Span(text, Ink(size=10))], 120)]
            for text in TEXTS
        ]
        for text, found in zip(TEXTS, broken, strict=True):
            assert all(faces.width("regular", 10, line.rstrip()) <= 120.01 for line in found), text
            assert "".join("".join(found).split()) == "".join(text.split()), text
    english, chinese, *_others = broken
    assert {word for line in english for word in line.split()} == set(TEXTS[0].split()), "words that fit stay whole"
    assert english[-2:] == ["", "  indented"]
    assert len(chinese) > 3
    assert not [line for line in chinese if line[0] in "，；。）" or line.endswith("（")]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=50))
def test_every_text_can_be_drawn(text):
    shown = drawable(text)

    drawn = outlines("".join(set(shown) - {"\n"}), weight=400)
    assert set(shown) - {"\n"} == drawn.keys()


def test_the_map_for_copying_knows_characters_beyond_the_first_plane():
    entries = character_map("F", [0, *range(65, 91), 0x1F9FF, *range(0x4E00, 0x4E80)])

    assert {"<01> <0041>", "<1B> <D83EDDFF>"} <= set(entries.splitlines())
    assert max(int(line.split()[0]) for line in entries.splitlines() if line.endswith("beginbfchar")) == 100
