"""Nothing that models or people wrote can do anything in a report, and nothing is fetched for it."""

import re
from html.parser import HTMLParser
from typing import Any

from experiments.reports.html import render_html
from tests.experiments.reports.records import SCORES, Record

NASTY = "<script>alert(1)</script></style><img src=http://evil.example/x.png onerror=alert(2)>"
MARKDOWN = "![x](http://evil.example/a.png) [link](https://good.example/) [bad](javascript:alert(1)) <b>bold</b>"
FETCHING = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping", "xlink:href", "manifest"}


class Reader(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def nasty(alice: Any, workflow: str = "arena") -> Reader:
    """A run in which everything that somebody may write is hostile."""
    record = Record(alice, workflow, {"persona": NASTY, "prompt": NASTY, "context": NASTY, "first_message": NASTY},
                    title=NASTY, state="failed", error=NASTY, stop_reason=NASTY[:40])  # fmt: skip
    seat = "A" if workflow == "arena" else "model"
    model = record.models[seat]
    model.label = NASTY
    model.save()
    record.turn(1)
    found = {"changed": True, "removed": [NASTY], "confidence": 0.5, "reasoning": NASTY, "status": "filtered"}
    token = [{"token": NASTY, "logprob": -0.1}]
    record.reply(seat, 1, NASTY + MARKDOWN, text=MARKDOWN, reasoning=NASTY, filter=found,
                 call={"logprobs": token, "served_model": NASTY, "finish_reason": NASTY[:40]})  # fmt: skip
    record.failure(seat, 1, NASTY)
    record.pause(seat, 1, "send", text=NASTY, default=NASTY, edited=True, by=NASTY)
    record.deed("note", seat, 1, text=NASTY, original=NASTY, question=NASTY, missed=NASTY)
    record.judged(1, {seat: SCORES}, rationale=NASTY, dynamics=NASTY, unscored_reason=NASTY, judge=NASTY)
    return Reader(render_html(record.fetched(), "en"))


def test_nothing_that_was_written_becomes_a_tag(alice: Any) -> None:
    for workflow in ("arena", "starchamber"):
        tags = {tag for tag, _attributes in nasty(alice, workflow).tags}
        assert tags.isdisjoint({"script", "img", "b", "iframe", "object", "embed", "form", "base"}), workflow


def test_nothing_is_fetched_from_anywhere(alice: Any) -> None:
    reader = nasty(alice)

    for tag, attributes in reader.tags:
        assert not FETCHING & attributes.keys(), tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert tag != "link"
    links = [a for tag, a in reader.tags if tag == "a" and not (a.get("href") or "").startswith("#")]
    assert {a.get("href") for a in links} == {"https://good.example/", "http://evil.example/a.png"}, "no image"
    assert {a.get("rel") for a in links} == {"noopener noreferrer nofollow"}
    policies = [a["content"] for _tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    ids = [a["id"] for _tag, a in reader.tags if "id" in a]
    assert len(ids) == len(set(ids))
    [style] = re.findall(r"(?s)<style>(.*?)</style>", render_html(Record(alice).fetched(), "en"))
    assert not re.search(r"url\(|@import|http", style)
