"""The Markdown report: it reads as the others do, and nothing that a model says passes for a part of it."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from experiments.runs.reports.markdown import fenced, inline, quoted, render_markdown
from tests.experiments.reports.deliberations import council, debate

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
