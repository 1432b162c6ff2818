"""Steering a run from its status bar by plain forms: pause, mode, more turns; and how far it says to be."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments import progress
from experiments.models import Run
from experiments.steering import steering
from tests.experiments.pages.driving import drive

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(arena, start):
    return lambda **config: start(arena(**config))


@pytest.fixture
def bar(browser, read):
    """The status bar as the page fetches it."""
    return lambda run: read(browser.get(reverse("run-status", args=[run.pk])))


def fresh(run):
    return Run.objects.with_totals().select_related("experiment").get(pk=run.pk)


def part(page, name):
    [element] = [e for e in page.root.iter() if e.get("data-part") == name]
    return element


def test_it_is_paused_and_goes_on(browser, bar, queued):
    run = queued()
    form = bar(run).by_id("pause-form")
    assert browser.post(form.get("action")).status_code == 303
    drive()
    page = bar(run)
    assert (fresh(run).is_held, part(page, "state").text) == (True, "paused")

    browser.post(page.by_id("go-on-form").get("action"))
    drive()
    assert fresh(run).state == "completed"


def test_what_is_over_offers_nothing_to_steer_and_says_so(browser, bar, read, played):
    run = played(max_turns=1)
    page = bar(run)
    assert page.find("form") == []

    refused = read(browser.post(reverse("run-pause", args=[run.pk]), follow=True))
    assert "waits already, or is over" in refused.text


def test_its_mode_is_changed_and_the_buttons_say_which_it_is(browser, bar, queued):
    run = queued()
    buttons = {b.get("value"): b.get("aria-pressed") for b in part(bar(run), "mode").iter("button")}
    assert buttons == {"automatic": "true", "manual": "false"}
    browser.post(reverse("run-mode", args=[run.pk]), {"mode": "magic"})
    assert fresh(run).mode == "automatic"

    browser.post(reverse("run-mode", args=[run.pk]), {"mode": "manual"})
    drive()
    page = bar(run)
    buttons = {b.get("value"): b.get("aria-pressed") for b in part(page, "mode").iter("button")}
    assert buttons == {"automatic": "false", "manual": "true"}
    assert part(page, "state").text == "waits for you"


def test_it_is_given_more_turns(browser, bar, queued):
    run = queued(max_turns=2)
    for turns in ("0", "101", "-1", "many", "99999999"):
        browser.post(reverse("run-extend", args=[run.pk]), {"max_turns": turns})
        assert fresh(run).config["max_turns"] == 2, turns

    browser.post(reverse("run-extend", args=[run.pk]), {"max_turns": "5"})
    assert "0 of 5" in part(bar(run), "turn").text
    browser.post(reverse("run-extend", args=[run.pk]), {"max_turns": ""})
    assert "open" in part(bar(run), "turn").text


def test_waiting_for_people_is_no_time_of_play(queued, alice):
    run = queued(mode="manual", max_turns=4)
    drive()
    hour = timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(started=timezone.now() - hour, waiting_since=timezone.now() - hour)
    waiting = progress.of(fresh(run))
    assert (waiting.seconds, waiting.eta, waiting.is_ticking) == (0, None, False)

    steering.say(run, by=alice, key=fresh(run).open_pauses[0].key, action="default")
    assert progress.of(fresh(run)).seconds < 60


def test_the_time_left_is_guessed_from_the_time_played(queued):
    run = queued(max_turns=4)
    now = timezone.now()
    turn = {"run": run, "key": "turn/1/completed", "kind": "record", "purpose": "turn_completed", "turn": 1}
    run.steps.create(**{k: v for k, v in turn.items() if k != "run"}, state="done", ended=now - timedelta(seconds=90))
    Run.objects.filter(pk=run.pk).update(
        state="running", started=now - timedelta(seconds=120), waited_seconds=100, waiting_since=None
    )
    shown = progress.of(fresh(run))

    assert shown.seconds == 20
    assert shown.eta == 60
