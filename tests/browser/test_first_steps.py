"""From an empty data directory to the first answer of a model, and from home to a run, in a few clicks.

What a person does on the pages is counted in the browser, so that nothing goes past the count.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.arenasite.platforms import Platform
from tests.browser.conftest import RUN, Lab, OpenPage, SignIn, violations
from tests.browser.test_battles import EXPERIMENT
from tests.parts.simulated import running

PASSWORD = "four plain words together"
COUNTING = """
const count = (name) => sessionStorage.setItem(name, 1 + Number(sessionStorage.getItem(name)));
addEventListener("pointerdown", (event) => event.isTrusted && count("clicks"), true);
addEventListener("keydown", (event) => event.isTrusted && count("keys"), true);
addEventListener("input", (event) => event.inputType && count("texts"), true);
"""
COUNTED = "['clicks', 'keys', 'texts'].map((name) => Number(sessionStorage.getItem(name)))"
ANSWERS = "#transcript article.message:not(.is-live)"
MOST_CLICKS, MOST_CLICKS_FROM_HOME = 11, 3
SECONDS = 120  # from the command to the first answer


@dataclass(frozen=True)
class Count:
    """keys: that were pressed. texts: that were written into a field at once."""

    clicks: int
    keys: int
    texts: int


class Newcomer:
    """Somebody at a page; what they do counts from the next page on that is opened."""

    def __init__(self, page: Page) -> None:
        page.add_init_script(f"{{{COUNTING}}}")
        self.page = page

    def write(self, field: Locator, text: str) -> None:
        """A click comes first where the cursor is elsewhere."""
        if not field.evaluate("field => field === document.activeElement"):
            field.click()
        self.page.keyboard.insert_text(text)

    @property
    def count(self) -> Count:
        return Count(*self.page.evaluate(COUNTED))


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[], Platform]]:
    """Starts a platform in an empty directory, as `make run` does."""
    begun: list[Platform] = []

    def begin() -> Platform:
        begun.append(Platform(tmp_path / "data", is_new=True))
        return begun[-1].wait_until_ready()

    yield begin
    for platform in begun:
        platform.process.terminate()
        platform.process.wait(80)


def test_from_an_empty_directory_to_the_first_answer(
    begin: Callable[[], Platform], open_page: OpenPage, record_property: Callable[[str, object], None]
) -> None:
    began = time.monotonic()
    platform = begin()
    [link] = re.findall(r"Set up +(\S+)", platform.output)
    page = open_page()
    newcomer = Newcomer(page)
    page.goto(link)
    create_the_administrator(newcomer)
    with running() as server:
        add_the_server(newcomer, server.base_url)
        page.get_by_role("button", name="Save and continue").click()
        page.get_by_role("button", name="Start run").click()
        page.wait_for_url(RUN)
        expect(page.locator(ANSWERS).first).not_to_be_empty()
    seconds, count = time.monotonic() - began, newcomer.count

    record_property("seconds", round(seconds))
    record_property("interactions", str(count))
    assert (count.keys, count.texts) == (0, 4)
    assert 0 < count.clicks <= MOST_CLICKS
    assert seconds < SECONDS


def create_the_administrator(newcomer: Newcomer) -> None:
    page = newcomer.page
    newcomer.write(page.get_by_label("Name"), "ada")
    newcomer.write(page.get_by_label("Password", exact=True), PASSWORD)
    newcomer.write(page.get_by_label("New password again"), PASSWORD)
    assert violations(page) == []
    page.get_by_role("button", name="Create administrator").click()
    page.wait_for_url("**/start/provider/")


def add_the_server(newcomer: Newcomer, address: str) -> None:
    """One on this machine is refused until it is allowed, which the same form does."""
    page = newcomer.page
    page.get_by_role("link", name="Other server").click()
    newcomer.write(page.get_by_label("Base URL"), address)
    test, contacted = page.get_by_role("button", name="Test connection"), page.locator("#contacted")
    test.click()
    expect(contacted.locator(".failure")).to_contain_text("Allow private addresses")
    page.get_by_label("Allow private addresses").click()
    test.click()
    expect(contacted.locator(".people")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Add provider").click()
    page.wait_for_url("**/start/models/")


def test_each_workflow_is_started_from_home_in_a_few_clicks(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in("researcher")
    newcomer = Newcomer(page)
    for workflow, field in (
        ("Arena", "Prompt for both"),
        ("StarChamber", "First message"),
        ("Council", "Question"),
        ("Debate", "Topic of the debate"),
        ("Battles", ""),
        ("Coding", ""),
    ):
        page.goto(f"{lab.url}/")
        page.evaluate("sessionStorage.clear()")
        page.get_by_role("region", name="What do you want to do?").get_by_role("link", name=workflow).click()
        if field:
            newcomer.write(page.get_by_label(field, exact=True), "Share seven solar panels between two villages.")
        page.get_by_role("button", name="Start run").click()
        page.wait_for_url(re.compile(f"{RUN.pattern}|{EXPERIMENT.pattern}"))
        count = newcomer.count
        assert (count.keys, count.texts) == (0, int(bool(field))), workflow
        assert 0 < count.clicks <= MOST_CLICKS_FROM_HOME, workflow

        expect(page.locator("#status")).to_have_attribute("data-state", re.compile("queued|running|waiting|completed"))
        kind, number = re.findall(r"/(runs|experiments)/([0-9a-f-]{36})/", page.url)[0]
        lab.ask("POST", f"{kind}/{number}/stop/")
