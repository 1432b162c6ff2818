"""The header, the picker of models, and what makes pages slow on any machine: that stays small."""

import re

from playwright.sync_api import expect

from benchmarks.pages import OBSERVE, PAGES, SHIFT, measure
from tests.browser.conftest import MEMBERS, PACED_MODEL, SIDEWAYS, Lab, SignIn, violations
from tests.browser.test_accessible import MOST_SHIFT

MOST_REQUESTS, MOST_KIB = 40, 120
MODEL = "Simulated · Drifting"
IS_INSIDE = """popup => {
  const bottom = (one) => one.getBoundingClientRect().bottom;
  return bottom(popup.querySelector("[role=listbox]")) < bottom(popup);
}"""


def test_the_header_has_a_palette_one_open_menu_and_a_drawer_and_forms_a_column_beside_or_are_narrow(
    lab: Lab, sign_in: SignIn
) -> None:
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

    # Without models beside the prompt, lines would be too long to read on a wide window
    page.set_viewport_size({"width": 1440, "height": 900})
    for address, width, columns in (("/debate/", 1000, 1), ("/council/", 1280, 2)):
        page.goto(f"{lab.url}{address}")
        drawn = page.locator("#setup > .setup-columns")
        assert drawn.evaluate("one => one.getBoundingClientRect().width") == width
        assert len(drawn.evaluate("one => getComputedStyle(one).gridTemplateColumns").split(" ")) == columns


def test_a_model_is_made_a_favorite_and_stands_first_from_then_on(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/arena/")
    picked, popup = page.locator("model-picker:has([name=seat-A-model]) > button"), page.locator(".picker-popup")
    search, favorites = page.get_by_role("combobox", name="Search models"), page.get_by_role("group", name="Favorites")
    starred = page.get_by_role("option", name=re.compile(f"^{MODEL}.*Favorite$"))
    picked.click()
    search.fill("drifting simulated")
    assert popup.evaluate(IS_INSIDE)
    search.press("Control+d")
    expect(starred).to_have_count(1)
    expect(popup.get_by_role("status")).to_contain_text(MODEL)
    assert violations(page) == []
    search.press("Enter")
    expect(picked).to_contain_text(MODEL)

    page.reload()
    picked.click()
    expect(page.get_by_role("listbox").get_by_role("group").first).to_have_accessible_name("Favorites")
    assert violations(page) == []
    favorites.locator(".picker-star").click()
    expect(starred).to_have_count(0)
    search.press("Escape")
    picked.click()
    expect(favorites).to_have_count(0)
    expect(page.get_by_role("group", name="Recently used").get_by_role("option", name=MODEL)).to_have_count(1)


def test_a_page_asks_for_little_and_stays_in_its_place_and_so_does_a_run_while_it_is_written(
    lab: Lab, sign_in: SignIn
) -> None:
    """Times are for `python -m benchmarks.pages`."""
    page, run = sign_in(), lab.start(max_turns=5)
    page.add_init_script(OBSERVE)
    lab.wait_for(run, "ended")
    for name, address in PAGES.items():
        seen = measure(page, lab.url + address.format(run=run))
        assert (seen["foreign"], seen["shift"] <= MOST_SHIFT) == ([], True), name
        assert 0 < seen["requests"] <= MOST_REQUESTS, name
        assert 0 < seen["sent"] / 1024 <= MOST_KIB, name

    seats = {"member-1": MEMBERS[0], "member-2": MEMBERS[1], "chair": PACED_MODEL}
    [council] = lab.begin("council", seats, {"question": "Why is the sky blue?"})
    for run, end in ((lab.start(PACED_MODEL, PACED_MODEL), "#status[data-over]"), (council, "#offer")):
        page = sign_in(viewport={"width": 360, "height": 800})
        page.add_init_script(OBSERVE)
        page.goto(f"{lab.url}/runs/{run}/")
        expect(page.locator(end)).to_be_attached()
        assert page.evaluate(SHIFT) <= MOST_SHIFT, run

    page.goto(f"{lab.url}/api/docs/")
    expect(page.locator(".opblock-tag").first).to_be_visible()
    page.get_by_role("link", name="Documentation").click()
    page.wait_for_url("**/help/api/")
