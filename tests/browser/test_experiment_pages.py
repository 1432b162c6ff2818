"""The page of an experiment and the comparison of two runs in Chromium: open to all, nothing sideways."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]


@pytest.fixture(scope="module")
def repeated(lab: Lab) -> Any:
    """Six runs that take turns in beginning, a branch with other words, and a branch of that branch."""
    config = {
        "prompt": "Share seven solar panels between two villages.",
        "gap_seconds": 0,
        "max_turns": 4,
        "counterbalance": True,
    }
    cast = {"A": {"model": "sim/drifting"}, "B": {"model": "sim/competitive"}}
    asked = {"workflow": "arena", "title": "Seven panels", "config": config, "cast": cast}
    experiment = lab.ask("POST", "experiments/", asked)
    runs = lab.ask("POST", f"experiments/{experiment['id']}/start/", {"repeats": 6, "seed": 1})["runs"]
    for run in runs:
        ended(lab, run["id"])
    messages = lab.ask("GET", f"runs/{runs[0]['id']}/messages/")["results"]
    text = messages[2]["raw_text"].replace(" the ", " all the ", 3) + " And not one panel less."
    child = lab.ask("POST", f"messages/{messages[2]['id']}/branch/", {"text": text})
    ended(lab, child["id"])
    later = lab.ask("GET", f"runs/{child['id']}/messages/")["results"]
    ended(lab, lab.ask("POST", f"messages/{later[5]['id']}/branch/", {})["id"])
    return {"id": experiment["id"], "runs": [run["id"] for run in runs], "child": child["id"]}


def ended(lab: Lab, run: str) -> None:
    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["ended"], "a run to end", seconds=90)


def addresses(repeated: Any) -> list[str]:
    return [f"experiments/{repeated['id']}/?with=branch", f"runs/{repeated['runs'][0]}/compare/{repeated['child']}/"]


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_violation_and_nothing_sideways(
    lab: Lab, sign_in: SignIn, repeated: Any, width: int, theme: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = sign_in(viewport={"width": width, "height": 900}, color_scheme=theme)
    page.context.add_cookies([{"name": "arena_theme", "value": theme, "url": lab.url}])

    found = {}
    for number, path in enumerate(addresses(repeated)):
        page.goto(f"{lab.url}/{path}")
        open_everything(page)
        page.screenshot(path=tmp_path_factory.getbasetemp() / f"{number}-{theme}-{width}.png", full_page=True)
        found[path] = violations(page)
        sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sideways <= 0, f"{path} scrolls sideways by {sideways} px"

    assert {path: lines for path, lines in found.items() if lines} == {}


def test_more_runs_are_started_from_the_page(lab: Lab, sign_in: SignIn, repeated: Any) -> None:
    page = sign_in()
    page.goto(f"{lab.url}/experiments/{repeated['id']}/")

    page.fill("#id_repeats", "1")
    page.click(".more-runs button")

    expect(page.locator(".notice")).to_contain_text("1 run started.")
    expect(page.locator(".run-list tbody tr")).to_have_count(9)


def open_everything(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = !one.matches('.table') })")
