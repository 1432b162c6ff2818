"""The public arena as a visitor meets it: a prompt, two answers as they come, a vote by keyboard, names, the board."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import SIDEWAYS, Lab, OpenPage, violations
from tests.browser.test_accessible import MOST_SHIFT, SHIFT


def assert_well(page: Page) -> None:
    for width in (1024, 360):
        page.set_viewport_size({"width": width, "height": 768})
        assert (page.evaluate(SIDEWAYS), violations(page)) == (0, []), width


def test_a_visitor_asks_two_models_votes_and_reads_the_names(lab: Lab, open_page: OpenPage) -> None:
    page = open_page(viewport={"width": 360, "height": 768})
    sockets: list[str] = []
    asked: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/news/") else None)
    page.goto(f"{lab.url}/")
    page.get_by_role("link", name="Try the arena").click()
    page.get_by_label("Your prompt").fill("Share seven solar panels between two villages.")
    page.get_by_role("button", name="Ask two models").click()

    answers, tie = page.locator(".live-answer"), page.get_by_role("button", name="Tie")
    expect(tie).to_be_disabled()
    expect(answers.first).to_have_text(re.compile(r"\w+ \w+"))
    expect(tie).to_be_enabled()
    assert ["/ws/public-arena/" in url for url in sockets] == [True], "answers come over one socket"
    assert not asked
    assert page.evaluate(SHIFT) <= MOST_SHIFT
    assert_well(page)
    assert "sim/" not in page.content()

    page.keyboard.press("3")
    expect(page.get_by_role("heading", level=1)).to_contain_text("equally good")
    names = [title.rpartition(" · ")[2] for title in page.locator(".side h2").all_inner_texts()]
    assert len(set(names)) == 2
    assert_well(page)
    page.get_by_role("link", name="The board of votes").click()
    for name in names:
        expect(page.get_by_role("rowheader", name=name)).to_be_visible()
