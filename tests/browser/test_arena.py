"""A run of the arena is started, watched live and lost by nobody: whatever is reloaded, closed, killed or blocked."""

import os
import re
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest
from playwright.sync_api import Page, Route, expect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.browser.conftest import (
    ENDLESS_MODEL,
    LIVE,
    RUN,
    SLOW_MODEL,
    Lab,
    SignIn,
    assert_same_when_opened_now,
    markup,
    sign_out,
    violations,
)
from tests.fixtures import wait_until

MESSAGES = "#transcript article.message"
CONNECTION = "#connection"
FORBID = "window.WebSocket = class { constructor() { throw new DOMException('blocked', 'SecurityError'); } };"
BLOCK = """const Real = window.WebSocket; window.blocked = true;
window.WebSocket = class extends EventTarget {
  constructor(url) {
    if (!window.blocked) return new Real(url);
    super(); this.readyState = 3;
    setTimeout(() => this.onclose?.({ code: 1006 }), 20);
  }
  close() {} send() {}
};
Object.assign(window.WebSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 });"""
IMPATIENT = """
const { set } = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, "timeout");
Object.defineProperty(XMLHttpRequest.prototype, "timeout", { set(ms) { set.call(this, ms / 15); } });
"""
BEGUN_EARLY = """async () => {
  const found = performance.getEntriesByType("resource").find((one) => one.name.includes("/transcript"));
  const { insert } = await import(found.name);
  const transcript = document.getElementById("transcript");
  transcript.insertAdjacentHTML("beforeend", '<article data-live="a-call"></article>');
  insert('<h3 class="turn" id="turn-9" data-slot="transcript">Turn 9</h3>');
  insert('<article id="said" data-slot="transcript" data-call="a-call"></article>');
  return [...transcript.children].slice(-2).map((one) => one.id);
}"""
TURNS = 31


def seen_text(page: Page) -> str:
    return page.locator(LIVE).first.text_content() or ""


def wait_for_more(page: Page, characters: int = 1) -> str:
    """What is said once so many characters have been added."""
    least = len(seen_text(page)) + characters
    page.wait_for_function(f"least => document.querySelector('{LIVE}')?.textContent.length >= least", arg=least)
    return seen_text(page)


def test_the_text_of_a_run_grows_a_reload_shows_what_the_database_has_and_it_is_stopped(
    lab: Lab, sign_in: SignIn
) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/arena/")
    page.select_option("[name=seat-A-model]", ENDLESS_MODEL)
    page.fill("[name=prompt]", "Share seven solar panels between two villages.")
    page.click("main button.primary")
    page.wait_for_url(RUN)
    run = page.url.split("/")[-2]
    expect(page.locator(LIVE).first).not_to_be_empty()
    early = seen_text(page)
    assert wait_for_more(page).startswith(early)

    for _ in range(3):
        before = lab.call_text(run)
        page.goto(f"{lab.url}/runs/{run}/")
        page.wait_for_function(f"text => document.querySelector('{LIVE}')?.textContent.startsWith(text)", arg=before)
        shown = seen_text(page)
        wait_until(lambda shown=shown: len(lab.call_text(run)) >= len(shown), "the database to have it too")
        assert lab.call_text(run).startswith(shown)

    page.click("#stop-button")
    page.click("#stop-dialog button[value=yes]")
    expect(page.locator("#ending")).to_be_visible()
    expect(page.locator("#transcript article")).to_have_count(1)
    expect(page.locator("#transcript article")).to_contain_text("stopped here")
    expect(page.locator("#stop-button")).to_have_count(0)


def test_browsers_see_the_same_a_closed_one_ends_nothing_and_signing_out_ends_its_stream(
    lab: Lab, sign_in: SignIn
) -> None:
    closed, first, second = sign_in(), sign_in(), sign_in(anew=True)
    run = lab.start(a=ENDLESS_MODEL, filter=False, judge=False)
    for page in (closed, first, second):
        page.goto(f"{lab.url}/runs/{run}/")
        expect(page.locator(LIVE).first).not_to_be_empty()
    texts = [seen_text(first), seen_text(second)]
    assert texts[0].startswith(texts[1]) or texts[1].startswith(texts[0])

    closed.context.close()
    out = second.context.new_page()
    out.goto(f"{lab.url}/account/")
    sign_out(out)
    expect(second.locator(CONNECTION)).to_have_attribute("data-connection", "signed-out")
    wait_for_more(first)
    lab.ask("POST", f"runs/{run}/stop/")


def test_a_page_whose_redis_was_killed_becomes_the_same_as_one_opened_later(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = lab.start("sim/cooperative", "sim/competitive", max_turns=2)
    page.goto(f"{lab.url}/runs/{run}/")
    expect(page.locator(MESSAGES).first).to_be_visible()

    [redis] = lab.platform.pids("redis")
    os.kill(redis, signal.SIGKILL)

    expect(page.locator("#ending")).to_be_visible()
    expect(page.locator(MESSAGES)).to_have_count(4)
    assert_same_when_opened_now(page, lambda one: markup(one, "#transcript", "#slot-metrics-A", "#slot-metrics-B"))
    assert page.evaluate(BEGUN_EARLY) == ["turn-9", "said"], "it stands below the turn, though its text came before"


def test_where_no_websocket_gets_through_the_page_follows_the_run_to_its_end_and_goes_back_when_one_opens(
    lab: Lab, sign_in: SignIn
) -> None:
    page, forbidding = sign_in(), sign_in()
    page.add_init_script(BLOCK)
    forbidding.add_init_script(FORBID)
    asked: list[str] = []
    with lab.paced.held():
        run = lab.start(a=SLOW_MODEL, filter=False)
        for one in (page, forbidding):
            one.goto(f"{lab.url}/runs/{run}/")
            expect(one.locator(CONNECTION)).to_have_attribute("data-connection", "polling")
            expect(one.locator(LIVE).first).to_have_text(re.compile(r"\w+"))
        page.evaluate("window.blocked = false")
        expect(page.locator(CONNECTION)).to_have_attribute("data-connection", "live")
        page.on("request", lambda request: asked.append(request.url) if "/news/" in request.url else None)
    wait_for_more(forbidding)
    wait_for_more(page)
    assert asked == []

    ids = "all => all.map(one => one.id)"
    for one in (page, forbidding):
        expect(one.locator("#ending")).to_be_visible()
        expect(one.locator(MESSAGES)).to_have_count(2)
        assert_same_when_opened_now(one, lambda this: this.eval_on_selector_all("#transcript > *", ids))


def frozen_between_writes(lab: Lab, pids: Sequence[int]) -> bool:
    """Freeze the processes, unless one is within a transaction: SQLite would let nobody else write."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        with closing(sqlite3.connect(lab.platform.data / "arena.sqlite3", timeout=1)) as database:
            database.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        return False
    return True


def test_the_file_of_a_long_run_is_saved_by_itself_even_where_an_answer_never_comes(lab: Lab, sign_in: SignIn) -> None:
    page, run = sign_in(), lab.start(judge=False, filter=False)
    lab.wait_for(run, "ended")
    record = lab.ask("GET", f"runs/{run}/report/")
    words = [{name: row[name] for name in ("seat", "model", "text")} for row in record["messages"]]
    messages = [{**row, "turn": turn} for turn in range(1, TURNS + 1) for row in words]
    record |= {"messages": messages, "calls": [], "steps": [], "run": {"state": "completed"}}
    long = str(lab.ask("POST", "runs/import/", record)["id"])
    page.add_init_script(IMPATIENT)
    page.goto(f"{lab.url}/runs/{long}/")
    unanswered: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.resource_type == "xhr" and not unanswered:
            unanswered.append(route)
        else:
            route.continue_()

    page.route("**/files/**", answer)
    workers = lab.platform.pids("reports")
    wait_until(lambda: frozen_between_writes(lab, workers), "a worker that holds no lock")
    try:
        page.locator(".more-menu > summary").click()
        page.locator(".exports button[value=csv]").click()
        expect(page.locator("#file")).to_contain_text("Waiting for a worker")
        assert violations(page) == []
        with page.expect_download() as download:
            for pid in workers:
                os.kill(pid, signal.SIGCONT)
            expect(page.locator("#file")).to_contain_text("The file is ready")
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)

    assert len(unanswered) == 1
    assert download.value.suggested_filename.endswith(".csv")
    assert download.value.path().read_text(encoding="utf-8-sig").count(f'"{long}"') == 2 * TURNS
    assert violations(page) == []


def test_a_message_over_64_kib_closes_a_socket(lab: Lab) -> None:
    address = f"{lab.url.replace('http', 'ws')}/ws/runs/{lab.start(judge=False, filter=False)}/?after=0"
    with connect(address, additional_headers={"Authorization": f"Bearer {lab.token}"}) as socket:
        socket.send("x" * 70_000)
        with pytest.raises(ConnectionClosed):
            list(socket)
