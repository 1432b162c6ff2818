"""A contest in a real browser: set up, a whole cycle watched live, the same after a reload, and the cycle's page."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab, SignIn, settled, violations

pytestmark = [pytest.mark.browser, pytest.mark.system]

RUN = re.compile(r"/runs/[0-9a-f-]{36}/")
CODERS = tuple(f"sim/coder-{name}:tps=400:first=0" for name in ("oak", "elm", "fir"))
PLACES = """() => [...document.querySelectorAll('.cycle [id], #slot-pool, #slot-plan, #slot-ending')]
    .map((place) => `${place.id} ${place.textContent.replace(/\\s+/g, '')}`)"""


@pytest.fixture(scope="module", autouse=True)
def models(lab: Lab) -> None:
    address = ("--base-url", lab.paced.base_url, "--allow-private")
    lab.manage("add_provider", "--name", "contest", *address, "--model", *CODERS)


def seat(page: Page, models: tuple[str, ...]) -> None:
    """Chooses the models; rows that are too many go, rows that are missing come."""
    rows = page.locator(".member-row")
    while rows.count() > len(models):
        rows.last.locator("[data-remove]").click()
    while rows.count() < len(models):
        page.locator("[data-add]").click()
    for number in range(rows.count()):
        rows.nth(number).locator("select").first.select_option("")
    for number, model in enumerate(models):
        rows.nth(number).locator("select").first.select_option(model)


def begun(sign_in: SignIn, lab: Lab) -> Page:
    """A page on which a contest of one cycle has begun."""
    page = sign_in()
    page.goto(f"{lab.url}/coding/")
    seat(page, CODERS)
    page.locator("#id_cycles").fill("1")
    expect(page.locator("#setters-words")).to_contain_text("comes out even with 3 cycles")
    page.locator("#start").click()
    page.wait_for_url(RUN)
    return page


def test_a_whole_cycle_is_watched_live_and_is_the_same_after_a_reload(lab: Lab, sign_in: SignIn) -> None:
    with lab.held():
        page = begun(sign_in, lab)
        expect(page.locator(".phase[data-phase=problem]")).to_have_attribute("data-state", "active")
        expect(page.locator("[data-live] .raw")).to_contain_text("{")
    expect(page.locator("#status")).to_have_attribute("data-over", "")
    phases = page.locator(".phase")
    if page.locator("[data-outcome=void]").count() == 0:
        expect(page.locator(".phase[data-phase=judged]")).to_contain_text("6/6")
        for number in range(phases.count()):
            expect(phases.nth(number)).to_have_attribute("data-state", "done")
        expect(page.locator("td.vote")).to_have_count(6)
        expect(page.locator("td.mean").first).not_to_have_text("–")
    live = settled(page, lambda one: list(one.evaluate(PLACES)))
    page.reload()
    assert list(page.evaluate(PLACES)) == live
    assert violations(page) == []


def test_the_parts_of_a_contest_are_tabs(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in(viewport={"width": 360, "height": 800})
    page.goto(f"{lab.url}/coding/")
    page.locator("#contests th a").first.click()
    page.wait_for_url(RUN)
    tabs = page.get_by_role("tab")

    expect(tabs.first).to_have_attribute("aria-selected", "true")
    tabs.first.press("ArrowRight")
    expect(page.locator("#cycles")).to_be_visible()
    expect(page.locator("#latest")).to_be_hidden()
    tabs.nth(1).press("End")
    expect(page.locator("#ratings")).to_be_visible()
    page.goto(page.url.split("#")[0] + "#cycles")
    expect(page.locator("#cycles")).to_be_visible()
    assert violations(page) == []

    page.locator("#cycles th a").last.click()  # the newest stands first
    page.wait_for_url(re.compile("/cycles/1/"))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
