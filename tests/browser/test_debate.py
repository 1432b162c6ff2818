"""A debate from its set-up to its summary: drafts, a language switched in between, a debater asked again, sources."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PACED_MODEL, Lab, SignIn, settled, violations
from tests.fixtures import wait_until
from tests.scripted import Scripted, serving

pytestmark = [pytest.mark.browser, pytest.mark.system]

RUN = re.compile(r"/runs/[0-9a-f-]{36}/")
REQUEST = "How should our lab share one telescope between five groups?"
CARDS = "article:not(.is-live)"
SEATS = {"A": "sim/cooperative", "B": "sim/competitive", "C": "sim/neutral"}
TOOLS = {"refiner": "sim/neutral", "summarizer": "sim/drifting"}
LATE = "scripted/late"
MISSING = [["missing", "a"], ["missing", "b"]]


def points(speaker: str, *contents: str) -> str:
    new = [{"id": f"p{number}", "contents": text} for number, text in enumerate(contents, 1)]
    counter = [{"id": "c1", "contents": "A1.p1 forgets the weather."}, {"id": "c2", "contents": "A1.p2 is too slow."}]
    return json.dumps({"speaker": speaker, "new_perspectives": new, "counterpoints": counter})


@pytest.fixture(scope="module")
def scripted(lab: Lab) -> Iterator[Scripted]:
    """A model that gives no answer the first time, and then always the same one."""
    scripted = Scripted()
    scripted.is_over_http = True
    with serving(scripted, over_http=True) as base_url:
        lab.manage("add_provider", "--name", "scripted", "--base-url", base_url, "--allow-private", "--model", LATE)
        yield scripted


def fail_once(scripted: Scripted) -> None:
    answer = points("B", "It may rain for a week.", "Nobody counts the nights.", "The key is lost.")
    scripted.answers[LATE] = [404, answer]


def begin(lab: Lab, seats: dict[str, str] | None = None, **config: Any) -> str:
    """The id of a new debate of the researcher's."""
    cast = {seat: {"model": model} for seat, model in {**SEATS, **TOOLS, **(seats or {})}.items()}
    body = {"workflow": "debate", "config": {"prompt": REQUEST, **config}, "cast": cast}
    experiment = lab.ask("POST", "experiments/", body)
    [run] = lab.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
    return str(run["id"])


def pause(lab: Lab, run: str) -> dict[str, Any]:
    def looked() -> Any:
        found = lab.ask("GET", f"runs/{run}/")
        return found["waiting_for"] or found["offer"]

    return dict(wait_until(looked, "the debate to wait", seconds=90))


def say(lab: Lab, run: str, action: str, text: str = "") -> None:
    key = pause(lab, run)["key"]
    lab.ask("POST", f"runs/{run}/say/", {"key": key, "action": action, "text": text})
    wait_until(lambda: pause(lab, run)["key"] != key, "the debate to go on", seconds=90)


def in_language(page: Page, code: str) -> None:
    page.locator(f"form[action='/language/'] button[value='{code}']").click()
    expect(page.locator("html")).to_have_attribute("lang", code)


def kept(page: Page, place: str) -> None:
    """The server has said that it keeps the draft."""
    expect(page.locator(f"{place} [data-saved-note]")).not_to_be_empty()


def test_a_debate_of_two_rounds_from_its_set_up_to_its_summary(lab: Lab, sign_in: SignIn, scripted: Scripted) -> None:
    fail_once(scripted)
    page = sign_in()
    page.goto(f"{lab.url}/debate/")
    page.fill("#id_prompt", REQUEST)
    page.select_option("#id_seat-A-model", PACED_MODEL)
    page.select_option("#id_seat-B-model", LATE)
    page.select_option("#id_seat-refiner-model", PACED_MODEL)
    with lab.held():
        page.press("#id_prompt", "Control+Enter")
        page.wait_for_url(RUN)
        live_text_shows_no_brace(page, "#slot-refine")

    expect(page.locator("#pause-text")).to_be_visible()
    with lab.held():
        the_final_prompt_is_written(page)
        live_text_shows_no_brace(page, "#slot-round-1")
    somebody_fails_and_is_asked_again(page)
    the_second_round(page)
    the_summary(page)


def live_text_shows_no_brace(page: Page, slot: str) -> None:
    live = page.locator(f"{slot} [data-live]")
    expect(live.locator("[data-points] p").first).not_to_be_empty()
    assert not re.search(r'[{}\[\]]|":', live.first.inner_text())


def the_final_prompt_is_written(page: Page) -> None:
    """Answers join the prompt; what is typed outlives a reload and another language; sent, it is locked."""
    editor = page.locator("#pause-text")
    expect(editor).to_have_value(re.compile("telescope"))
    answer = page.locator("[data-answer]").first
    answer.fill("At most 500 euros.")
    page.locator("[data-join]").click()
    expect(editor).to_have_value(re.compile(r"\?\n  .*: At most 500 euros\."))
    editor.press("Control+End")
    editor.press_sequentially(" Nights are short.")
    kept(page, "#waiting")
    page.reload()
    expect(editor).to_have_value(re.compile(r"At most 500 euros\.[\s\S]*Nights are short\.$"))
    editor.press("Control+End")
    editor.press_sequentially(" And cold.")
    in_language(page, "zh-hans")
    expect(editor).to_have_value(re.compile(r"Nights are short\. And cold\.$"))
    expect(answer).to_have_value("At most 500 euros.")
    page.locator("#waiting button[value=send]").click()
    expect(page.locator("#slot-prompt")).to_contain_text("Nights are short. And cold.")
    expect(editor).to_have_count(0)
    in_language(page, "en")
    expect(page.locator("#slot-prompt")).to_contain_text("locked")
    expect(page.locator("#path [aria-current=step]")).to_contain_text("Round 1")


def somebody_fails_and_is_asked_again(page: Page) -> None:
    """The addendum that is being written is not lost over it."""
    addendum = page.locator("#say-form-addendum")
    expect(addendum).to_be_visible()
    trouble = page.locator("#slot-round-1 .trouble[data-seat=B]")
    expect(trouble).to_contain_text("unknown model")
    expect(page.locator(f"#slot-round-1 {CARDS}")).to_have_count(2)
    addendum.fill("There is no money for a second one.")
    trouble.get_by_role("button", name="Ask again").click()
    answer = page.locator(f"#slot-round-1 {CARDS}[data-seat=B]")
    expect(answer).to_contain_text("It may rain for a week.")
    expect(answer).to_contain_text("spoke after the others")
    expect(trouble.get_by_role("button")).to_have_count(0)
    expect(addendum).to_have_value("There is no money for a second one.")
    kept(page, "#waiting")
    page.reload()
    expect(addendum).to_have_value("There is no money for a second one.")


def the_second_round(page: Page) -> None:
    page.locator("#waiting button[value=round]").click()
    expect(page.locator("#slot-addendum")).to_contain_text("There is no money")
    expect(page.locator("#slot-addendum")).to_contain_text("locked")
    expect(page.locator("#path [aria-current=step]")).to_contain_text("Round 2")
    expect(page.locator(f"#slot-round-2 {CARDS}")).to_have_count(3)


def the_summary(page: Page) -> None:
    page.locator("#waiting button[value=summarize]").click()
    source = page.locator("#slot-summary .source").first
    expect(source).to_be_visible()
    expect(page.locator("#ending")).to_contain_text("the summary was given")
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


def test_what_another_tab_has_sent_first_is_said_and_nothing_typed_is_lost(lab: Lab, sign_in: SignIn) -> None:
    run = begin(lab)
    page = sign_in()
    key = pause(lab, run)["key"]
    page.goto(f"{lab.url}/runs/{run}/")
    page.fill("#pause-text", "My own words.")
    kept(page, "#waiting")

    lab.ask("POST", f"runs/{run}/say/", {"key": key, "action": "send", "text": "Their words."})

    notice = page.locator("#waiting-notice")
    expect(notice).to_contain_text("sent a prompt first")
    notice.locator("summary").click()
    expect(notice.locator(".kept")).to_have_text("My own words.")
    expect(page.locator("#slot-prompt")).to_contain_text("Their words.")
    lab.ask("POST", f"runs/{run}/stop/")


def test_a_debate_watched_live_equals_the_same_page_reloaded(lab: Lab, sign_in: SignIn) -> None:
    run = begin(lab, refine=False)
    page = sign_in()
    page.goto(f"{lab.url}/runs/{run}/")
    page.locator("#waiting button[value=send]").click()
    page.locator("#waiting button[value=summarize]").click()
    expect(page.locator("#offer")).to_be_visible()
    expect(page.locator("#path li").last).to_have_class(re.compile("path-done"))
    live = settled(page, content)
    page.reload()
    expect(page.locator("#offer")).to_be_visible()

    assert content(page) == live


def content(page: Page) -> list[str]:
    parts = page.evaluate("['#path', '#transcript', '#slot-offer'].map(s => document.querySelector(s).innerHTML)")
    text = re.sub(r' (open|tabindex)="[^"]*"', "", " ".join(parts))
    return re.sub(r"\s+", " ", text).replace("<", "\n<").replace(" \n", "\n").strip().splitlines()


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("", []),
        ('{"new_perspectives": [{"id": "p1", "cont', []),
        ('{"new_perspectives": [{"id": "p1", "contents": "Be', [["new_perspectives", "Be"]]),
        ('{"a": 1, "counterpoints": [{"contents": "x\\', [["counterpoints", "x"]]),
        ('{"counterpoints": [{"contents": "\\u4f6', []),
        ('{"counterpoints": [{"contents": "\\u4f60\\n\\"{"}]}', [["counterpoints", '你\n"{']]),
        ('{"objective": "O", "missing": ["a", "b"], "x": "y"}', [["objective", "O"], *MISSING]),
        ('```json\n{"recommended": [{"contents": "R", "sources": ["A1"]}]}\n``` {"x": 1}', [["recommended", "R"]]),
        ("```js", []),
        ("I would rather talk", [["", "I would rather talk"]]),
        ("}]", [["", "}]"]]),
        ('{"objective": "O"}}}]', [["objective", "O"]]),
    ],
)  # fmt: skip
def test_the_texts_of_a_part_of_an_answer(lab: Lab, parts_page: Page, answer: str, shown: list[list[str]]) -> None:
    script = "async (text) => (await import('/static/partial.js')).readable(text).map((one) => [one.section, one.text])"

    assert parts_page.evaluate(script, answer) == shown


@pytest.mark.parametrize(
    ("prompt", "answer", "wanted"),
    [
        ("- When?\n  Answer: \n- Who?\n  Answer: ", "Now", "- When?\n  Answer: Now\n- Who?\n  Answer: "),
        ("- When?\n  Answer: Now\n  or then\n", "Later", "- When?\n  Answer: Later\n"),
        ("- When?\n  回答： \n", "现在\n好", "- When?\n  回答：  现在\n  好\n"),
        ("When?\n\nWhy?", "Now", "When?\n  Now\n\nWhy?"),
        ("Do it.", "Now", "Do it.\n\n- When?\n  Now\n"),
    ],
)
def test_an_answer_stands_below_its_question(parts_page: Page, prompt: str, answer: str, wanted: str) -> None:
    script = "async (given) => (await import('/static/questions.js')).joined(given[0], 'When?', given[1])"

    joined = parts_page.evaluate(script, [prompt, answer])
    assert re.sub(" +", " ", joined) == re.sub(" +", " ", wanted)


@pytest.fixture
def parts_page(lab: Lab, sign_in: SignIn) -> Page:
    return sign_in()


@pytest.fixture(scope="module")
def held(lab: Lab, scripted: Scripted) -> dict[str, str]:
    """Debates at every stage: one that waits for its prompt, one after a round in which somebody failed, one that is
    over, and one that a limit has stopped.
    """
    fail_once(scripted)
    runs = {
        "asked": begin(lab),
        "failed": begin(lab, {"B": LATE}),
        "done": begin(lab),
        "limited": begin(lab, limits={"tokens": 300}, mode="automatic"),
    }
    say(lab, runs["failed"], "send")
    for action, text in (("send", ""), ("round", "It must be cheap."), ("summarize", "")):
        say(lab, runs["done"], action, text)
    wait_until(lambda: lab.ask("GET", f"runs/{runs['limited']}/")["ended"], "the limit", seconds=60)
    return runs


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_violation_and_nothing_sideways(
    lab: Lab, sign_in: SignIn, held: dict[str, str], width: int, theme: str
) -> None:
    page = sign_in(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.context.add_cookies([{"name": "arena_theme", "value": theme, "url": lab.url}])
    found = {}
    for name, path in {"set-up": "debate/", **{name: f"runs/{run}/" for name, run in held.items()}}.items():
        page.goto(f"{lab.url}/{path}")
        page.evaluate("for (const fold of document.querySelectorAll('main details:not(.exports)')) fold.open = true")
        found[name] = violations(page)
        sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sideways <= 0, f"{name} scrolls sideways by {sideways} px"

    assert {name: lines for name, lines in found.items() if lines} == {}
