"""What makes pages slow on any machine stays small. Times are for `python -m benchmarks.pages`."""

import pytest
from playwright.sync_api import Page, expect

from benchmarks.pages import OBSERVE, PAGES, SHIFT, measure
from tests.browser.conftest import MEMBERS, PACED_MODEL, Lab, OpenPage, SignIn
from tests.cases import each_case

MOST_SHIFT = 0.05
MOST_REQUESTS, MOST_KIB = 40, 120


@pytest.fixture
def page(sign_in: SignIn) -> Page:
    page = sign_in()
    page.add_init_script(OBSERVE)
    return page


@pytest.fixture
def run(lab: Lab) -> str:
    run = lab.start(max_turns=5)
    lab.wait_for(run, "ended")
    return run


@each_case("name", list(PAGES))
def test_a_page_asks_for_little_and_stays_in_its_place(lab: Lab, page: Page, run: str, name: str) -> None:
    seen = measure(page, lab.url + PAGES[name].format(run=run))

    assert seen["foreign"] == []
    assert seen["shift"] <= MOST_SHIFT
    assert 0 < seen["requests"] <= MOST_REQUESTS
    assert 0 < seen["sent"] / 1024 <= MOST_KIB


@pytest.fixture
def written(lab: Lab) -> dict[str, str]:
    """Runs that have just begun, and where each of them is when it has come to an end."""
    seats = {"member-1": MEMBERS[0], "member-2": MEMBERS[1], "chair": PACED_MODEL}
    [council] = lab.begin("council", seats, {"question": "Why is the sky blue?"})
    return {lab.start(PACED_MODEL, PACED_MODEL): "#status[data-over]", council: "#offer"}


def test_a_run_stays_in_its_place_while_it_is_written(lab: Lab, sign_in: SignIn, written: dict[str, str]) -> None:
    for run, end in written.items():
        page = sign_in(viewport={"width": 360, "height": 800})
        page.add_init_script(OBSERVE)
        page.goto(f"{lab.url}/runs/{run}/")
        expect(page.locator(end)).to_be_attached()
        assert page.evaluate(SHIFT) <= MOST_SHIFT, run


def test_the_reference_of_the_api_leads_back(lab: Lab, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(f"{lab.url}/api/docs/")
    expect(page.locator(".opblock-tag").first).to_be_visible()
    page.get_by_role("link", name="Documentation").click()
    page.wait_for_url("**/help/api/")
