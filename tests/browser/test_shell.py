"""The header in a browser: the palette by keyboard, one open menu at a time, the drawer of a phone."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import SIDEWAYS, Lab, SignIn, violations


def test_header(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/runs/")
    page.keyboard.press("Control+k")
    page.keyboard.type("datasets")
    box = page.get_by_role("combobox", name="Page, run, dataset, model or action")
    expect(page.get_by_role("option", name="Datasets Library")).to_be_visible()
    assert violations(page) == []
    while page.evaluate("document.querySelector('#palette [aria-selected=true]').dataset.address") != "/datasets/":
        box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url(f"{lab.url}/datasets/")

    menus = page.locator("#site-menu > details")
    for number in (0, 2):
        menus.nth(number).locator("summary").click()
        assert page.locator(".site-menu[open]").count() == 1
    expect(page.locator("#notifications [hx-trigger], #notifications ul, #notifications .hint").first).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.locator(".site-menu[open]")).to_have_count(0)

    page.set_viewport_size({"width": 360, "height": 800})
    page.get_by_role("button", name="Menu").click()
    menus.nth(1).locator("summary").click()
    assert (violations(page), page.evaluate(SIDEWAYS) <= 0) == ([], True)
    page.get_by_role("link", name="Import runs").click()
    page.wait_for_url(re.compile("/runs/import/"))


def test_set_up_pages_have_a_column_beside_or_are_narrow(lab: Lab, sign_in: SignIn) -> None:
    """Without models beside the prompt, lines would be too long to read on a wide window."""
    page = sign_in()
    page.set_viewport_size({"width": 1440, "height": 900})
    for address, width, columns in (("/debate/", 1000, 1), ("/council/", 1280, 2)):
        page.goto(f"{lab.url}{address}")
        drawn = page.locator("#setup > .setup-columns")
        assert drawn.evaluate("one => one.getBoundingClientRect().width") == width
        assert len(drawn.evaluate("one => getComputedStyle(one).gridTemplateColumns").split(" ")) == columns
