"""The file of a long run is made by a worker while somebody watches, and saved when it is there."""

import os
import signal

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]

TURNS = 31


@pytest.fixture(scope="module")
def long(lab: Lab) -> str:
    """A run of 62 messages, imported."""
    run = lab.start(judge=False, filter=False)
    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["ended"], "a run to take words from", seconds=60)
    record = lab.ask("GET", f"runs/{run}/report/")
    words = [{name: row[name] for name in ("seat", "model", "text")} for row in record["messages"]]
    messages = [{**row, "turn": turn} for turn in range(1, TURNS + 1) for row in words]
    record |= {"messages": messages, "calls": [], "steps": [], "run": {"state": "completed"}}
    return str(lab.ask("POST", "runs/import/", record)["id"])


def test_it_is_saved_by_itself_even_where_an_answer_never_comes(lab: Lab, sign_in: SignIn, long: str) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/runs/{long}/")
    unanswered: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.resource_type == "fetch" and not unanswered:
            unanswered.append(route)
        else:
            route.continue_()

    page.route("**/files/**", answer)
    workers = lab.platform.pids("reports")
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    try:
        page.locator(".exports summary").click()
        page.locator(".exports button[value=csv]").click()
        expect(page.locator("#file")).to_contain_text("Waiting for a worker")
        assert violations(page) == []
        with page.expect_download() as download:
            for pid in workers:
                os.kill(pid, signal.SIGCONT)
            expect(page.locator("#file")).to_contain_text("The file is ready")
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGCONT)

    assert len(unanswered) == 1
    assert download.value.suggested_filename.endswith(".csv")
    assert download.value.path().read_text(encoding="utf-8-sig").count(f'"{long}"') == 2 * TURNS
    assert violations(page) == []
