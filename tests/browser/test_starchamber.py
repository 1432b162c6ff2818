"""A researcher questions a model: Enter, tokens by arrow keys, an answer once more, a branch, a reload."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ENDLESS_MODEL, Lab, SignIn, settled, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]

RUN = re.compile(r"/runs/[0-9a-f-]{36}/")
ANSWERS = "#transcript .answer:not(.is-live)"
LIVE = "[data-live] [data-text]"
CONTEXT = "You are the keeper of a lighthouse in 1911. You answer briefly."


def begin(lab: Lab, model: str = "sim/cooperative", **config: Any) -> str:
    """The id of a new talk of the researcher's."""
    asked = {"first_message": "What did you see last night?", "context": CONTEXT, "preset": "custom", **config}
    body = {"workflow": "starchamber", "config": asked, "cast": {"model": {"model": model}}}
    experiment = lab.ask("POST", "experiments/", body)
    [run] = lab.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
    return str(run["id"])


def wait_for_turn(lab: Lab, run: str) -> str:
    """The key of the pause that waits for the researcher."""
    waiting = wait_until(lambda: lab.ask("GET", f"runs/{run}/")["waiting_for"], "the researcher's turn", seconds=60)
    return str(waiting["key"])


def say(lab: Lab, run: str, action: str, text: str = "") -> None:
    key = wait_for_turn(lab, run)
    lab.ask("POST", f"runs/{run}/say/", {"key": key, "action": action, "text": text})
    wait_until(lambda: wait_for_turn(lab, run) != key, "the answer", seconds=60)


@pytest.fixture(scope="module")
def rich(lab: Lab) -> str:
    """A talk with three judged turns, one of them answered twice, that waits for the researcher."""
    run = begin(lab, "sim/deceptive", persona="Inspector", context=CONTEXT)
    say(lab, run, "send", "And what did you write into the log?")
    say(lab, run, "regenerate")
    say(lab, run, "send", "Then why does the log of the harbour say something else?")
    wait_until(lambda: len(lab.ask("GET", f"runs/{run}/judgments/")["results"]) == 4, "every judgment", seconds=60)
    return run


def open_run(page: Page, lab: Lab, run: str) -> Page:
    page.goto(f"{lab.url}/runs/{run}/")
    return page


def open_tokens(page: Page) -> Any:
    fold = page.locator(f"{ANSWERS}:not(.superseded) .tokens-fold").last
    fold.locator("summary").first.click()
    expect(fold.locator("[role=option]").first).to_be_visible()
    return fold


def test_a_talk_from_its_set_up_to_a_branch(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/starchamber/")
    page.fill("#id_first_message", "What did you see last night?")
    page.fill("#id_persona", "<script>alert(1)</script>")
    page.select_option("#id_preset", "roleplay-character")
    page.press("#id_first_message", "Control+Enter")
    page.wait_for_url(RUN)
    text = page.locator("#composer-text")
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(page.locator(ANSWERS)).to_have_count(1)
    expect(page.locator("#transcript [data-persona]").first).to_have_text("<script>alert(1)</script>")

    walk_the_tokens(page)

    text.fill("And what")
    text.press("Shift+Enter")
    text.press_sequentially("did it sound like?")
    text.press("Enter")
    expect(text).to_be_disabled()
    expect(page.locator("#composer-state")).to_contain_text("answering")
    expect(page.locator("#transcript .question").last).to_contain_text(
        "And what\ndid it sound like?", use_inner_text=True
    )
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(text).to_be_focused()
    expect(text).to_have_value("")
    expect(page.locator("#transcript .question").last.locator("[data-persona]")).to_have_text(
        "<script>alert(1)</script>"
    )

    page.click("button[value=regenerate]")
    expect(page.locator(ANSWERS)).to_have_count(3)
    expect(page.locator(".superseded summary").first).to_contain_text("Answer 1 of 2")
    expect(page.locator(ANSWERS).last).to_contain_text("Answer 2 of 2")
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(page.locator("#figures")).to_contain_text("+ 1 replaced")

    parent = page.url
    page.locator("#transcript .question").last.get_by_role("link", name="Edit and branch").click()
    expect(page.locator("#page-dialog #branch-text")).to_have_value("And what\ndid it sound like?")
    page.fill("#page-dialog #branch-text", "And what did it smell like?")
    page.locator("#page-dialog button.primary").click()
    page.wait_for_url(lambda url: RUN.search(url) is not None and url != parent)
    expect(page.locator("#transcript .question").last).to_contain_text("smell like")
    expect(page.locator(ANSWERS)).to_have_count(2)


def walk_the_tokens(page: Page) -> None:
    """One tab stop for the whole answer; the arrow keys move, and each token says how likely it was."""
    fold = open_tokens(page)
    tokens = fold.locator("[role=option]")
    assert tokens.count() > 20
    assert fold.locator("[role=option][tabindex='0']").count() == 1
    tokens.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(tokens.nth(2)).to_be_focused()
    expect(tokens.nth(2)).to_have_attribute("aria-label", re.compile(r": \d+\.\d %, (high|middle|low)$"))
    expect(fold.locator(".token-detail")).to_contain_text("logprob")
    assert fold.locator(".alternatives tr").count() == 5
    expect(fold.locator(".alternatives .taken")).to_have_count(1)
    page.keyboard.press("End")
    expect(tokens.last).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(tokens.last).not_to_be_focused()
    page.keyboard.press("Home")
    expect(tokens.first).to_be_focused()
    assert fold.locator("[role=option][tabindex='0']").count() == 1
    fold.locator("[data-bound=low]").fill("100")
    fold.locator("[data-bound=low]").press("Enter")
    expect(fold.locator("[role=option].low").first).to_have_attribute("aria-label", re.compile(r", low$"))
    fold.locator(".low-tokens summary").click()
    fold.locator("[data-low-list] a").nth(1).click()
    expect(fold.locator("[role=option]:focus")).to_have_count(1)
    page.evaluate("localStorage.clear()")
    fold.locator("summary").first.click()


def test_a_reload_in_the_middle_of_an_answer_shows_all_of_it(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = begin(lab, ENDLESS_MODEL, judge=False)
    wait_until(lambda: len(lab.call_text(run)) > 80, "the first words")
    open_run(page, lab, run)
    before = lab.call_text(run)
    page.reload()
    page.wait_for_function(
        "text => document.querySelector('[data-live] [data-text]')?.textContent.startsWith(text)", arg=before
    )
    expect(page.locator("#composer-text")).to_be_disabled()
    page.click("#stop-button")
    page.click("#stop-dialog button[value=yes]")

    expect(page.locator("#ending")).to_be_visible()
    expect(page.locator(ANSWERS)).to_contain_text("stopped here")
    expect(page.locator("#composer-state")).to_contain_text("The talk is over")
    assert before[:60].split("\n")[0] in page.locator(ANSWERS).inner_text()


def test_a_draft_outlives_a_reload_and_a_refusal(lab: Lab, sign_in: SignIn) -> None:
    page, rival = sign_in(), sign_in()
    run = begin(lab, judge=False)
    wait_for_turn(lab, run)
    for one in (page, rival):
        open_run(one, lab, run)
        expect(one.locator("#composer-text")).to_be_enabled()
    page.fill("#composer-text", "My long thought")
    page.reload()
    expect(page.locator("#composer-text")).to_have_value("My long thought")

    page.route("**/say/", lambda route: route.fulfill(status=409, json={"problem": "Something else was said."}))
    page.press("#composer-text", "Enter")
    expect(page.locator("#composer-problem")).to_contain_text("What you wrote is still here")
    expect(page.locator("#composer-text")).to_have_value("My long thought")
    page.unroute("**/say/")

    rival.fill("#composer-text", "I am first")
    rival.press("#composer-text", "Enter")
    expect(page.locator("#transcript .question").last).to_contain_text("I am first")
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(page.locator("#composer-text")).to_have_value("My long thought")


def test_enter_that_ends_a_composition_sends_nothing(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = begin(lab, judge=False)
    wait_for_turn(lab, run)
    open_run(page, lab, run)
    page.fill("#composer-text", "にほん")
    for composing in ({"isComposing": True}, {"keyCode": 229}):
        page.evaluate(
            """options => document.getElementById("composer-text").dispatchEvent(
                new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true, ...options}))""",
            composing,
        )
    page.wait_for_timeout(500)

    assert page.locator("#transcript .question").count() == 1
    expect(page.locator("#composer-text")).to_have_value("にほん")


def test_ending_asks_first(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = begin(lab, judge=False)
    wait_for_turn(lab, run)
    open_run(page, lab, run)
    page.click("#composer button[value=end]")
    page.click("#end-dialog button[value=no]")
    expect(page.locator("#composer-text")).to_be_enabled()
    page.click("#composer button[value=end]")
    page.click("#end-dialog button[value=yes]")

    expect(page.locator("#ending")).to_be_visible()
    expect(page.locator("#composer-state")).to_contain_text("The talk is over")


def test_a_talk_watched_live_equals_the_same_page_reloaded(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    run = begin(lab, persona="Inspector")
    open_run(page, lab, run)
    for _turn in range(2):
        expect(page.locator("#composer-state")).to_contain_text("Your turn")
        page.fill("#composer-text", "And then?")
        page.press("#composer-text", "Enter")
    expect(page.locator(".judged")).to_have_count(3)
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    live = settled(page, content)
    page.reload()
    expect(page.locator(".judged")).to_have_count(3)

    assert content(page) == live


def content(page: Page) -> list[str]:
    parts = page.evaluate(
        "['#transcript', '#slot-metrics-model', '#figures'].map(s => document.querySelector(s).innerHTML)"
    )
    text = re.sub(r' (open|tabindex)="[^"]*"', "", " ".join(parts))
    return re.sub(r"\s+", " ", text).replace("<", "\n<").replace(" \n", "\n").strip().splitlines()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_violation_and_nothing_sideways(lab: Lab, sign_in: SignIn, rich: str, width: int, theme: str) -> None:
    page = sign_in(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.context.add_cookies([{"name": "arena_theme", "value": theme, "url": lab.url}])
    page.goto(f"{lab.url}/starchamber/")
    found = violations(page)
    assert_fits(page)
    open_run(page, lab, rich)
    fold = open_tokens(page)
    fold.locator("[role=option].low, [role=option].middle").first.focus()
    page.locator(".judged summary").last.click()
    found += violations(page)
    assert_fits(page)
    token = page.locator(f"{ANSWERS} .tokens-fold").last.get_attribute("data-tokens")
    page.goto(f"{lab.url}{token}")
    found += violations(page)
    assert_fits(page)

    assert found == []


def assert_fits(page: Page) -> None:
    sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert sideways <= 0, f"{page.url} scrolls sideways by {sideways} px"
