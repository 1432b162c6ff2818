"""Runs are ticked, tagged, compared and noted without a mouse, on wide and narrow screens, in light and dark."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]


@pytest.fixture(scope="module")
def runs(lab: Lab) -> tuple[str, str]:
    """A run, and a branch of it in which one word of a message is another one."""
    first = lab.start(max_turns=3, judge=True)
    wait_until(lambda: lab.ask("GET", f"runs/{first}/")["ended"], "a run to compare", seconds=120)
    message = next(one for one in lab.ask("GET", f"runs/{first}/messages/")["results"] if one["turn"] == 2)
    words = message["raw_text"].split(" ")
    other = lab.ask("POST", f"messages/{message['id']}/branch/", {"text": " ".join([*words[:-1], "otherwise."])})["id"]
    wait_until(lambda: lab.ask("GET", f"runs/{other}/")["ended"], "its branch", seconds=120)
    return first, str(other)


def tick(page: Page, runs: tuple[str, str]) -> None:
    for run in runs:
        page.locator(f"input[name=run][value='{run}']").focus()
        page.keyboard.press("Space")


def is_too_wide(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def top_of(page: Page, column: int) -> int:
    return int(page.evaluate(f"document.getElementById('compare-column-{column}').scrollTop"))


def test_runs_are_tagged_compared_and_noted_by_keyboard(lab: Lab, sign_in: SignIn, runs: tuple[str, str]) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/runs/?whose=mine")
    tick(page, runs)
    page.locator("#chosen-tag").focus()
    page.keyboard.type("Odd ends")
    page.keyboard.press("Enter")
    expect(page.locator(".run-list .tag")).to_have_count(2)
    assert violations(page) == []

    tick(page, runs)
    page.get_by_role("button", name="Compare the ticked runs").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/compare/?run=*")
    assert page.locator("#compare-place").get_attribute("data-of") != "0"
    assert not is_too_wide(page)
    assert violations(page) == []

    page.keyboard.press("n")
    expect(page.locator("#compare-place")).to_contain_text("Difference 1 of")
    expect(page.locator(".compared.current")).to_have_count(2)
    expect(page.locator("#compare-column-2 .compared.current ins")).to_contain_text("otherwise.")
    page.keyboard.press("n")
    expect(page.locator("#compare-place")).to_contain_text("Difference 2 of")
    page.keyboard.press("p")
    expect(page.locator("#compare-place")).to_contain_text("Difference 1 of")

    page.set_viewport_size({"width": 1280, "height": 500})
    page.locator("#compare-column-1").focus()
    page.keyboard.press("End")
    wait_until(lambda: top_of(page, 2) > 0, "the other column to follow")
    page.locator("#scroll-together").focus()
    page.keyboard.press("Space")
    page.locator("#compare-column-1").focus()
    page.keyboard.press("Home")
    wait_until(lambda: top_of(page, 1) == 0, "the column to be at its beginning")
    assert top_of(page, 2) > 0

    page.goto(f"{lab.url}/runs/{runs[0]}/")
    message = page.locator("#transcript article.message").first
    message.get_by_role("link", name="Note").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#page-dialog textarea")).to_be_focused()
    page.keyboard.type("It **begins** well.")
    assert violations(page) == []
    page.get_by_role("button", name="Save the note").focus()
    page.keyboard.press("Enter")
    expect(message.locator(".person-note strong")).to_have_text("begins")
    assert violations(page) == []


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (360, "light"), (360, "dark")])
def test_it_fits_every_screen_in_both_themes(
    lab: Lab, sign_in: SignIn, runs: tuple[str, str], width: int, theme: str
) -> None:
    page = sign_in(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.goto(f"{lab.url}/runs/compare/?run={runs[0]}&run={runs[1]}")
    assert not is_too_wide(page)
    assert violations(page) == []
    if width == 360:
        expect(page.locator("#compare-column-2")).to_be_hidden()
        page.locator("#compare-tab-1").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#compare-column-2")).to_be_visible()
        page.keyboard.press("n")
        expect(page.locator("#compare-column-2 .compared.current")).to_be_in_viewport()
    page.goto(f"{lab.url}/runs/?whose=mine")
    assert not is_too_wide(page)
    assert violations(page) == []
