"""A contest in a real browser: set up, a whole cycle watched live, the same when opened later, its parts as tabs."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import CODERS, RUN, SIDEWAYS, Lab, SignIn, assert_same_when_opened_now, violations

PLACES = """() => [...document.querySelectorAll('.cycle [id], #slot-pool, #slot-plan, #slot-ending')]
    .map((place) => `${place.id} ${place.textContent.replace(/\\s+/g, '')}`)"""


def test_a_whole_cycle_is_watched_live_and_read_on_a_narrow_screen(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/coding/")
    rows = page.locator(".model-row")
    while rows.count() > len(CODERS):
        rows.last.locator("[data-remove]").click()
    for number in range(rows.count()):
        rows.nth(number).locator("select").first.select_option("")
    for number, model in enumerate(CODERS):
        rows.nth(number).locator("select").first.select_option(model)
    page.locator("#id_cycles").fill("1")
    expect(page.locator("#estimate")).to_contain_text("divide evenly with 3 cycles")
    with lab.paced.held():
        page.locator("#start").click()
        page.wait_for_url(RUN)
        expect(page.locator(".phase[data-phase=problem]")).to_have_attribute("data-state", "active")
        expect(page.locator("[data-live] .live-fields p").first).not_to_be_empty()
        expect(page.locator("[data-live] .live-fields")).not_to_contain_text("{")
    expect(page.locator("#status")).to_have_attribute("data-over", "")
    phases = page.locator(".phase")
    if page.locator("[data-outcome=void]").count() == 0:
        expect(page.locator(".phase[data-phase=judged]")).to_contain_text("6/6")
        for number in range(phases.count()):
            expect(phases.nth(number)).to_have_attribute("data-state", "done")
        expect(page.locator("td.vote")).to_have_count(6)
        expect(page.locator("td.mean").first).not_to_have_text("–")
    assert_same_when_opened_now(page, lambda one: list(one.evaluate(PLACES)))
    assert violations(page) == []

    page.set_viewport_size({"width": 360, "height": 800})
    page.reload()
    tabs = page.get_by_role("tab")
    expect(tabs.first).to_have_attribute("aria-selected", "true")
    tabs.first.press("ArrowRight")
    expect(page.locator("#cycles")).to_be_visible()
    expect(page.locator("#latest")).to_be_hidden()
    tabs.nth(1).press("End")
    expect(page.locator("#set-up")).to_be_visible()
    page.goto(page.url.split("#")[0] + "#cycles")
    expect(page.locator("#cycles")).to_be_visible()
    assert violations(page) == []

    page.locator("#cycles th a").last.click()  # the newest stands first
    page.wait_for_url(re.compile("/cycles/1/"))
    assert violations(page) == []
    assert page.evaluate(SIDEWAYS) <= 0
