"""The page of a run that waits for its operator, and its status bar, by plain forms and by a script."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.models import Run
from experiments.runs import progress
from experiments.runs.steering import steering
from tests.experiments.pages.conftest import drive
from tests.fixtures import add_model
from tests.markup import value_of

JSON = {"Accept": "application/json"}
MIXED = "Teile {sieben} Platten.\r\n\tUnd: 漢字 🎈 <b>&amp;\n\rEnde. "


@pytest.fixture
def manual(arena, begun):
    return lambda **config: begun(arena(mode="manual", **config))


def pause(run):
    [step] = Run.objects.get(pk=run.pk).open_pauses
    return step


def fields_of(page):
    """What a browser sends of the panel, its button aside: fields stand outside of the form that they belong to."""
    form = page.form(id="say-form")
    for field in page.root.iter("input", "textarea"):
        if field.get("form") == "say-form":
            lines = re.split("\r\n|\r|\n", value_of(field))  # any line end is one, and is sent as two characters
            form[field.get("name") or ""] = "\r\n".join(lines)
    return form


def press(browser, run, page, action, **typed):
    say = reverse("run-say", args=[run.pk])
    return browser.post(say, {**fields_of(page), **typed, "action": action})


def buttons(page):
    panel = page.by_id("waiting")
    return {b.get("value") for b in panel.iter() if b.tag == "button" and b.get("form") == "say-form"}


def test_it_says_what_it_waits_for_and_shows_what_would_be_sent(page_of, browser, arena, begun):
    experiment = arena(mode="manual", max_turns=1, prompt="</textarea><script>alert(1)</script>")
    experiment.participants.create(seat="friend", model=add_model("sim/neutral:first=0"))
    run = begun(experiment)
    page = page_of(run)

    assert "Turn 1 is waiting for you: Model A begins" in page.by_id("waiting-title").text
    assert page.by_id("pause-text").text_content() == "\n" + pause(run).data["default"]
    assert buttons(page) == {"send", "default", "skip", "next", "end", "note", "friend"}, "nothing can be altered yet"
    assert "<script>alert" not in browser.get(reverse("run", args=[run.pk])).content.decode()


def test_a_prompt_is_sent_as_it_was_shown_byte_for_byte_and_an_edited_one_says_so(page_of, browser, manual):
    for added in ("", "\n\nSei kurz. "):
        run = manual(prompt=MIXED)
        page, default = page_of(run), pause(run).data["default"]
        typed = fields_of(page)["text-send"] + added.replace("\n", "\r\n")
        response = press(browser, run, page, "send", **{"text-send": typed})
        drive()
        assert (response.status_code, response["Location"]) == (303, reverse("run", args=[run.pk]))
        assert MIXED in default
        [asked] = run.calls.get(step__key="turn/1/A").request["messages"]
        assert asked["content"] == default + added
        assert run.events.get(type="said").data["edited"] is bool(added)
        told = page_of(run).by_id("transcript").text
        assert ("rewrote what Model A was asked" in told) is ("Sei kurz." in told) is bool(added)


def test_a_turn_is_played_by_its_buttons_and_ended(page_of, browser, manual):
    run = manual(max_turns=3)
    reasons = []
    for action in ("send", "skip", "next", "next", "end"):
        page = page_of(run)
        reasons.append(page.by_id("waiting").get("data-reason"))
        assert "friend" not in buttons(page), "nobody sits there"
        if reasons[-1] == "turn_completed":
            assert (page.find(id="pause-text"), buttons(page)) == ([], {"next", "end"}), "nothing is to be written"
        press(browser, run, page, action)
        drive()

    assert reasons == ["turn_start", "model_completed", "turn_completed", "turn_start", "turn_completed"]
    page = page_of(run)
    assert page.find(id="waiting") == []
    assert "Stopped" in page.by_id("ending").text
    assert "skipped Model B" in page.by_id("transcript").text
    assert list(run.messages.values_list("seat", flat=True)) == ["A"]


def test_a_failed_call_says_why_and_waits_and_so_it_does_after_each_intervention(page_of, browser, manual):
    run = manual(a="sim/cooperative:fail=401:times=1")
    press(browser, run, page_of(run), "send")
    drive()
    panel = page_of(run).by_id("waiting")
    assert panel.get("data-reason") == "call_failed"
    assert pause(run).data["error"] in panel.text
    for action, typed in (("default", ""), ("note", "They bluff.\r\nReally."), ("alter", "I give up.")):
        press(browser, run, page_of(run), action, **({f"text-{action}": typed} if typed else {}))
        drive()
        assert typed.replace("\r\n", "\n") in pause(run).data["default"]
        assert page_of(run).by_id("waiting").get("data-reason") == "model_completed"

    page = page_of(run)
    done = [e.text for e in page.find("div") if (e.get("id") or "").startswith("intervention-")]
    assert [("They bluff. Really." in text, "I give up." in text) for text in done] == [(True, False), (False, True)]
    assert all("alice" in text for text in done)
    message = run.messages.get(seat="A")
    shown = page.by_id(f"message-{message.pk}").text
    assert all(words in shown for words in ("altered by alice for the other side", "I give up."))
    assert " ".join(message.raw_text.split())[:20] in shown


def test_whoever_comes_second_is_told_what_was_said_first(page_of, browser, read, manual, alice):
    run = manual()
    page, key = page_of(run), pause(run).key
    steering.say(run, by=alice, key=key, action="skip")

    response = press(browser, run, page, "send", **{"text-send": "Me too."})
    shown = read(browser.get(response["Location"]))
    assert response.status_code == 303
    assert "alice skipped a side" in shown.find(role="status")[0].text
    script = browser.post(reverse("run-say", args=[run.pk]), {"key": key, "action": "default"}, headers=JSON)
    assert (script.status_code, script.json()["said"]["by"]) == (409, "alice")
    nowhere = browser.post(reverse("run-say", args=[run.pk]), {"key": "turn/9/A/prompt"}, headers=JSON)
    assert (nowhere.status_code, bool(nowhere.json()["problem"])) == (409, True)
    drive()
    assert run.calls.count() == 0


@pytest.fixture
def queued(arena, start):
    return lambda **config: start(arena(**config))


@pytest.fixture
def bar(browser, read):
    return lambda run: read(browser.get(reverse("run-status", args=[run.pk])))


def fresh(run):
    return Run.objects.with_totals().select_related("experiment").get(pk=run.pk)


def part(page, name):
    [element] = [e for e in page.root.iter() if e.get("data-part") == name]
    return element


def test_it_is_paused_goes_on_is_given_more_turns_or_another_mode_until_it_is_over(browser, bar, read, queued):
    run = queued()
    form = bar(run).by_id("pause-form")
    assert browser.post(form.get("action")).status_code == 303
    drive()
    page = bar(run)
    assert (fresh(run).is_held, fresh(run).calls.count(), part(page, "state").text) == (True, 0, "paused")

    browser.post(page.by_id("go-on-form").get("action"))
    drive()
    assert (fresh(run).state, fresh(run).is_held) == ("completed", False)
    assert fresh(run).events.filter(type="experiment_started").count() == 1
    assert bar(run).find("form") == []
    refused = read(browser.post(form.get("action"), follow=True))
    assert "is already waiting, or has ended" in refused.text

    run = queued(max_turns=2)
    for turns in ("0", "101", "-1", "many", "99999999"):
        browser.post(reverse("run-extend", args=[run.pk]), {"max_turns": turns})
        assert fresh(run).config["max_turns"] == 2, turns

    browser.post(reverse("run-extend", args=[run.pk]), {"max_turns": "5"})
    assert "0 of 5" in part(bar(run), "turn").text
    browser.post(reverse("run-extend", args=[run.pk]), {"max_turns": ""})
    assert "open" in part(bar(run), "turn").text

    for mode in ("manual", "magic"):
        browser.post(reverse("run-mode", args=[run.pk]), {"mode": mode})
        pressed = {b.get("value"): b.get("aria-pressed") for b in part(bar(run), "mode").iter("button")}
        assert pressed == {"automatic": "false", "manual": "true"}, mode


def test_the_time_left_is_guessed_from_the_time_played_and_waiting_for_people_is_none_of_it(queued, alice):
    run = queued(max_turns=4)
    now = timezone.now()
    turn = {"key": "turn/1/completed", "kind": "record", "purpose": "turn_completed", "turn": 1, "state": "done"}
    run.steps.create(**turn, ended=now - timedelta(seconds=90))
    Run.objects.filter(pk=run.pk).update(
        state="running", started=now - timedelta(seconds=120), waited_seconds=100, waiting_since=None
    )
    shown = progress.of(fresh(run))
    assert (shown.seconds, shown.eta) == (20, 60)

    run = queued(mode="manual", max_turns=4)
    drive()
    hour = timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(started=now - hour, waiting_since=now - hour)
    waiting = progress.of(fresh(run))
    assert (waiting.seconds, waiting.eta, waiting.is_ticking) == (0, None, False), "waiting for people is no play"
    steering.say(run, by=alice, key=fresh(run).open_pauses[0].key, action="default")
    assert progress.of(fresh(run)).seconds < 60
