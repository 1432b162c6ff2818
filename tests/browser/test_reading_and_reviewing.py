"""Runs are tagged, compared, noted and reviewed without a mouse."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import SIDEWAYS, Lab, SignIn, violations
from tests.fixtures import wait_until

ITEMS = 4


def tick(page: Page, experiment: str) -> None:
    """All runs of the experiment: they are one row."""
    page.locator(f"input[name=experiment][value='{experiment}']").focus()
    page.keyboard.press("Space")


def top_of(page: Page, column: int) -> int:
    return int(page.evaluate(f"document.getElementById('compare-column-{column}').scrollTop"))


def test_runs_are_tagged_compared_and_noted_by_keyboard(lab: Lab, sign_in: SignIn) -> None:
    first = lab.start(max_turns=3, judge=False, filter=False)
    lab.wait_for(first, "ended")
    message = next(one for one in lab.ask("GET", f"runs/{first}/messages/")["results"] if one["turn"] == 2)
    changed = [*message["raw_text"].split(" ")[:-1], "otherwise."]
    other = lab.ask("POST", f"messages/{message['id']}/branch/", {"text": " ".join(changed)})["id"]
    lab.wait_for(other, "ended")

    experiment = lab.ask("GET", f"runs/{first}/")["experiment"]
    page = sign_in()
    page.goto(f"{lab.url}/runs/?whose=mine")
    tick(page, experiment)
    page.locator("#chosen-tag").focus()
    page.keyboard.type("Odd ends")
    page.keyboard.press("Enter")
    expect(page.locator(".run-list .tag")).to_have_count(1)

    tick(page, experiment)
    page.locator("#chosen-tag").focus()
    expect(page.locator("#known-tags option[value='Odd ends']")).to_have_count(1)
    expect(page.locator("#chosen-tag")).to_be_focused()
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/compare/?run=*")
    place = page.locator("#compare-place")
    assert place.get_attribute("data-of") != "0"
    page.keyboard.press("n")
    expect(place).to_contain_text("Difference 1 of")
    expect(page.locator(".compared.current")).to_have_count(2)
    expect(page.locator("#compare-column-2 .compared.current ins")).to_contain_text("otherwise.")
    page.keyboard.press("n")
    expect(place).to_contain_text("Difference 2 of")
    page.keyboard.press("p")
    expect(place).to_contain_text("Difference 1 of")
    # Both columns are scrolled together, or not
    page.set_viewport_size({"width": 1280, "height": 500})
    page.locator("#compare-column-1").focus()
    page.keyboard.press("End")
    wait_until(lambda: top_of(page, 2) > 0, "the other column to follow")
    page.locator("#scroll-together").focus()
    page.keyboard.press("Space")
    page.locator("#compare-column-1").focus()
    page.keyboard.press("Home")
    wait_until(lambda: top_of(page, 1) == 0, "the column to be at its beginning")
    assert top_of(page, 2) > 0
    # On a narrow screen one at a time is shown
    page.set_viewport_size({"width": 360, "height": 800})
    page.reload()
    assert page.evaluate(SIDEWAYS) <= 0
    expect(page.locator("#compare-column-2")).to_be_hidden()
    page.locator("#compare-tab-1").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#compare-column-2")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator("#compare-column-2 .compared.current")).to_be_in_viewport()
    assert violations(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})

    page.goto(f"{lab.url}/runs/{first}/")
    noted = page.locator("#transcript article.message").first
    noted.get_by_role("link", name="Note").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#page-dialog textarea")).to_be_focused()
    page.keyboard.type("It **begins** well.")
    assert violations(page) == []
    page.get_by_role("button", name="Save the note").focus()
    page.keyboard.press("Enter")
    expect(noted.locator(".person-note strong")).to_have_text("begins")


def score(page: Page, number: int) -> None:
    expect(page.locator("#review[data-script] h1")).to_have_text(f"Item {number}")  # keys work from then on
    page.keyboard.press("4")
    expect(page.locator("[name='score.cooperation']:checked")).to_have_value("0.5")
    page.keyboard.press("1")
    expect(page.locator("[name='score.goal_deviation']:checked")).to_have_value("0")
    page.keyboard.press("m")
    expect(page.locator("[value=offer]")).to_be_checked()


def test_items_are_reviewed_by_keyboard_and_the_last_answer_is_taken_back(lab: Lab, sign_in: SignIn) -> None:
    run = lab.start(max_turns=ITEMS // 2, filter=False)
    lab.wait_for(run, "ended")
    rubrics = [one["rubric"] for one in lab.ask("GET", "review/queues/")["results"]]
    rubric = next(one["id"] for one in rubrics if "cooperation" in [scale["name"] for scale in one["scales"]])
    filters = {"experiment": lab.ask("GET", f"runs/{run}/")["experiment"]}
    body = {"name": "By keyboard", "rubric": rubric, "filters": filters, "members": ["researcher"]}
    made = lab.ask("POST", "review/queues/", body)
    assert made["items"] == ITEMS

    page = sign_in()
    page.goto(f"{lab.url}/review/{made['id']}/")
    page.locator("#next-pair").focus()
    page.keyboard.press("Enter")
    for number in range(1, ITEMS + 1):
        score(page, number)
        if number == 1:
            page.keyboard.press(".")
            page.keyboard.press("c")
            page.keyboard.type("It begins well.")
            page.keyboard.press("Escape")
            expect(page.locator("#draft-note")).not_to_be_empty()
        page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("By keyboard")

    page.get_by_role("button", name="Take back my last answer").click()
    expect(page.locator("#review[data-script] h1")).to_have_text(f"Item {ITEMS}")
    expect(page.locator("[name='score.cooperation']:checked")).to_have_value("0.5")
    page.keyboard.press("2")
    expect(page.locator("[name='score.cooperation']:checked")).to_have_value("-0.5")
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("By keyboard")

    answers = lab.ask("GET", f"review/queues/{made['id']}/answers/")["results"]
    assert sorted(answer["version"] for answer in answers) == [*([1] * ITEMS), 2]
    assert sorted(answer["scores"]["cooperation"] for answer in answers) == [-0.5, *([0.5] * ITEMS)]
    [comment] = [comment for answer in answers for comment in answer["comments"]]
    assert comment["text"] == "It begins well."
    item = next(answer["item"] for answer in answers if answer["comments"])
    said = lab.ask("GET", f"review/items/{item}/")["messages"]
    text = next(one["text"] for one in said if one["id"] == comment["message"])
    assert text[comment["start"] : comment["end"]] == comment["quote"]
    page.get_by_role("link", name="Agreement").click()
    expect(page.get_by_role("region", name="Judge and people")).to_contain_text(str(ITEMS))
