"""A report opens in Chromium from a file, with no network, in both themes, and axe-core finds nothing."""

import pytest
from playwright.sync_api import sync_playwright

from experiments.runs.reports.formats import render_html
from tests.browser.conftest import FLAGS, violations
from tests.environment import CHROMIUM
from tests.experiments.reports.records import FILTERED, SCORES, Record, logprobs

pytestmark = [pytest.mark.browser, pytest.mark.system]


def test_it_opens_without_network_errors_or_barriers(alice, tmp_path):
    """A report with one of everything. Written first: beside Playwright's event loop Django asks no database."""
    record = Record(alice, state="failed", error="It broke.", stop_reason="overloaded")
    record.turn(1)
    record.pause("A", 1, "send", text="My own prompt.", edited=True)
    said = "# Title\n\n* one\n\n```\ncode\n```\n\n[link](https://example.org)"
    call = {"logprobs": logprobs(0.9, 0.6, 0.2)}
    record.reply("A", 1, said, reasoning="Hm.", filter=FILTERED, text="Less.", call=call)
    record.deed("note", "B", 1, text="Stay calm.")
    record.failure("B", 1, "No answer.")
    for turn in (1, 2, 3):
        record.judged(turn, {"A": SCORES, "B": None}, rationale="Calm.", dynamics="Close.")
    file = tmp_path / "report.html"
    file.write_text(render_html(record.fetched(), "en"), encoding="utf-8")

    requests, errors = [], []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for theme, width in (("light", 1280), ("dark", 360)):
            options = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
            context = chromium.new_context(offline=True, **options)
            page = context.new_page()
            page.on("request", lambda request: requests.append(request.url))
            page.on("console", lambda message: errors.append(message.text))
            page.goto(file.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")

            assert violations(page) == [], theme
            assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
            assert page.locator("svg.lines polyline").count() > 7
            assert page.evaluate("getComputedStyle(document.querySelector('.contents')).borderTopWidth") == "1px"
        chromium.close()

    assert set(requests) == {file.as_uri()}
    assert errors == []
