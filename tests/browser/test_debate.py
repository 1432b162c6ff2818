"""A debate from its set-up to its summary: drafts, a language switched in between, a debater asked again, sources."""

import json
import re

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import LATE, PACED_MODEL, RUN, Lab, SignIn, assert_same_when_opened_now, markup

REQUEST = "How should our lab share one telescope between five groups?"
CARDS = "article:not(.is-live)"


def in_language(page: Page, code: str) -> None:
    page.locator(".account-menu > summary").click()
    page.locator(f"form[action='/language/'] button[value='{code}']").click()
    expect(page.locator("html")).to_have_attribute("lang", code)


def kept(page: Page) -> None:
    """The server has said that it keeps the draft."""
    expect(page.locator("#waiting [data-saved-note]")).not_to_be_empty()


def test_a_debate_of_two_rounds_from_its_set_up_to_its_summary(lab: Lab, sign_in: SignIn) -> None:
    contents = ("It may rain for a week.", "Nobody counts the nights.", "The key is lost.")
    new = [{"id": f"p{number}", "contents": text} for number, text in enumerate(contents, 1)]
    counter = [{"id": "c1", "contents": "A1.p1 forgets the weather."}, {"id": "c2", "contents": "A1.p2 is too slow."}]
    answer = {"speaker": "B", "new_perspectives": new, "counterpoints": counter}
    lab.scripted.answers[LATE] = [404, json.dumps(answer)]  # none the first time, and then always the same one
    page = sign_in()
    page.goto(f"{lab.url}/debate/")
    page.fill("#id_prompt", REQUEST)
    page.select_option("#id_seat-A-model", PACED_MODEL)
    page.select_option("#id_seat-B-model", LATE)
    page.locator("summary", has_text="Refiner").click()
    page.select_option("#id_seat-refiner-model", PACED_MODEL)
    with lab.paced.held():
        page.press("#id_prompt", "Control+Enter")
        page.wait_for_url(RUN)
        live_text_shows_no_brace(page, "#slot-refine")

    expect(page.locator("#pause-text")).to_be_visible()
    with lab.paced.held():
        # Answers join the prompt; what is typed outlives a reload and another language; sent, it is locked
        editor = page.locator("#pause-text")
        expect(editor).to_have_value(re.compile("telescope"))
        reply = page.locator("[data-answer]").first
        reply.fill("At most 500 euros.")
        page.locator("[data-join]").click()
        expect(editor).to_have_value(re.compile(r"\?\n  .*: At most 500 euros\."))
        kept(page)
        editor.press("Control+End")
        reload_while_a_draft_is_sent(page, " Nights are short.")
        expect(editor).to_have_value(re.compile(r"At most 500 euros\.[\s\S]*Nights are short\.$"))
        editor.press("Control+End")
        editor.press_sequentially(" And cold.")
        in_language(page, "zh-hans")
        expect(editor).to_have_value(re.compile(r"Nights are short\. And cold\.$"))
        expect(reply).to_have_value("At most 500 euros.")
        page.locator("#waiting button[value=send]").click()
        expect(page.locator("#slot-prompt")).to_contain_text("Nights are short. And cold.")
        expect(editor).to_have_count(0)
        in_language(page, "en")
        expect(page.locator("#slot-prompt")).to_contain_text("locked")
        expect(page.locator("#path [aria-current=step]")).to_contain_text("Round 1")
        live_text_shows_no_brace(page, "#slot-round-1")
    # A participant fails and is asked again; the draft of the addendum is kept
    addendum = page.locator("#say-form-addendum")
    expect(addendum).to_be_visible()
    trouble = page.locator("#slot-round-1 .trouble[data-seat=B]")
    expect(trouble).to_contain_text("unknown model")
    expect(page.locator(f"#slot-round-1 {CARDS}")).to_have_count(2)
    addendum.fill("There is no money for a second one.")
    trouble.get_by_role("button", name="Ask again").click()
    late = page.locator(f"#slot-round-1 {CARDS}[data-seat=B]")
    expect(late).to_contain_text("It may rain for a week.")
    expect(late).to_contain_text("spoke after the others")
    expect(trouble.get_by_role("button")).to_have_count(0)
    expect(addendum).to_have_value("There is no money for a second one.")
    kept(page)
    page.reload()
    expect(addendum).to_have_value("There is no money for a second one.")
    # The second round
    page.locator("#waiting button[value=round]").click()
    expect(page.locator("#slot-addendum")).to_contain_text("There is no money")
    expect(page.locator("#slot-addendum")).to_contain_text("locked")
    expect(page.locator("#path [aria-current=step]")).to_contain_text("Round 2")
    expect(page.locator(f"#slot-round-2 {CARDS}")).to_have_count(3)
    # The summary
    page.locator("#waiting button[value=summarize]").click()
    source = page.locator("#slot-summary .source").first
    expect(source).to_be_visible()
    expect(page.locator("#ending")).to_contain_text("the summary was given")
    expect(page.locator("#path li").last).to_have_class(re.compile("path-done"))
    assert_same_when_opened_now(page, lambda one: markup(one, "#path", "#transcript", "#slot-offer"))
    target = source.get_attribute("href") or ""
    name = page.locator(f"article:has({target}) .model-name").inner_text()
    expect(source).to_contain_text(name)
    source.click()
    expect(page.locator(target)).to_be_in_viewport()
    assert page.evaluate("location.hash") == target
    page.locator("#offer button[value=summarize]").click()
    expect(page.locator("#slot-summary .superseded")).to_have_count(1)
    expect(page.locator(f"#slot-summary {CARDS}")).to_have_count(2)
    expect(page.locator("#offer")).to_be_visible()


def live_text_shows_no_brace(page: Page, slot: str) -> None:
    live = page.locator(f"{slot} [data-live]")
    expect(live.locator("[data-fields] p").first).not_to_be_empty()
    assert not re.search(r'[{}\[\]]|":', live.first.inner_text())


def reload_while_a_draft_is_sent(page: Page, words: str) -> None:
    """The new page is made of the draft before; only then has the server the last words, and tells the old page."""
    before = page.request.get(page.url).text()
    drafts, pages = held(page, "**/draft/"), held(page, page.url)
    page.keyboard.insert_text(words)
    draft = first(page, drafts)
    page.evaluate("setTimeout(() => location.reload())")
    loading = first(page, pages)
    with page.expect_response("**/draft/"):
        draft.continue_()
    with page.expect_navigation():
        loading.fulfill(body=before, content_type="text/html; charset=utf-8")


def held(page: Page, address: str) -> list[Route]:
    """The first request to this address, which waits to be answered, once it has come."""
    routes: list[Route] = []
    page.route(address, lambda route: route.continue_() if routes else routes.append(route))
    return routes


def first(page: Page, routes: list[Route]) -> Route:
    while not routes:
        page.wait_for_timeout(20)
    return routes[0]


READABLE = """async ([text, fields]) =>
    (await import('/static/stream.js')).readable(text, new Set(fields)).map((one) => [one.section, one.text])"""
JOINED = """async ([prompt, answer]) =>
    (await import('/static/workflows/debate/questions.js')).joined(prompt, 'When?', answer)"""


def test_the_texts_of_a_part_of_an_answer_are_read_and_an_answer_stands_below_its_question(
    lab: Lab, sign_in: SignIn
) -> None:
    page, missing = sign_in(""), [["missing", "a"], ["missing", "b"]]
    page.goto(f"{lab.url}/sign-in/")
    for text, shown in (
        ("", []),
        ('{"new_perspectives": [{"id": "p1", "contents": "Be', [["new_perspectives", "Be"]]),
        ('{"a": 1, "counterpoints": [{"contents": "x\\', [["counterpoints", "x"]]),
        ('{"counterpoints": [{"contents": "\\u4f60\\n\\"{"}]}', [["counterpoints", '你\n"{']]),
        ('{"objective": "O", "missing": ["a", "b"], "x": "y"}', [["objective", "O"], *missing]),
        ('```json\n{"recommended": [{"contents": "R", "sources": ["A1"]}]}\n``` {"x": 1}', [["recommended", "R"]]),
        ("I would rather talk", [["", "I would rather talk"]]),
        ("}]", [["", "}]"]]),
        ('{"objective": "O"}}}]', [["objective", "O"]]),
        ('{"title": "Ferry", "description": "A fer', [["title", "Ferry"], ["description", "A fer"]]),
        ('{"title": "Ferry", "test_cases": [{"input": "[1]"}], "reference_solution": "x"', [["title", "Ferry"]]),
        ("A review. " * 30 + '{"title": 1}', [["", ("A review. " * 30 + '{"title": 1}')]]),
    ):
        fields = ["objective", "missing", "contents", "title", "description"]
        assert page.evaluate(READABLE, [text, fields]) == shown, text
    for prompt, answer, wanted in (
        ("- When?\n  Answer: \n- Who?\n  Answer: ", "Now", "- When?\n  Answer: Now\n- Who?\n  Answer: "),
        ("- When?\n  Answer: Now\n  or then\n", "Later", "- When?\n  Answer: Later\n"),
        ("- When?\n  回答： \n", "现在\n好", "- When?\n  回答：  现在\n  好\n"),
        ("When?\n\nWhy?", "Now", "When?\n  Now\n\nWhy?"),
        ("Do it.", "Now", "Do it.\n\n- When?\n  Now\n"),
    ):
        assert re.sub(" +", " ", page.evaluate(JOINED, [prompt, answer])) == re.sub(" +", " ", wanted), prompt
