"""The PDF report: pages, bookmarks, text that can be copied, and glyphs for whatever was said."""

import io
import re
import threading
from itertools import pairwise
from typing import Any

from fontTools.ttLib import TTFont
from pypdf import PdfReader
from pypdf.generic import ContentStream, TextStringObject
from reportlab.pdfbase import pdfmetrics

from experiments.reports.narrative import narrate
from experiments.reports.pdf import draw, render_pdf
from tests.experiments.reports.records import FILTERED, SCORES, Record, logprobs, long_talk


def read(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def text_of(reader: PdfReader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def told(record: Record, language: str = "en") -> PdfReader:
    return read(render_pdf(record.fetched(), language))


def outline_of(reader: PdfReader) -> list[Any]:
    """Titles; those below another one in a list of their own."""
    return [[one.title for one in entry] if isinstance(entry, list) else entry.title for entry in reader.outline]


def fonts_of(reader: PdfReader) -> dict[str, Any]:
    return {
        name: font.get_object()
        for page in reader.pages
        for name, font in page["/Resources"]["/Font"].items()  # type: ignore[index]
    }


def shown_codes(reader: PdfReader) -> set[int]:
    """The codes of all glyphs that any page shows."""
    operations = [
        operation
        for page in reader.pages
        for operation in ContentStream(page.get_contents(), reader).operations
        if operation[1] == b"Tj"
    ]
    texts = [operands[0] for operands, _operator in operations]
    return {
        code for text in texts for code in (text.original_bytes if isinstance(text, TextStringObject) else bytes(text))
    }


def test_pages_are_numbered_and_there_are_bookmarks_and_progress(alice: Any) -> None:
    record = long_talk(alice, 6, "Let us share. " * 60)
    for turn in (7, 8, 9):
        record.judged(turn, {"A": None if turn == 8 else SCORES})
    shares: list[float] = []
    reader = read(render_pdf(record.fetched(), "en", shares.append))

    assert (shares, shares[-1]) == (sorted(shares), 1.0)
    pages = [page.extract_text() for page in reader.pages]
    assert len(pages) > 4
    for number, page in enumerate(pages, 1):
        assert f"{number} / {len(pages)}" in " ".join(page.split())
    sections = [entry for entry in outline_of(reader) if isinstance(entry, str)]
    assert sections == ["Set-up", "Conversation log", "Judgments", "Metrics", "Costs", "Calls", "Lineage", "Summary"]
    [turns] = [entry for entry in outline_of(reader) if isinstance(entry, list) and "Turn 6" in entry]
    assert turns == [f"Turn {turn}" for turn in range(1, 7)]
    places = [reader.get_destination_page_number(entry) for entry in reader.outline if not isinstance(entry, list)]
    assert places == sorted(places)
    assert "Model A: Sentiment (0 to 1)" in text_of(reader)


def test_whatever_was_said_is_drawn_and_can_be_copied(alice: Any) -> None:
    record = Record(alice, title="星际 <b>talk</b> 🧿")
    scripts = "你好，世界。数据保存在这里。日本語 한국어 Ελληνικά Русский 😀🧿🦄 → ≥ ✓ ∑ naïve"
    markup = "<para>x</para> <b>bold</b> & &amp; <font size=99> {{ 7 }} %d \\ (paren"
    record.reply("A", 1, scripts)
    record.reply("B", 1, markup)
    record.reply("A", 2, "private \ue123 and unassigned \U0003fffd, a\u200b\ufe0f\u00adb")
    record.reply("B", 2, "a\x01\x07\x1b[31mb\r\nשלום עולם\tمرحبا")

    reader = told(record)

    text = text_of(reader)
    assert " ".join(scripts.split()) in text
    assert markup in text
    assert "private [U+E123] and unassigned [U+3FFFD], ab" in text, "no font has them"
    assert "a[31mb" in text, "controls are left out"
    assert "םולש" in text or "שלום" in text
    assert 0 not in shown_codes(reader)  # the box that stands for a missing glyph
    assert reader.metadata
    assert reader.metadata.title == "星际 <b>talk</b> 🧿"
    assert reader.trailer["/Root"]["/Lang"] == "en"
    assert [float(side) for side in reader.pages[0].mediabox[2:]] == [595.2756, 841.8898]
    assert not [name for name in pdfmetrics.getRegisteredFontNames() if name.startswith("ArenaLab")]


def test_every_font_is_inside_with_a_glyph_for_each_of_its_characters(alice: Any) -> None:
    record = Record(alice)
    record.reply("A", 1, "你好 😀\n\n```\ncode 你\n```")

    fonts = fonts_of(told(record))

    assert {re.sub(r"^\w+\+ArenaLab-|-\w+$", "", font["/BaseFont"][1:]) for font in fonts.values()} == {
        "regular",
        "bold",
        "mono",
    }
    for font in fonts.values():
        embedded = font["/FontDescriptor"]["/FontFile2"].get_data()
        shapes = TTFont(io.BytesIO(embedded))["glyf"]
        empty = [name for name in shapes.keys() if not shapes[name].numberOfContours]  # noqa: SIM118 - no dict
        assert len(empty) <= 2, font["/BaseFont"]  # the space


def test_what_is_longer_than_a_line_or_a_page_goes_on_in_order(alice: Any) -> None:
    record = Record(alice)
    record.reply("A", 1, " ".join(f"word{n}" for n in range(1200)), text="Short.", filter=FILTERED)
    record.reply("B", 1, "x" * 3000)
    record.failure("A", 2, " ".join(f"err{n}" for n in range(1000)))

    reader = told(record)

    text = text_of(reader)
    places = [text.index(f"word{n} ") for n in range(0, 1190, 10)]
    assert all(before < after for before, after in pairwise(places))
    assert sum(map(len, re.findall("x{20,}", text))) == 3000
    for page in reader.pages:
        assert all(place < 595 for place in _right_ends(page))
    assert text.count("err999") == 2  # in the log and among the calls


def _right_ends(page: Any) -> list[float]:
    ends: list[float] = []
    page.extract_text(visitor_text=lambda text, _cm, tm, _font, size: ends.append(tm[4]) if text.strip() else None)
    return ends


def test_tokens_below_half_are_bold_and_underlined(alice: Any) -> None:
    record = Record(alice, "starchamber")
    record.reply("model", 1, "t", call={"logprobs": logprobs(0.9, 0.6, 0.2)})

    reader = told(record)

    assert "average confidence 56.7 %, 1 of 3 tokens below 50 %" in text_of(reader)
    assert "less than 50 %, solid line" in text_of(reader)


def test_reports_can_be_drawn_at_the_same_time(alice: Any) -> None:
    reports = []
    for said in ("第一个报告", "Second report"):
        record = Record(alice)
        record.reply("A", 1, said)
        reports.append(narrate(record.fetched(), "en"))
    drawn: dict[int, bytes] = {}
    threads = [
        threading.Thread(target=lambda place=place, one=one: drawn.update({place: draw(one, "en")}))
        for place, one in enumerate(reports)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert "第一个报告" in text_of(read(drawn[0]))
    assert "Second report" in text_of(read(drawn[1]))
