"""The page built from the rows equals that built from the events, and each of its fragments is rendered once."""

import threading
import time
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from experiments.engine.driver import Driver
from experiments.models import Call, Run
from experiments.runs import actions, timeline
from experiments.runs.fragments import Fragments
from experiments.runs.timeline import Entry, render
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_same_page
from tests.parts import stepped_engine


def test_of_a_run_whose_judge_and_filter_talk_nonsense_or_give_up(played):
    for judge, filter_ in (("json=broken", "json=missing"), ("json=range", "json=injected"), ("fail=404", "fail=404")):
        tools = {"judge_model": f"sim/judge:first=0:{judge}", "filter_model": f"sim/filter:first=0:{filter_}"}
        run = played(max_turns=1, **tools)
        assert run.state == Run.State.COMPLETED, tools
        assert_same_page(run, "judge_evaluation_completed", "message_completed", "model_metrics")


def test_of_a_run_that_lost_a_call(arena, start, settings):
    settings.DRAIN_SECONDS, settings.LEASE_SECONDS = 0, 3  # the driver calls `beat` four times within it
    run = start(arena("sim/cooperative:first=0:tps=20:words=2000"))
    killed = threading.Event()
    Driver(killed, heartbeat=lambda: run.calls.filter(state=Call.State.SENT).exists() and killed.set()).drive(60)
    assert run.calls.filter(state=Call.State.SENT).count() == 1

    Run.objects.filter(pk=run.pk).update(lease_until=None)
    run.experiment.participants.filter(seat="A").update(model=run.experiment.participants.get(seat="B").model)
    drive()

    assert run.calls.filter(state=Call.State.LOST).count() == 1
    assert_same_page(run, "call_lost", "experiment_stopped")


def test_of_a_run_that_failed_goes_on_and_failed_again_after_a_judged_turn(played, alice):
    run = played(b="sim/neutral:first=0:fail=404:times=1")
    assert_same_page(run, "experiment_error")

    actions.resume(run, by=alice)
    assert_same_page(run)
    drive()
    assert Run.objects.get(pk=run.pk).state == Run.State.FAILED
    assert (run.messages.count(), run.judgments.count()) == (3, 2)
    assert_same_page(run, "model_metrics", "call_retried", "experiment_error")


def test_of_a_run_that_was_stopped_while_somebody_spoke_after_a_judged_turn(arena, start, alice):
    run = start(arena(b="sim/neutral:first=0:tps=40:words=120"))

    class Stopping(Driver):
        def _look_after_runs(self):
            speaking = run.calls.filter(step__key="turn/2/B", state=Call.State.SENT)
            if speaking.exclude(text="").exists():  # what was stopped before its first word is no message
                actions.stop(run, by=alice)
            super()._look_after_runs()

    Stopping(threading.Event()).drive(0.1)

    run.refresh_from_db()
    assert (run.state, run.messages.last().finish_reason) == (Run.State.STOPPED, "stopped")
    assert_same_page(run, "model_metrics", "experiment_stopped")


def test_at_every_moment_of_a_run(arena, start):
    fails = ":fail=503:times=1:retry_after=0.1"
    run = start(arena(f"sim/cooperative:first=0:tps=400{fails}", "sim/neutral:first=0:tps=400", max_turns=2))
    moments = set()
    with stepped_engine.driving(threading.Event()):
        while not Run.objects.get(pk=run.pk).is_over:
            moments.add(Run.objects.get(pk=run.pk).last_seq)
            assert_same_page(run)
            time.sleep(0.05)

    assert len(moments) > 2, "the page was compared while the run was under way"
    assert_same_page(run, "call_retried", "judge_evaluation_completed")


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


def test_another_run_text_word_or_language_is_another_fragment_and_those_asked_for_last_are_kept(rendered):
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
