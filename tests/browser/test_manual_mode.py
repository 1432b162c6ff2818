"""A researcher leads a talk by hand: every word once, nothing typed lost, all of it in one page."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import QUICK, RUN, Lab, SignIn, violations
from tests.fixtures import wait_until

MESSAGES = "#transcript article.message"


def manual(lab: Lab, **config: object) -> str:
    return lab.start(mode="manual", **{"judge": False, "filter": False, **config})


def open_run(page: Page, lab: Lab, run: str) -> Page:
    page.goto(f"{lab.url}/runs/{run}/")
    return page


def wait_for(page: Page, reason: str, turn: int = 1) -> None:
    expect(page.locator(f"#waiting[data-reason={reason}][data-turn='{turn}']")).to_be_visible()


def press(page: Page, action: str) -> None:
    page.click(f"#waiting button[value={action}]")


def requests(lab: Lab, run: str) -> list[str]:
    """What the speakers were asked, each as one text."""
    calls = lab.ask("GET", f"runs/{run}/calls/")["results"]
    return [call["request"]["messages"][0]["content"] for call in calls if call["purpose"] == "reply"]


def wait_until_asked(lab: Lab, run: str, key: str) -> None:
    wait_until(lambda: (lab.ask("GET", f"runs/{run}/")["waiting_for"] or {}).get("key") == key, key)


def test_two_turns_are_led_by_clicking(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/arena/")
    page.check("[name=mode][value=manual]")
    assert page.is_checked("#id_max_turns-none")
    page.select_option("[name=seat-A-model]", QUICK[0])
    page.select_option("[name=seat-B-model]", QUICK[1])
    page.fill("[name=prompt]", "Share seven solar panels.\nBe fair.")
    page.click("main button.primary")
    page.wait_for_url(RUN)
    run = page.url.split("/")[-2]

    wait_for(page, "turn_start")
    default = page.input_value("#pause-text")
    page.fill("#pause-text", default + "\n\nBegin with a joke.")
    expect(page.locator("#waiting [data-changed]")).to_be_visible()
    expect(page.locator("#waiting [data-counts]")).to_contain_text("+4 −0 words")
    page.dblclick("#waiting button[value=send]")
    wait_for(page, "model_completed")
    press(page, "skip")
    wait_for(page, "turn_completed")
    press(page, "next")
    wait_for(page, "turn_start", 2)
    press(page, "send")
    wait_for(page, "model_completed", 2)
    press(page, "end")
    page.click("#end-dialog button[value=yes]")

    expect(page.locator("#ending")).to_contain_text("Stopped")
    expect(page.locator("#waiting")).to_have_count(0)
    expect(page.locator(MESSAGES)).to_have_count(2)
    assert requests(lab, run)[0] == default + "\n\nBegin with a joke."
    said = lab.ask("GET", f"runs/{run}/events/")["results"]
    assert [e["data"]["action"] for e in said if e["type"] == "said"] == ["send", "skip", "next", "default", "end"]
    expect(page.locator("#transcript")).to_contain_text("rewrote what Model A was asked")


def test_a_draft_outlives_a_reload_until_it_is_said_and_what_a_side_reads_is_altered(lab: Lab, sign_in: SignIn) -> None:
    page = open_run(sign_in(), lab, manual(lab))
    wait_for(page, "turn_start")
    default = page.input_value("#pause-text")
    page.fill("#pause-text", "My own words.")
    page.click(".deed:has(#deed-note) summary")
    page.fill("#deed-note", "Only for you.")

    page.reload()
    assert page.input_value("#pause-text") == "My own words."
    assert page.input_value("#deed-note") == "Only for you."
    page.click("#waiting [data-reset]")
    assert page.input_value("#pause-text") == default
    expect(page.locator("#waiting [data-changed]")).to_be_hidden()
    press(page, "note")
    expect(page.locator("#pause-text")).to_have_value(re.compile("Only for you."))
    assert page.input_value("#deed-note") == ""

    press(page, "send")
    wait_for(page, "model_completed")
    page.click(".deed:has(#deed-alter) summary")
    expect(page.locator("#deed-alter")).not_to_have_value("")
    page.fill("#deed-alter", "I give up.")
    press(page, "alter")
    expect(page.locator("#pause-text")).to_have_value(re.compile("I give up."))
    expect(page.locator(MESSAGES)).to_contain_text("altered by researcher")


def test_a_rival_is_told_and_keeps_what_was_typed(lab: Lab, sign_in: SignIn) -> None:
    run = manual(lab)
    first, second = open_run(sign_in(), lab, run), open_run(sign_in(), lab, run)
    for page in (first, second):
        wait_for(page, "turn_start")
    second.fill("#pause-text", "Too late, but dear to me.")

    press(first, "default")
    expect(second.locator("#waiting-notice")).to_contain_text("researcher sent the default first")
    second.click("#waiting-notice summary")
    expect(second.locator("#waiting-notice")).to_contain_text("Too late, but dear to me.")
    wait_for(second, "model_completed")
    second.reload()
    second.click("#waiting-notice summary")
    second.click("#waiting-notice .fold button")
    assert second.input_value("#pause-text") == "Too late, but dear to me."
    expect(first.locator("#waiting-notice")).to_be_empty()
    assert len(requests(lab, run)) == 1


def test_a_run_is_paused_and_made_manual_from_the_bar(lab: Lab, sign_in: SignIn) -> None:
    run = lab.start("sim/cooperative", "sim/competitive", max_turns=30, judge=False, filter=False)
    page = open_run(sign_in(), lab, run)
    page.click("#pause-form button")
    expect(page.locator(".status-state")).to_contain_text("paused")
    page.click(".mode-switch button[value=manual]")
    expect(page.locator(".mode-switch button[value=manual]")).to_have_attribute("aria-pressed", "true")
    page.click("#go-on-form button")
    expect(page.locator("#waiting")).to_be_visible()
    expect(page.locator(".status-state")).to_contain_text("waits for you")
    page.click(".more-turns summary")
    page.fill("#extend-turns", "40")
    page.click(".more-turns button")
    expect(page.locator("[data-part=turn]")).to_contain_text("of 40")


@pytest.fixture
def talk(lab: Lab) -> str:
    """A manual run that waits in its second turn."""
    run = manual(lab, filter=True, max_turns=3)
    for _pause in range(4):
        lab.say(run)
    wait_until_asked(lab, run, "turn/2/B/prompt")
    return run


def test_a_talk_is_searched_jumped_in_copied_read_and_branched(lab: Lab, sign_in: SignIn, talk: str) -> None:
    page = sign_in()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=lab.url)
    open_run(page, lab, talk)
    # Searched: folds with what was found are open
    page.keyboard.press("/")
    page.keyboard.type("reads the whole")
    expect(page.locator("#found")).to_have_text("nothing found")
    page.evaluate("scrollTo(0, 0)")
    page.fill("#find", "confidence")
    expect(page.locator("#found")).to_have_text(re.compile(r"^1 of \d+$"))
    expect(page.locator("details.filter[open]").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_have_text(re.compile(r"^2 of \d+$"))
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#found")).to_have_text(re.compile(r"^1 of \d+$"))
    assert page.evaluate("CSS.highlights.get('found').size") > 1
    page.keyboard.press("Escape")
    assert page.input_value("#find") == ""
    assert page.evaluate("CSS.highlights.has('found')") is False
    # Jumped in and copied
    page.locator("#find").blur()
    page.keyboard.press("t")
    page.select_option("#jump", "2")
    expect(page.locator("#turn-2")).to_be_focused()
    expect(page.locator("#turn-2")).to_be_in_viewport()

    message = lab.ask("GET", f"runs/{talk}/messages/")["results"][0]
    article = page.locator(f"#message-{message['id']}")
    article.get_by_role("button", name="Copy").click()
    expect(page.locator("#announcer")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == message["raw_text"]
    article.locator("a.permalink").click()
    assert page.url.endswith(f"#message-{message['id']}")
    page.wait_for_function("navigator.clipboard.readText().then(text => text === location.href)")
    # Read without what surrounds it
    page.evaluate("scrollTo(0, 0)")
    page.click("#enter-reading")
    expect(page.locator("#leave-reading")).to_be_focused()
    expect(page.locator("#reading-head")).to_contain_text("1 of 3 turns")
    expect(page.locator(".site")).to_be_hidden()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#enter-reading")).to_be_focused()
    # Branched
    page.get_by_role("link", name="Branch…").first.click()
    page.fill("#branch-text", "I give you all seven.")
    assert violations(page) == []
    page.click("#page-dialog button.primary")
    page.wait_for_url(lambda url: RUN.search(url) is not None and talk not in url)

    first = page.locator(MESSAGES).first
    expect(first).to_contain_text("I give you all seven.")
    expect(first).to_contain_text("edited by researcher")
    expect(page.locator("#lineage")).to_be_visible()
