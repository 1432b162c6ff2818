"""Fragments of run pages are rendered once for what they show; a page asks as little of a long run as of a short."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from experiments.runs import timeline
from experiments.runs.fragments import Fragments
from experiments.runs.timeline import Entry, render

SAID = Entry("turn_started", {"turn": 3}, "turn-3")


@pytest.fixture
def rendered(monkeypatch):
    """The fragments that are really rendered, from now on, none of which is kept yet."""
    entries = []
    really = timeline._rendered
    monkeypatch.setattr(timeline, "_fragments", Fragments())
    monkeypatch.setattr(
        timeline, "_rendered", lambda *about, **words: entries.append(about[0]) or really(*about, **words)
    )
    return entries


def test_another_run_text_word_or_language_is_another_fragment(rendered):
    shown = [
        render(SAID, "run", "arena"),
        render(SAID, "other", "arena"),
        render(Entry("turn_started", {"turn": 4}, "turn-3"), "run", "arena"),
        render(Entry("turn_started", {"turn": 3}, "turn-4"), "run", "arena"),
        render(SAID, "run", "arena", cast={"A": "one"}),
    ]
    with translation.override("zh-hans"):
        shown.append(render(SAID, "run", "arena"))
    assert len(rendered) == 6
    assert len(set(shown)) == 4
    assert render(Entry("turn_started", {"turn": 3}, "turn-3"), "run", "arena", cast={"A": "one"}) == shown[4]
    assert len(rendered) == 6, "what shows the same is rendered once"
    for _time in range(2):
        render(SAID, "run", "arena", slots={"transcript": [SAID]})
    assert len(rendered) == 8, "one with others inside, each time"


def test_those_that_were_asked_for_last_are_kept_and_none_that_is_larger_than_all_may_be():
    kept, made = Fragments(most=10), []

    def ask(*given):
        return kept.of(list(given), lambda: made.append(given) or "four")

    asked = [(1,), (Decimal(2),), (1,), (3,), (1,), (Decimal(2),)]
    assert {ask(*given) for given in asked} == {"four"}
    assert made == [(1,), (Decimal(2),), (3,), (Decimal(2),)]
    assert [kept.of(["long"], lambda: "x" * 11), kept.of(["long"], lambda: "again")] == ["x" * 11, "again"]


@pytest.mark.django_db
def test_a_page_asks_as_little_of_a_long_run_as_of_a_short_one(browser, played):
    asked = []
    for turns in (1, 4):
        run = played(max_turns=turns)
        with CaptureQueriesContext(connection) as queries:
            page = browser.get(reverse("run", args=[run.pk])).content
        assert page.count(b"data-message=") == 2 * turns
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 20
