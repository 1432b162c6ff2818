"""A debate of two people and a model, on three browsers: its owner's, and those of the two who answer."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, SIDEWAYS, Lab, OpenPage, SignIn, violations

pytestmark = [pytest.mark.browser, pytest.mark.system]

REQUEST = "How should our lab share one telescope between five groups?"


def set_up(page: Page, lab: Lab) -> None:
    """Debaters A and B are people: a user, and whoever has the invitation link."""
    page.goto(f"{lab.url}/debate/")
    page.fill("#id_prompt", REQUEST)
    page.get_by_label("Automatic").check()
    for seat in ("C", "summarizer"):
        page.locator(f"#id_seat-{seat}-model").select_option(QUICK[2], force=True)
    page.locator("summary", has_text="Refiner").click()
    page.locator("#id_refine").uncheck()
    page.locator("summary", has_text="People").click()
    for place, (seat, who) in enumerate({"A": "speaker", "B": ""}.items()):
        page.locator("#id_people [data-add]").click()
        row = page.locator("#id_people [data-row]").nth(place)
        row.get_by_label("Participant").select_option(seat)
        row.get_by_label("Person").select_option(who)
        row.get_by_label("Minutes").fill("15")


def answers(page: Page, words: str) -> None:
    expect(page.locator("#seat-time [data-clock]")).to_be_visible()
    page.get_by_label("New perspectives").fill(f"{words}\n{words} by lot.")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Your answer is sent.")).to_be_visible()


def fits(page: Page) -> None:
    assert violations(page) == []
    for width in (360, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= 0


def test_two_people_and_a_model_debate_on_three_browsers(lab: Lab, sign_in: SignIn, open_page: OpenPage) -> None:
    owner = sign_in()
    set_up(owner, lab)
    owner.get_by_role("button", name="Start run").click()
    people = owner.locator(".people-panel")
    expect(people).to_contain_text("speaker · asked now")
    expect(owner.locator("#status")).to_contain_text("waits for a person")
    link = people.get_by_role("link", name="Invitation link").get_attribute("href")

    guest = open_page()
    guest.goto(f"{lab.url}{link}")
    expect(guest.get_by_text("Nothing to answer now")).to_be_visible()

    speaker = sign_in("speaker")
    speaker.goto(f"{lab.url}/notifications/")
    speaker.get_by_role("link", name="Your answer is needed").click()
    expect(speaker.get_by_role("heading", name="What you are asked")).to_be_visible()
    expect(speaker.locator(".seat-shown", has_text="telescope").first).to_be_visible()
    fits(speaker)
    answers(speaker, "Share it by the night")

    answers(guest, "Share it by need")  # its page has found the turn by itself
    expect(owner.locator("#slot-round-1")).to_contain_text("Share it by need by lot.")
    expect(owner.locator("#slot-round-1")).to_contain_text("a person: speaker")
    expect(owner.locator("#status")).to_have_attribute("data-state", "completed")
    expect(guest.get_by_text("The run has ended.")).to_be_visible()
    fits(guest)
    fits(owner)
