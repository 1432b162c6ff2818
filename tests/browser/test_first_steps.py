"""From an empty data directory to the first answer of a model: one command, and then only a browser."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.arenasite.platforms import Platform
from tests.browser.conftest import RUN, OpenPage, violations
from tests.browser.interactions import Count, Newcomer
from tests.parts.simulated import running

PASSWORD = "four plain words together"
ANSWERS = "#transcript article.message:not(.is-live)"
MOST = Count(clicks=11, keys=0, texts=4)
SECONDS = 120  # from the command to the first answer


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
    assert (count.keys, count.texts) == (MOST.keys, MOST.texts)
    assert 0 < count.clicks <= MOST.clicks
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
