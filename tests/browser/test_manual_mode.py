"""A researcher leads a talk by hand in a real browser: every word once, nothing typed lost, all of it in one page."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PASSWORD, Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]

QUICK = "sim/cooperative:first=0"
OTHER = "sim/competitive:first=0"


@pytest.fixture(scope="module")
def quick(lab: Lab) -> Lab:
    """A lab with models that answer at once."""
    address = ("--base-url", lab.paced.base_url, "--allow-private")
    lab.manage("add_provider", "--name", "quick", *address, "--model", f"{QUICK}:tps=0", f"{OTHER}:tps=0")
    return lab


def manual(lab: Lab, **config: object) -> str:
    return lab.start(a=f"{QUICK}:tps=0", b=f"{OTHER}:tps=0", mode="manual", **{"judge": False, **config})


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


def test_two_turns_are_led_by_clicking(quick: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.check("#id_mode_manual")
    assert page.is_checked("#id_max_turns-none")
    page.select_option("[name=seat-A-model]", f"{QUICK}:tps=0")
    page.select_option("[name=seat-B-model]", f"{OTHER}:tps=0")
    page.fill("[name=prompt]", "Share seven solar panels.\nBe fair.")
    page.click("main button.primary")
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]{36}/"))
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
    expect(page.locator("#transcript article.message")).to_have_count(2)
    assert requests(quick, run)[0] == default + "\n\nBegin with a joke."
    said = quick.ask("GET", f"runs/{run}/events/")["results"]
    assert [e["data"]["action"] for e in said if e["type"] == "said"] == ["send", "skip", "next", "default", "end"]
    expect(page.locator("#transcript")).to_contain_text("rewrote what Model A was asked")


def test_a_draft_outlives_a_reload_until_it_is_said(quick: Lab, sign_in: SignIn) -> None:
    page = open_run(sign_in(), quick, manual(quick))
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


def test_a_rival_is_told_and_keeps_what_was_typed(quick: Lab, sign_in: SignIn) -> None:
    run = manual(quick)
    first, second = open_run(sign_in(), quick, run), open_run(sign_in(), quick, run)
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
    assert len(requests(quick, run)) == 1


def test_what_a_side_reads_is_altered_from_what_was_said(quick: Lab, sign_in: SignIn) -> None:
    page = open_run(sign_in(), quick, manual(quick))
    wait_for(page, "turn_start")
    press(page, "send")
    wait_for(page, "model_completed")

    page.click(".deed:has(#deed-alter) summary")
    expect(page.locator("#deed-alter")).not_to_have_value("")
    page.fill("#deed-alter", "I give up.")
    press(page, "alter")

    expect(page.locator("#pause-text")).to_have_value(re.compile("I give up."))
    expect(page.locator("#transcript article.message")).to_contain_text("altered by researcher")


def test_a_run_is_paused_and_made_manual_from_the_bar(quick: Lab, sign_in: SignIn) -> None:
    page = open_run(sign_in(), quick, quick.start(max_turns=30, judge=False, filter=False))
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


@pytest.fixture(scope="module")
def talk(quick: Lab) -> str:
    """A manual run that waits in its second turn."""
    run = manual(quick, judge=True, max_turns=3)
    for key in ("turn/1/A/prompt", "turn/1/B/prompt", "turn/1/next", "turn/2/A/prompt"):
        say_when_asked(quick, run, key)
    wait_until_asked(quick, run, "turn/2/B/prompt")
    return run


def wait_until_asked(lab: Lab, run: str, key: str) -> None:
    wait_until(lambda: (lab.ask("GET", f"runs/{run}/")["waiting_for"] or {}).get("key") == key, key, seconds=30)


def say_when_asked(lab: Lab, run: str, key: str) -> None:
    wait_until_asked(lab, run, key)
    lab.ask("POST", f"runs/{run}/say/", {"key": key, "action": "default"})


def test_words_are_found_and_their_folds_open(quick: Lab, sign_in: SignIn, talk: str) -> None:
    page = open_run(sign_in(), quick, talk)
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


def test_a_turn_is_gone_to_and_a_message_copied(quick: Lab, sign_in: SignIn, talk: str) -> None:
    page = sign_in()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=quick.url)
    open_run(page, quick, talk)
    page.keyboard.press("t")
    page.select_option("#jump", "2")
    expect(page.locator("#turn-2")).to_be_focused()
    expect(page.locator("#turn-2")).to_be_in_viewport()

    message = quick.ask("GET", f"runs/{talk}/messages/")["results"][0]
    article = page.locator(f"#message-{message['id']}")
    article.get_by_role("button", name="Copy").click()
    expect(page.locator("#announcer")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == message["raw_text"]
    article.locator("a.permalink").click()
    assert page.url.endswith(f"#message-{message['id']}")
    page.wait_for_function("navigator.clipboard.readText().then(text => text === location.href)")


def test_a_branch_is_begun_from_an_edited_message(quick: Lab, sign_in: SignIn, talk: str) -> None:
    page = open_run(sign_in(), quick, talk)
    page.get_by_role("link", name="Branch…").first.click()
    page.fill("#branch-text", "I give you all seven.")
    assert violations(page) == []
    page.click("#page-dialog button.primary")
    page.wait_for_url(lambda url: re.search(r"/runs/[0-9a-f-]{36}/$", url) is not None and talk not in url)

    expect(page.locator("#transcript article.message").first).to_contain_text("I give you all seven.")
    expect(page.locator("#transcript article.message").first).to_contain_text("edited by researcher")
    expect(page.locator("#lineage")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_pages_have_no_violation(quick: Lab, sign_in: SignIn, talk: str, width: int, theme: str) -> None:
    page = sign_in(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.check("#id_mode_manual")
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    page.click("[data-add]")
    assert_fine(page)

    open_run(page, quick, talk)
    wait_for(page, "model_completed", 2)
    page.evaluate("document.querySelectorAll('#panel-talk details').forEach(fold => fold.open = true)")
    assert_fine(page)
    page.evaluate("scrollTo(0, 0)")
    page.click("#enter-reading")
    expect(page.locator("#leave-reading")).to_be_focused()
    expect(page.locator("#reading-head")).to_contain_text("1 of 3 turns")
    expect(page.locator(".site")).to_be_hidden()
    assert_fine(page)
    page.keyboard.press("Escape")
    expect(page.locator("#enter-reading")).to_be_focused()
    page.goto(f"{quick.url}/runs/{talk}/judge/")
    assert_fine(page)


def assert_fine(page: Page) -> None:
    assert violations(page) == []
    sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert sideways <= 0, f"{page.url} scrolls sideways by {sideways} px"


def test_without_a_script_the_same_forms_lead_the_talk(quick: Lab, browser: Browser) -> None:
    run = manual(quick, max_turns=1, filter=False)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{quick.url}/sign-in/")
    page.fill("#id_username", "researcher")
    page.fill("#id_password", PASSWORD)
    page.click("main button.primary")
    wait_until_asked(quick, run, "turn/1/A/prompt")
    open_run(page, quick, run)
    page.locator("#pause-text").press("Control+End")
    page.locator("#pause-text").press_sequentially("\nBe quick.")
    press(page, "send")
    wait_until_asked(quick, run, "turn/1/B/prompt")
    open_run(page, quick, run)

    expect(page.locator("#transcript article.message")).to_have_count(1)
    assert requests(quick, run)[0].endswith("\nBe quick.")
    context.close()
