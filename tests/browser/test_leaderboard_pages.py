"""The leaderboard in Chromium, signed out: axe-core finds nothing, and nothing scrolls sideways."""

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from leaderboard import compute, milestones
from tests.browser.conftest import CHROMIUM, FLAGS, PATIENCE, violations
from tests.leaderboard import boards

pytestmark = [pytest.mark.browser, pytest.mark.system]

VIEWS = [("light", "en", 1280), ("dark", "zh-hans", 360)]


@pytest.fixture
def addresses(transactional_db: None, alice: object) -> list[str]:
    """Every page of a ladder that has all there is to show, and the leaderboard's own."""
    long_name = "a-contestant-with-a-name-that-is-longer-than-any-column"
    board = boards.filled(alice, visibility="public", contestants=9, battles=900, subsets=("easy", "hard"), gap=60)
    again = boards.filled(alice, visibility="public", contestants=5, battles=300, name="Another league")
    boards.board_of(alice, [(long_name, "model-001", "left"), ("hopeless", "model-001", "right")] * 6, board)
    ladder = compute.ensure(board)
    compute.refresh(compute.ensure(again))
    compute.refresh(ladder)
    milestones.take(ladder, name="first_20260101", by=alice)  # type: ignore[arg-type]
    own = f"/leaderboard/{ladder.slug}/"
    pages = ["", "?subset=easy&sort=-name", "?search=nobody", "matrix/", "history/", "milestones/"]
    return ["/leaderboard/", "/leaderboard/methodology/", *(own + page for page in pages)]


def test_no_violation_on_any_page_of_the_leaderboard(live_server: object, addresses: list[str]) -> None:
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for theme, language, width in VIEWS:
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, locale=language)
            context.add_cookies([{"name": "arena_language", "value": language, "url": str(live_server)}])
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            for address in addresses:
                page.goto(f"{live_server}{address}")
                found[address, theme] = _complaints(page)
        browser.close()

    assert {where: lines for where, lines in found.items() if lines} == {}


def _complaints(page: Page) -> list[str]:
    expect(page.locator("main")).to_be_visible(timeout=PATIENCE)
    sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [*violations(page), *([f"scrolls sideways by {sideways} px"] if sideways > 0 else [])]
