"""What is written on the page of a debate and not yet sent is kept."""

import pytest

from tests.experiments.pages.held import JSON, keep, pause_of, say, steps

pytestmark = pytest.mark.django_db


def test_a_draft_is_shown_again_wherever_the_page_is_opened(hold, page_of, browser):
    run = hold()
    response = keep(browser, run, "Share it\r\nby the week.")

    assert (response.status_code, response.content) == (204, b"")
    editor = page_of(run).by_id("pause-text")
    assert editor.text_content().strip("\n") == "Share it\nby the week."
    assert editor.get("data-default") == pause_of(run).data["default"]


def test_switching_the_language_keeps_the_draft_and_everything_said(hold, page_of, browser):
    run = hold("send")
    keep(browser, run, "It must be cheap.")
    before = page_of(run)

    browser.post("/language/", {"language": "zh-hans", "next": f"/runs/{run.pk}/"})
    page = page_of(run)

    assert page.find("html")[0].get("lang") == "zh-hans"
    assert page.by_id("say-form-addendum").text_content().strip() == "It must be cheap."
    said = [[point.findall(".//div")[0].text for point in shown.find("li", class_="point")] for shown in (before, page)]
    assert said[0] == said[1]
    assert len(said[0]) >= 9
    assert list(steps(page).values()) == list(steps(before).values())


def test_a_draft_of_what_was_said_already_is_refused(hold, browser, alice):
    run = hold("send")
    key = pause_of(run).key
    say(run, alice, "round", "It must be cheap.")

    response = keep(browser, run, "It may be dear.", key)

    assert response.status_code == 409
    assert "first" in response.json()["problem"]
    assert run.messages.get(parsed__kind="addendum").raw_text == "It must be cheap."


def test_a_draft_for_no_pause_and_one_that_is_too_long_are_refused(hold, browser):
    run = hold()

    assert keep(browser, run, "x", "no/such").status_code == 409
    assert keep(browser, run, "x\x00").status_code == 422
    assert keep(browser, run, "x" * 1_000_001).status_code == 422


def test_what_two_people_send_at_the_same_time_is_sent_once(hold, browser):
    run = hold()
    sent = {"key": pause_of(run).key, "action": "send"}
    browser.post(f"/runs/{run.pk}/say/", sent | {"text-send": "Mine."}, **JSON)
    rival = browser.post(f"/runs/{run.pk}/say/", sent | {"text-send": "Theirs."}, **JSON)

    assert rival.status_code == 409
    assert "alice" in rival.json()["problem"]
