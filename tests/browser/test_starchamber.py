"""A researcher questions a model: Enter, tokens by arrow keys, an answer once more, a branch, a reload."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import QUICK, RUN, Lab, SignIn, assert_same_when_opened_now, markup, violations

ANSWERS = "#transcript .answer:not(.is-live)"
PERSONA = "<script>alert(1)</script>"
COMPOSED = """options => document.getElementById("composer-text").dispatchEvent(
    new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true, ...options}))"""


def test_a_talk_from_its_set_up_to_a_branch(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/starchamber/")
    page.fill("#id_first_message", "What did you see last night?")
    for fold in page.locator("#setup details.advanced > summary").all():
        fold.click()
    page.fill("#id_persona", PERSONA)
    page.select_option("#id_preset", "roleplay-character")
    page.press("#id_first_message", "Control+Enter")
    page.wait_for_url(RUN)
    state = page.locator("#composer-state")
    expect(state).to_contain_text("Your turn")
    expect(page.locator(ANSWERS)).to_have_count(1)
    expect(page.locator("#transcript [data-persona]").first).to_have_text(PERSONA)

    text, last = page.locator("#composer-text"), page.locator("#transcript .question").last
    text.fill("And what")
    text.press("Shift+Enter")
    text.press_sequentially("did it sound like?")
    text.press("Enter")
    expect(text).to_be_disabled()
    expect(page.locator("#composer-state")).to_contain_text("answering")
    expect(last).to_contain_text("And what\ndid it sound like?", use_inner_text=True)
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(text).to_be_focused()
    expect(text).to_have_value("")
    expect(last.locator("[data-persona]")).to_have_text(PERSONA)
    page.click("button[value=regenerate]")
    expect(page.locator(ANSWERS)).to_have_count(3)
    expect(page.locator(".superseded summary").first).to_contain_text("Answer 1 of 2")
    expect(page.locator(ANSWERS).last).to_contain_text("Answer 2 of 2")
    expect(state).to_contain_text("Your turn")
    expect(page.locator("#figures")).to_contain_text("+ 1 replaced")
    expect(page.locator(".judged")).to_have_count(3)
    assert_same_when_opened_now(page, lambda one: markup(one, "#transcript", "#slot-metrics-model", "#figures"))
    # One tab stop for the whole answer; the arrow keys move, and each token says how likely it was
    fold = page.locator(f"{ANSWERS}:not(.superseded) .tokens-fold").last
    fold.locator("summary").first.click()
    tokens = fold.locator("[role=option]")
    expect(tokens.first).to_be_visible()
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
    assert violations(page) == []
    page.evaluate("localStorage.clear()")
    fold.locator("summary").first.click()

    parent = page.url
    page.locator("#transcript .question").last.get_by_role("link", name="Edit and branch").click()
    expect(page.locator("#page-dialog #branch-text")).to_have_value("And what\ndid it sound like?")
    page.fill("#page-dialog #branch-text", "And what did it smell like?")
    page.locator("#page-dialog button.primary").click()
    page.wait_for_url(lambda url: RUN.search(url) is not None and url != parent)
    expect(page.locator("#transcript .question").last).to_contain_text("smell like")
    expect(page.locator(ANSWERS)).to_have_count(2)


def test_a_draft_outlives_a_reload_a_refusal_and_a_rival_and_ending_asks_first(lab: Lab, sign_in: SignIn) -> None:
    page, rival = sign_in(), sign_in()
    [run] = lab.begin("starchamber", {"model": QUICK[0]}, {"first_message": "What did you see?", "judge": False})
    lab.wait_for(run, "waiting_for")
    text, state = page.locator("#composer-text"), page.locator("#composer-state")
    for one in (page, rival):
        one.goto(f"{lab.url}/runs/{run}/")
        expect(one.locator("#composer-text")).to_be_enabled()
    text.fill("My long thought")
    page.reload()
    expect(text).to_have_value("My long thought")

    page.route("**/say/", lambda route: route.fulfill(status=409, json={"problem": "Something else was said."}))
    text.press("Enter")
    expect(page.locator("#composer-problem")).to_contain_text("What you wrote is still here")
    expect(text).to_have_value("My long thought")
    page.unroute("**/say/")

    rival.fill("#composer-text", "I am first")
    rival.press("#composer-text", "Enter")
    expect(page.locator("#transcript .question").last).to_contain_text("I am first")
    expect(state).to_contain_text("Your turn")
    expect(text).to_have_value("My long thought")

    # Enter that ends a composition sends nothing, the next one does
    questions = page.locator("#transcript .question")
    text.fill("にほん")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/say/") else None)
    for composing in ({"isComposing": True}, {"keyCode": 229}):
        page.evaluate(COMPOSED, composing)
    expect(text).to_have_value("にほん")
    assert sent == []
    text.press("Enter")
    expect(questions.last).to_contain_text("にほん")
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(questions).to_have_count(3)
    assert len(sent) == 1

    page.click("#composer button[value=end]")
    page.click("#end-dialog button[value=no]")
    expect(text).to_be_enabled()
    page.click("#composer button[value=end]")
    page.click("#end-dialog button[value=yes]")
    expect(page.locator("#ending")).to_be_visible()
    expect(state).to_contain_text("The run has ended")
