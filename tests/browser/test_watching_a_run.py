"""A researcher signs in, starts a run, watches it live, and loses nothing by reloading or leaving."""

import os
import re
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ENDLESS_MODEL, SHORT_MODEL, Lab, SignIn, settled
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]

LIVE = "[data-live] [data-text]"


def open_run(page: Page, lab: Lab, run: str) -> Page:
    page.goto(f"{lab.url}/runs/{run}/")
    return page


def seen_text(page: Page) -> str:
    return page.locator(LIVE).first.text_content() or ""


def test_the_form_starts_a_run_whose_text_grows_until_it_is_stopped(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.select_option("[name=seat-A-model]", ENDLESS_MODEL)
    page.fill("[name=prompt]", "Share seven solar panels between two villages.")
    page.click("main button.primary")
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/"))

    expect(page.locator(LIVE).first).not_to_be_empty()
    early = seen_text(page)
    page.wait_for_function(f"start => document.querySelector('{LIVE}').textContent.length > start", arg=len(early))
    later = seen_text(page)
    page.click("#stop-button")
    page.click("#stop-dialog button[value=yes]")

    expect(page.locator("#ending")).to_be_visible()
    assert later.startswith(early)
    assert len(later) > len(early)
    expect(page.locator("#transcript article")).to_have_count(1)
    expect(page.locator("#transcript article")).to_contain_text("stopped here")
    expect(page.locator("#stop-button")).to_have_count(0)


def test_reloading_twenty_times_always_shows_what_the_database_has(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = lab.start(a=ENDLESS_MODEL, filter=False, judge=False)
    wait_until(lambda: lab.call_text(run), "the first words")

    for _ in range(20):
        before = lab.call_text(run)
        open_run(page, lab, run)
        expect(page.locator(LIVE).first).to_contain_text(re.compile(r"\w+"))
        page.wait_for_function(
            "text => document.querySelector('[data-live] [data-text]').textContent.startsWith(text)", arg=before
        )
        shown = seen_text(page)
        wait_until(lambda shown=shown: len(lab.call_text(run)) >= len(shown), "the database to have it too")
        assert lab.call_text(run).startswith(shown)
    lab.ask("POST", f"runs/{run}/stop/")


def test_a_page_watched_live_equals_the_same_page_reloaded(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = lab.start(max_turns=2)
    open_run(page, lab, run)
    expect(page.locator("#ending")).to_be_visible()
    live = settled(page, content)

    page.reload()
    expect(page.locator("#ending")).to_be_visible()

    assert content(page) == live
    assert page.locator("#transcript article.message").count() == 4


def content(page: Page) -> list[str]:
    """The elements of the transcript and of both sides' metrics, without what a reader has opened."""
    parts = page.evaluate(
        "['#transcript', '#slot-metrics-A', '#slot-metrics-B'].map(s => document.querySelector(s).innerHTML)"
    )
    text = re.sub(r' (open|tabindex|aria-selected)="[^"]*"', "", " ".join(parts))
    return re.sub(r"\s+", " ", text).replace("<", "\n<").replace(" \n", "\n").strip().splitlines()


def test_a_closed_tab_does_not_end_the_run(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    with lab.held():
        run = lab.start(a=SHORT_MODEL, judge=False, filter=False)
        open_run(page, lab, run)
        expect(page.locator(LIVE).first).not_to_be_empty()

        page.context.close()

    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["state"] == "completed", "the run to complete", seconds=60)


def test_another_person_sees_nothing_of_it(lab: Lab, sign_in: SignIn) -> None:
    run = lab.start(judge=False, filter=False)
    page = sign_in("admin")

    answer = page.goto(f"{lab.url}/runs/{run}/")

    assert answer is not None
    assert answer.status == 404
    assert "solar" not in page.content()
    socket = page.evaluate(
        """run => new Promise(done => {
            const socket = new WebSocket(`ws://${location.host}/ws/runs/${run}/`);
            socket.onopen = () => done('open'); socket.onerror = () => done('refused');
        })""",
        run,
    )
    assert socket == "refused"


def test_two_browsers_see_the_same_and_signing_out_ends_the_stream(lab: Lab, sign_in: SignIn) -> None:
    first, second = sign_in(), sign_in()
    run = lab.start(a=ENDLESS_MODEL, filter=False, judge=False)
    for page in (first, second):
        open_run(page, lab, run)
        expect(page.locator(LIVE).first).not_to_be_empty()
    texts = [seen_text(first), seen_text(second)]
    assert texts[0].startswith(texts[1]) or texts[1].startswith(texts[0])

    out = second.context.new_page()
    out.goto(f"{lab.url}/account/")
    out.locator("form[action='/sign-out/'] button").first.click()

    expect(second.locator("#connection")).to_have_attribute("data-connection", "signed-out")
    lab.ask("POST", f"runs/{run}/stop/")


def test_browsers_catch_up_after_redis_was_away(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = lab.start(max_turns=3)
    open_run(page, lab, run)
    expect(page.locator("#transcript article.message").first).to_be_visible()

    [redis] = lab.platform.pids("redis")
    os.kill(redis, signal.SIGKILL)

    expect(page.locator("#ending")).to_be_visible()
    assert page.locator("#transcript article.message").count() == 6
    live = settled(page, content)
    page.reload()
    assert content(page) == live


def test_a_killed_worker_is_replaced_and_the_page_goes_on(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    with lab.held():
        run = lab.start(a=SHORT_MODEL, filter=False, judge=False)
        open_run(page, lab, run)
        expect(page.locator(LIVE).first).not_to_be_empty()

        for worker in lab.platform.pids("worker"):
            os.kill(worker, signal.SIGKILL)

    expect(page.locator("#transcript")).to_contain_text("lost")
    expect(page.locator("#ending")).to_be_visible()
    assert page.locator("#transcript article.message").count() == 2
    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["state"] == "completed", "the run to complete")
