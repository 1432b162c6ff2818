"""Ten items reviewed without a mouse: scores, labels, a comment on a sentence, and the agreement afterwards."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]

ITEMS = 10


def queue(lab: Lab, name: str, items: int) -> str:
    """The id of a queue over the replies of a judged run, reviewed by its owner."""
    run = lab.start(max_turns=items // 2, judge=True)
    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["ended"], "a run to review", seconds=120)
    rubric = next(one["rubric"]["id"] for one in lab.ask("GET", "review/queues/")["results"])
    experiment = lab.ask("GET", f"runs/{run}/")["experiment"]
    body = {"name": name, "rubric": rubric, "filters": {"experiment": experiment}, "members": ["researcher"]}
    made = lab.ask("POST", "review/queues/", body)
    assert made["items"] == items
    return str(made["id"])


def begin(page: Page, lab: Lab, queue: str) -> None:
    page.goto(f"{lab.url}/review/{queue}/")
    page.locator("#next-pair").focus()
    page.keyboard.press("Enter")


def score(page: Page, number: int) -> None:
    expect(page.locator("#review[data-script] h1")).to_have_text(f"Item {number}")  # keys work from then on
    page.keyboard.press("4")
    expect(page.locator("[name='score.cooperation']:checked")).to_have_value("0.5")
    page.keyboard.press("1")
    expect(page.locator("[name='score.goal_deviation']:checked")).to_have_value("0")
    page.keyboard.press("m")
    expect(page.locator("[value=offer]")).to_be_checked()


def test_ten_items_are_reviewed_by_keyboard_alone(lab: Lab, sign_in: SignIn) -> None:
    page, reviewed = sign_in(), queue(lab, "By keyboard", ITEMS)
    begin(page, lab, reviewed)

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
    answers = lab.ask("GET", f"review/queues/{reviewed}/answers/")["results"]
    assert len(answers) == ITEMS
    assert {answer["scores"]["cooperation"] for answer in answers} == {0.5}
    [comment] = [comment for answer in answers for comment in answer["comments"]]
    assert comment["text"] == "It begins well."
    text = next(
        one["text"]
        for one in lab.ask("GET", f"review/items/{answers[0]['item']}/")["messages"]
        if one["id"] == comment["message"]
    )
    assert text[comment["start"] : comment["end"]] == comment["quote"]

    page.goto(f"{lab.url}/review/{reviewed}/agreement/")
    expect(page.get_by_role("region", name="Judge and people")).to_contain_text(str(ITEMS))
    assert violations(page) == []


def test_the_last_answer_is_taken_back_and_sent_again(lab: Lab, sign_in: SignIn) -> None:
    page, reviewed = sign_in(), queue(lab, "Taken back", 2)
    begin(page, lab, reviewed)
    for number in (1, 2):
        score(page, number)
        page.keyboard.press("n")

    page.get_by_role("button", name="Take back my last answer").click()
    expect(page.locator("#review[data-script] h1")).to_have_text("Item 2")
    expect(page.locator("[name='score.cooperation']:checked")).to_have_value("0.5")
    page.keyboard.press("2")
    expect(page.locator("[name='score.cooperation']:checked")).to_have_value("-0.5")
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("Taken back")

    versions = [one["version"] for one in lab.ask("GET", f"review/queues/{reviewed}/answers/")["results"]]
    assert sorted(versions) == [1, 1, 2]
