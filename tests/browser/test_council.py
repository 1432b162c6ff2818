"""A council in a real browser: asked, watched live, reloaded, a failing member asked again, ranked again, asked on."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import FAILING_MODEL, MEMBERS, QUICK, RUN, Lab, SignIn, assert_same_when_opened_now

THREE = (*MEMBERS, FAILING_MODEL)
SLOTS = """() => Object.fromEntries([...document.querySelectorAll('#transcript [id^=slot-]')]
    .map((slot) => [slot.id, slot.textContent.replace(/\\s+/g, ' ').trim()]))"""


def begin(lab: Lab, *members: str) -> str:
    seats = {f"member-{number}": model for number, model in enumerate(members, 1)}
    [run] = lab.begin("council", {**seats, "chair": QUICK[2]}, {"question": "Why is the sky blue?"})
    return run


def seat(page: Page, models: tuple[str, ...]) -> None:
    """Chooses the members; rows that are too many go, rows that are missing come."""
    rows = page.locator(".model-row")
    while rows.count() > len(models):
        rows.last.locator("[data-remove]").click()
    while rows.count() < len(models):
        page.get_by_role("button", name="Add a member").click()
    for number, model in enumerate(models):
        rows.nth(number).locator("select").select_option(model)


def tab(page: Page, name: str, turn: int, number: int) -> Any:
    return page.locator(f"#tab-panel-{name}-{turn}-member-{number}")


def test_a_council_from_its_question_to_the_next_one(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/council/")
    seat(page, THREE)
    page.select_option("#id_seat-chair-model", MEMBERS[0])
    expect(page.locator("#estimate")).to_contain_text("8 calls")
    page.fill("#id_question", "Why is the")
    page.press("#id_question", "Shift+Enter")
    page.keyboard.type("sky blue?")
    with lab.paced.held():
        page.press("#id_question", "Enter")
        page.wait_for_url(RUN)
        page.evaluate("window.isSame = true")
        # Every member writes into its own tab; one fails and says so on its tab
        expect(page.locator("#slot-reply-1-member-1 [data-live] [data-text]")).not_to_be_empty()
        expect(tab(page, "reply", 1, 1)).to_have_attribute("data-state", "live")
        expect(page.locator("#slot-reply-1-member-1")).to_be_visible()
        expect(tab(page, "review", 1, 1)).to_be_hidden()
        expect(tab(page, "reply", 1, 3)).to_have_attribute("data-state", "failed")
        tab(page, "reply", 1, 2).click()
        expect(page.locator("#slot-reply-1-member-2 [data-live] [data-text]")).not_to_be_empty()
        expect(page.locator("#slot-reply-1-member-1")).to_be_hidden()
        expect(page.locator("#composer-state")).to_contain_text("is queued")

    # Nobody has to reload
    expect(tab(page, "reply", 1, 1)).to_have_attribute("data-state", "done")
    expect(tab(page, "review", 1, 3)).to_be_hidden()
    expect(page.locator("#slot-conclusion-1-chair .conclusion:not(.is-live)")).to_be_visible()
    expect(page.locator("#composer-state")).to_contain_text("Your turn")
    expect(page.locator(".ranking-table")).to_be_visible()
    expect(page.locator("#figures-1")).to_contain_text("Whole turn")
    assert page.evaluate("window.isSame")
    assert_same_when_opened_now(page, lambda one: one.evaluate(SLOTS))
    tab(page, "reply", 1, 2).focus()
    page.keyboard.press("ArrowRight")
    expect(tab(page, "reply", 1, 3)).to_be_focused()
    expect(page.locator("#slot-reply-1-member-3")).to_contain_text("key refused")
    page.locator("#slot-reply-1-member-3").get_by_role("button", name="Ask again").click()
    expect(tab(page, "reply", 1, 3)).to_have_attribute("data-state", "done")
    expect(page.locator("#slot-reply-1-member-3")).to_contain_text("answered after the ranking")

    page.get_by_role("button", name="Rank again").click()
    expect(page.locator("#count-1-2 .ranking-table tbody tr")).to_have_count(3)
    expect(page.locator("#slot-conclusion-1-chair > .conclusion:not(.superseded, .is-live)")).to_be_visible()
    expect(page.locator("#slot-conclusion-1-chair > .superseded")).to_have_count(1)
    expect(page.locator("#composer-state")).to_contain_text("Your turn")

    page.fill("#composer-text", "And why are sunsets red?")
    page.press("#composer-text", "Enter")
    expect(page.locator("#slot-question-2")).to_contain_text("And why are sunsets red?")
    expect(page.locator("#slot-conclusion-2-chair .conclusion:not(.is-live)")).to_be_visible()
    assert page.evaluate("window.isSame")


def test_a_question_asked_too_early_waits_for_its_turn(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    with lab.paced.held():
        run = begin(lab, *MEMBERS)
        page.goto(f"{lab.url}/runs/{run}/")
        expect(page.locator("#slot-question-1")).to_contain_text("sky")
        page.fill("#composer-text", "And the sea?")
        page.press("#composer-text", "Enter")
        expect(page.locator("#queued")).to_contain_text("And the sea?")
        expect(page.locator("#composer-text")).to_have_value("")

    expect(page.locator("#slot-question-2")).to_contain_text("And the sea?")
    expect(page.locator("#queued")).to_be_hidden()


def test_what_stands_in_another_tab_is_found_linked_to_and_read_without_a_script(lab: Lab, sign_in: SignIn) -> None:
    run = begin(lab, QUICK[0], QUICK[1], FAILING_MODEL)
    lab.wait_for(run, "offer")
    page, plain = sign_in(), sign_in(java_script_enabled=False)

    page.goto(f"{lab.url}/runs/{run}/")
    expect(page.locator("#slot-reply-1-member-3")).to_be_hidden()
    page.fill("#find", "key refused")
    expect(page.locator("#found")).to_have_text("1 of 1")
    expect(page.locator("#slot-reply-1-member-3")).to_be_visible()

    said = lab.ask("GET", f"runs/{run}/messages/")["results"]
    [message] = [one["id"] for one in said if one["purpose"] == "reply" and one["seat"] == "member-2"]
    page.goto(f"{lab.url}/runs/{run}/?#message-{message}")
    expect(page.locator(f"#message-{message}")).to_be_in_viewport()

    plain.goto(f"{lab.url}/runs/{run}/")
    for number in (1, 2):
        expect(plain.locator(f"#slot-reply-1-member-{number} .answer")).to_be_visible()
        expect(plain.locator(f"#slot-review-1-member-{number} .extracted")).to_be_visible()
    expect(plain.locator(".ranking-table")).to_be_visible()
    plain.locator("#slot-reply-1-member-3").get_by_role("button", name="Ask again").click()
    plain.wait_for_url(RUN)
    expect(plain.locator(".notices")).not_to_contain_text("else")


def test_members_come_and_go_and_a_council_is_kept(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/council/")
    seat(page, (MEMBERS[0], MEMBERS[0]))
    expect(page.locator(".model-row [data-remove]").first).to_be_disabled()
    page.get_by_role("button", name="Add a member").click()
    expect(page.locator(".model-row")).to_have_count(3)
    expect(page.locator(".model-row").nth(2).locator("button.picked")).to_be_focused()
    page.fill("#id_question", "Half a question")
    page.locator(".presets > summary").click()
    page.fill("#preset_name", "Twins and one")
    page.press("#preset_name", "Enter")
    expect(page.locator(".preset-list")).to_contain_text("Twins and one")
    expect(page.locator("#id_question")).to_have_value("Half a question")

    page.get_by_role("button", name="Delete Twins and one").click()
    expect(page.locator("#confirm")).to_contain_text("Twins and one")
    page.locator("#confirm [data-yes]").click()
    expect(page.locator(".preset-list")).to_have_count(0)
    expect(page.locator("#id_question")).to_have_value("Half a question")
