"""Where no WebSocket gets through, the page still follows the run, and goes back to the socket when it can."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ENDLESS_MODEL, SLOW_MODEL, Lab, SignIn

pytestmark = [pytest.mark.browser, pytest.mark.system]

FORBID = "window.WebSocket = class { constructor() { throw new DOMException('blocked', 'SecurityError'); } };"
LIVE = "[data-live] [data-text]"
CONNECTION = "#connection"


def blocked(page: Page) -> None:
    """A proxy that hangs up on every WebSocket before it opens."""
    page.add_init_script(
        "const Real = window.WebSocket; window.blocked = true;"
        "window.WebSocket = class extends EventTarget {"
        "  constructor(url) {"
        "    if (!window.blocked) return new Real(url);"
        "    super(); this.readyState = 3;"
        "    setTimeout(() => this.onclose?.({ code: 1006 }), 20);"
        "  }"
        "  close() {} send() {}"
        "};"
        "Object.assign(window.WebSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 });"
    )


def test_the_page_follows_the_run_to_its_end_and_equals_a_reloaded_one(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    blocked(page)
    with lab.held():
        run = lab.start(a=SLOW_MODEL, max_turns=1, filter=False)
        page.goto(f"{lab.url}/runs/{run}/")

        expect(page.locator(CONNECTION)).to_have_attribute("data-connection", "polling")
        expect(page.locator(LIVE).first).to_have_text(re.compile(r"\w+"))
        early = page.locator(LIVE).first.text_content() or ""
    page.wait_for_function(f"start => document.querySelector('{LIVE}')?.textContent.length > start", arg=len(early))
    expect(page.locator("#ending")).to_be_visible()

    ids = page.eval_on_selector_all("#transcript > *", "all => all.map(one => one.id)")
    page.reload()
    assert page.eval_on_selector_all("#transcript > *", "all => all.map(one => one.id)") == ids
    assert len(ids) == len(set(ids))
    assert page.locator("#transcript article.message").count() == 2


def test_a_browser_that_forbids_sockets_altogether_follows_too(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.add_init_script(FORBID)
    run = lab.start(judge=False, filter=False)
    page.goto(f"{lab.url}/runs/{run}/")

    expect(page.locator("#ending")).to_be_visible()
    assert page.locator("#transcript article.message").count() == 2


def test_it_goes_back_to_the_socket_when_one_opens(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    blocked(page)
    run = lab.start(a=ENDLESS_MODEL, max_turns=1, filter=False, judge=False)
    page.goto(f"{lab.url}/runs/{run}/")
    expect(page.locator(CONNECTION)).to_have_attribute("data-connection", "polling")

    page.evaluate("window.blocked = false")

    expect(page.locator(CONNECTION)).to_have_attribute("data-connection", "live")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/news/" in request.url else None)
    page.wait_for_timeout(4000)
    assert asked == []
    lab.ask("POST", f"runs/{run}/stop/")
