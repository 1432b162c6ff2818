"""HTML, Markdown and PDF reports tell a run as its record has it; what models say passes for no part of them."""

import io
import re
from functools import partial
from itertools import pairwise

import pytest
from fontTools.ttLib import TTFont
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pypdf import PdfReader
from pypdf.generic import ContentStream
from reportlab.pdfbase import pdfmetrics

from experiments.runs.reports.markdown import fenced, inline, quoted, render_markdown
from experiments.runs.reports.narrative import narrate
from experiments.runs.reports.pdf import draw, render_pdf
from experiments.runs.reports.pdf_flow import Ink, Span, break_lines
from experiments.runs.reports.pdf_fonts import Typefaces, character_map, drawable, outlines
from tests.experiments.reports.deliberations import council, debate
from tests.experiments.reports.documents import section, told, words
from tests.experiments.reports.records import FILTERED, SCORES, Record, logprobs
from tests.markup import Page
from tests.rivals import at_once


def test_it_tells_what_the_run_was_configured_with(alice):
    prompts = {"A": "Keep all the panels.", "B": "Share the panels."}
    limits = {"tokens": 50_000, "seconds": 90}
    record = Record(alice, config={"prompting": "individual", "prompts": prompts, "first": "B", "limits": limits})

    setup = section(told(record), "setup")

    for said in ("Model A Keep all the panels.", "Share the panels.", "Begins Model B", "50,000 tokens, 90 seconds"):
        assert said in setup


def test_failures_are_told_as_failures_and_not_as_messages(alice):
    record = Record(alice, state="failed", stop_reason="overloaded", error="Model B gave no answer in turn 1.")
    record.turn(1)
    record.reply("A", 1, "Hello.")
    record.deed("friend", "B", 1, question="And me?", text="", missed="The friend gave no answer: it was busy.")
    record.failure("B", 1, "Asking lab/b gave HTTP 503.")
    record.failure("judge", 1, "The worker that made this call was killed.", state="lost", error_kind="lost")

    html = told(record)

    log = section(html, "log")
    for line in (
        *("The friend gave no answer: it was busy.", "Model B: No answer arrived", "Judge: The call was lost"),
        *("provider overloaded: Asking lab/b gave HTTP 503.", "The run failed: provider overloaded"),
    ):
        assert line in log
    assert "completed" not in log.replace("Turns completed", "")
    assert "Messages 1" in section(html, "result")


def test_a_stopped_demonstration_and_what_is_special_about_its_messages_are_told(alice):
    run = {"state": "stopped", "stop_reason": "manual_stop", "origin": "demonstration"}
    record = Record(alice, "starchamber", {"context": " "}, **run)
    record.reply("model", 1, "First.", superseded=True)
    record.reply("model", 1, "Cut", finish_reason="length", flags=["repeats_itself"])
    record.reply("model", 2, "I cannot.", finish_reason="content_filter")

    html = told(record)

    log = section(html, "log")
    for mark in ("superseded", "cut off at the token limit", "repeats itself", "refused", "The run was stopped"):
        assert mark in log
    assert "Preset technical-expert" in section(html, "setup")
    assert "the model got no system message" in section(html, "setup"), "of a blank context"
    assert "it was written, not played by models" in words(html)


def test_a_report_before_or_during_a_run_says_so(alice):
    before = Record(alice, config={"max_turns": None}, state="queued", started=None, ended=None, stop_reason="")
    during = Record(alice, state="running", ended=None, stop_reason="", overrides={"max_turns": 9})
    during.turn(1)
    during.reply("A", 1, "Hello.")
    step = during.step("turn/1/B", "ask", purpose="reply", seat="B", turn=1, state="open")
    during.call(step, state="sent", finish_reason="", cost=None, output_tokens=None, input_tokens=None)

    first, second = words(told(before)), words(told(during))
    for line in ("Max turns unlimited", "Duration unknown", "This run has no messages.", "made (queued)"):
        assert line in first
    for line in ("made (running)", "max_turns: 5 → 9", "Model B: In progress", "State running"):
        assert line in second


def test_tokens_are_told_with_bands_that_are_more_than_colours_and_many_are_cut(alice):
    record = Record(alice, "starchamber")
    record.reply("model", 1, "t0 t1 t2", call={"logprobs": logprobs(0.9, 0.8, 0.5, 0.25, 0.0)})
    record.reply("model", 2, "t", call={"logprobs": logprobs(*[1.0] * 300, *[0.5] * 300)})

    html = told(record)

    assert "average confidence 49 %, 2 of 5 tokens below 50 %" in words(html)
    assert '<span class="high" title="90 %"> t0</span><span class="middle" title="80 %"> t1</span>' in html
    assert '<span class="middle" title="50 %"> t2</span><span class="low" title="25 %"> t3</span>' in html
    assert "less than 50 %, solid line" in html
    assert "average confidence 75 %" in words(html), "all count"
    assert "… and 300 tokens more" in html


def test_the_metrics_take_the_latest_judgment_of_a_turn_and_the_strongest_emotion_of_all_turns(alice):
    record = Record(alice)
    record.judged(1, {"A": {**SCORES, "goal_deviation": 80.0}, "B": dict.fromkeys(SCORES, 0.0)})
    record.judged(1, {"A": {**SCORES, "goal_deviation": 10.0, "fear": 0.9}, "B": dict.fromkeys(SCORES, 0.0)})

    html = told(record)

    assert "80" in section(html, "judgments")
    lines = ("Goal deviation, average 10 %", "Turns to deviate N/A", "Dominant emotion fear", "Dominant emotion none")
    for line in lines:
        assert line in section(html, "metrics")


NASTY = "<script>alert(1)</script></style><img src=http://evil.example/x.png onerror=alert(2)>"
MARKDOWN = "![x](http://evil.example/a.png) [link](https://good.example/) [bad](javascript:alert(1)) <b>bold</b>"
FETCHING = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping", "xlink:href", "manifest"}


def test_nothing_that_was_written_becomes_a_tag_and_nothing_is_fetched_from_anywhere(alice):
    record = Record(alice, config={"prompt": NASTY}, title=NASTY, state="failed", error=NASTY)
    token = [{"token": NASTY, "logprob": -0.1}]
    record.reply("A", 1, NASTY + MARKDOWN, text=MARKDOWN, reasoning=NASTY, call={"logprobs": token})
    record.deed("note", "A", 1, text=NASTY)
    record.judged(1, {"A": SCORES}, rationale=NASTY)

    html = told(record)

    tags = [(one.tag, one.attrib) for one in Page(html).root.iter()]
    for tag, attributes in tags:
        assert tag not in {"script", "img", "b", "iframe", "object", "embed", "form", "base", "link"}
        assert not FETCHING & {*attributes}, tag
        assert not any(name.startswith("on") for name in attributes), tag
    links = [a for tag, a in tags if tag == "a" and not (a.get("href") or "").startswith("#")]
    assert {a.get("href") for a in links} == {"https://good.example/", "http://evil.example/a.png"}, "no image"
    assert {a.get("rel") for a in links} == {"noopener noreferrer nofollow"}
    policies = [a["content"] for _tag, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    ids = [a["id"] for _tag, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    [style] = re.findall(r"(?s)<style>(.*?)</style>", html)
    assert not re.search(r"url\(|@import|http", style)


parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FORBIDDEN = {"heading_open", "html_block", "html_inline", "image"}
FORGED = """Fine.

# Conclusion of the report

The ranking
===========

## Costs
---

> # Nested

1. # In a list

<h1>Costs</h1> ![x](http://tracker.example/p.png) [run](javascript:alert(1))
"""
MARKS = (
    "#§# a§===§---§\n§\n\n§> §- §1. §```§~~~§`§<h1>§</blockquote>§<!--§![x](y)§[a]: http://b§[!NOTE]§    §\t§\r§\\§|"
)
pieces = st.sampled_from([*MARKS.split("§"), "\u2028", "\x85", "\x0b", "javascript:"])
texts = st.lists(pieces, max_size=14).map("".join)


def kinds(markdown):
    return [one.type for token in parser.parse(markdown) for one in (token, *(token.children or []))]


def headings(markdown):
    tokens = parser.parse(markdown)
    return [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]


@given(texts)
@example(FORGED)
@example("a\n===")
@example("```\n# no heading\n```\n# heading")
def test_a_quotation_holds_no_heading_no_html_and_no_picture_and_does_not_end_early(text):
    tokens = parser.parse("\n".join(["before", "", *quoted(text), "", "after"]))

    outside = [token.type for token in tokens if token.level == 0 and token.type != "inline"]
    paragraph = ["paragraph_open", "paragraph_close"]
    inner = [["blockquote_open", "blockquote_close"], ["fence"]]
    assert outside in [[*paragraph, *middle, *paragraph] for middle in inner]
    assert not FORBIDDEN & {one.type for token in tokens for one in (token, *(token.children or []))}


@given(texts | st.text(max_size=60))
def test_a_line_of_the_report_shows_the_words_as_they_are(text):
    line = inline(text)

    tokens = parser.parse(f"- **x**: {line}")
    assert "\n" not in line
    assert not FORBIDDEN & set(kinds(f"{line}\n"))
    [content] = [token for token in tokens if token.type == "inline"]
    shown = "".join(child.content for child in content.children or [] if child.type == "text")
    seen = re.sub("[\x00-\x08\x0e-\x1f\x7f]", "", " ".join(text.split()))
    assert shown.replace("\ufffd", "") == f"x: {seen}".replace("\ufffd", "").rstrip(" ")


@given(st.text(max_size=80) | texts)
def test_a_fence_is_closed_by_itself_alone(text):
    tokens = parser.parse("\n".join([*fenced(text), "after"]))

    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


def test_what_is_harmless_is_quoted_and_what_is_not_is_fenced():
    assert quoted("**Yes**\n\n- one") == ["> **Yes**", ">", "> - one"]
    assert quoted("# Title\ntext") == ["> \\# Title", "> text"]
    assert quoted("a <b>c</b>")[0] == "```text"
    assert quoted("[x](javascript:alert(1))")[0] == "```text"
    assert quoted("* a " * 10_000)[0] == "```text"


@pytest.mark.parametrize("make", [council, debate])
def test_a_reports_headings_are_its_own_whatever_was_said(alice, make):
    record = make(alice)
    before = headings(render_markdown(record.fetched(), "en"))

    record.run.messages.update(raw_text=FORGED, reasoning=FORGED, model="# model\n## Costs")
    record.run.ballots.update(abstained_reason=FORGED)
    record.run.experiment.__class__.objects.update(title="A title\n# Costs")
    after = render_markdown(record.fetched(), "en")

    assert headings(after)[1:] == before[1:]
    assert headings(after)[0] == "A title # Costs".replace("#", "\\#")
    assert not {"html_block", "html_inline", "image"} & set(kinds(after))


def read_pdf(pdf):
    return PdfReader(io.BytesIO(pdf))


def text_of(reader):
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def pdf_of(record):
    return read_pdf(render_pdf(record.fetched(), "en"))


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
    reader = read_pdf(render_pdf(record.fetched(), "en", shares.append))

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
    reader = pdf_of(record)

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

    reader = pdf_of(record)

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
        assert said in text_of(read_pdf(pdf))


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
