"""Asking a council on: the next question, one that waits, and what is refused."""

import pytest
from django.urls import reverse

from experiments.models import Call, Message
from experiments.steering import steering
from tests.experiments.pages.council_pages import BROKEN, drive, page_of, retry_buttons

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>\n\n[x](javascript:alert(3))"


def test_the_next_question_makes_the_next_turn(browser, read, sit, press):
    run = sit()
    assert press(run, text="And why are sunsets red?")["Location"] == run.get_absolute_url()
    page = page_of(browser, read, run)

    assert "And why are sunsets red?" in page.by_id("slot-question-2").text
    assert len(page.by_id("slot-conclusion-2-chair"))
    assert retry_buttons(page) == []


def test_a_question_asked_while_the_council_works_is_queued_and_shown(browser, read, council, start, press):
    run = start(council())
    press(run, is_driven=False, text="And why are sunsets red?")
    assert "And why are sunsets red?" in page_of(browser, read, run).by_id("queued").text

    drive()
    page = page_of(browser, read, run)
    assert "And why are sunsets red?" in page.by_id("slot-question-2").text
    assert page.by_id("queued").text == ""


def test_what_cannot_be_taken_is_refused_in_words(browser, sit, press, alice):
    run = sit()
    address = reverse("run-ask", args=[run.pk])
    json = {"Accept": "application/json"}
    [offer] = run.open_offers

    empty = browser.post(address, {"key": offer.key, "text": "  "}, headers=json)
    assert (empty.status_code, empty.json()["problem"]) == (422, "Write something first.")
    steering.say(run, by=alice, key=offer.key, action="conclude")
    late = browser.post(address, {"key": offer.key, "action": "conclude"}, headers=json)
    assert late.status_code == 409


def test_nobody_asks_somebody_elses_council(charlies, sit):
    run = sit()

    assert charlies.post(reverse("run-ask", args=[run.pk]), {"text": "Mine?"}).status_code == 404
    assert charlies.get(reverse("run", args=[run.pk])).status_code == 404


def test_nothing_that_somebody_wrote_is_markup_of_ours(browser, sit, press):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", BROKEN, question=EVIL)
    press(run, text=EVIL)
    Message.objects.exclude(seat="person").update(raw_text=EVIL, text=EVIL, reasoning=EVIL, model=EVIL[:100])
    run.ballots.update(abstained_reason=EVIL, order=None)
    Call.objects.filter(state=Call.State.FAILED).update(error=EVIL)
    html = browser.get(reverse("run", args=[run.pk])).content.decode()

    assert "<script>alert" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
