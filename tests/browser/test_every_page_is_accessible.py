"""axe-core finds nothing on any page, in both themes and languages, wide and narrow; nothing scrolls sideways."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = pytest.mark.browser

HEADER_LINES = """() => new Set([...document.querySelectorAll('.site a, .site button')]
  .map((one) => one.getBoundingClientRect()).filter((box) => box.width > 1)
  .map((box) => Math.round((box.top + box.bottom) / 12))).size"""
PAGES = ("arena/", "council/", "debate/", "coding/", "runs/", "account/", "nowhere/")


@pytest.fixture(scope="module")
def finished(lab: Lab) -> str:
    run = lab.start()
    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["ended"], "a run to look at", seconds=60)
    return run


@pytest.fixture(scope="module")
def answered(lab: Lab) -> str:
    """A council that has answered."""
    cast = {"member-1": {"model": "sim/cooperative"}, "member-2": {"model": "sim/competitive"}}
    body = {"workflow": "council", "config": {"question": "Why is the sky blue?"}}
    experiment = lab.ask("POST", "experiments/", {**body, "cast": {**cast, "chair": {"model": "sim/neutral"}}})
    [run] = lab.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
    wait_until(lambda: lab.ask("GET", f"runs/{run['id']}/")["offer"], "a council to look at", seconds=90)
    return str(run["id"])


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_no_violation_on_any_page(
    lab: Lab, sign_in: SignIn, finished: str, answered: str, width: int, theme: str, language: str
) -> None:
    page = sign_in(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.context.add_cookies([{"name": "arena_theme", "value": theme, "url": lab.url}])
    page.locator("form[action='/language/'] select, form[action='/language/'] button").first.wait_for(state="attached")
    page.context.add_cookies([{"name": "arena_language", "value": language, "url": lab.url}])
    call = lab.ask("GET", f"runs/{finished}/calls/")["results"][0]["id"]

    found = {}
    for path in (*PAGES, f"runs/{finished}/", f"calls/{call}/", f"runs/{answered}/", f"runs/{answered}/ranking/1/"):
        page.goto(f"{lab.url}/{path}")
        expect(page.locator("main")).to_be_visible()
        found[path] = violations(page)
        sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sideways <= 0, f"{path} scrolls sideways by {sideways} px"
        assert page.evaluate(HEADER_LINES) <= (1 if width == 1280 else 3)

    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_violation_on_the_sign_in_page(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.context.clear_cookies()

    page.goto(f"{lab.url}/sign-in/")

    assert violations(page) == []
