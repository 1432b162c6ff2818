"""The HTML and Markdown reports tell a run as its record has it; what models say passes for no part of them."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from experiments.runs.reports.markdown import fenced, inline, quoted, render_markdown
from tests.experiments.reports.deliberations import council, debate
from tests.experiments.reports.documents import section, told, words
from tests.experiments.reports.records import SCORES, Record, logprobs
from tests.markup import Page


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
