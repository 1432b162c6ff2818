"""What a researcher most often comes for is a few clicks away from home."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import RUN, Lab, SignIn
from tests.browser.interactions import Newcomer
from tests.browser.test_battles import EXPERIMENT
from tests.cases import each_case

PROMPT = "Share seven solar panels between two villages."
MOST_CLICKS = 3


@each_case(
    "workflow, field",
    [
        ("Arena", "Prompt for both"),
        ("StarChamber", "First message"),
        ("Council", "Question"),
        ("Debate", "Topic of the debate"),
        ("Battles", ""),
        ("Coding", ""),
    ],
)
def test_each_workflow_is_started_from_home(lab: Lab, sign_in: SignIn, workflow: str, field: str) -> None:
    newcomer = Newcomer(sign_in("researcher"))
    page = newcomer.page
    page.goto(f"{lab.url}/")
    page.get_by_role("region", name="What do you want to do?").get_by_role("link", name=workflow).click()
    if field:
        newcomer.write(page.get_by_label(field, exact=True), PROMPT)
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(f"{RUN.pattern}|{EXPERIMENT.pattern}"))
    assert (newcomer.count.keys, newcomer.count.texts) == (0, int(bool(field)))
    assert 0 < newcomer.count.clicks <= MOST_CLICKS

    expect(page.locator("#status")).to_have_attribute("data-state", re.compile("queued|running|waiting|completed"))
    kind, number = re.findall(r"/(runs|experiments)/([0-9a-f-]{36})/", page.url)[0]
    lab.ask("POST", f"{kind}/{number}/stop/")
