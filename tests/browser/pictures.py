"""`make pictures`: the pictures of the documentation, taken of the demonstration in Chromium."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import test_first_steps
from tests.browser.conftest import RUN, Lab, OpenPage, SignIn
from tests.parts.simulated import running

begin = test_first_steps.begin

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 900
HIDING = """
from experiments.models import ProviderModel
from leaderboard.models import Ladder

for ladder in Ladder.objects.filter(slug="{slug}"):
    ladder.board.dataset.visibility = "private"
    ladder.board.dataset.save()
    ladder.delete()
ProviderModel.objects.filter(provider__is_simulated=False).update(is_active=False)
"""
DEMO_A, DEMO_B = "sim/cooperative", "sim/competitive"


class Camera:
    def __init__(self, lab: Lab, page: Page) -> None:
        self.lab, self.page = lab, page

    def take(self, name: str, address: str, *, height: int = HEIGHT, at: str = "", press: str = "") -> None:
        """at: what the picture begins with, the page where it is empty; press: keys, once the page is there."""
        self.page.set_viewport_size({"width": WIDTH, "height": height})
        self.page.goto(address if "://" in address else f"{self.lab.url}/{address}")
        expect(self.page.locator("h1").first).to_be_visible()
        self.page.wait_for_function("document.fonts.status === 'loaded'")
        if at:
            self.page.locator(at).first.evaluate("one => scrollBy(0, one.getBoundingClientRect().top - 120)")
        if press:
            self.page.keyboard.press(press)
        self.save(name)

    def save(self, name: str) -> None:
        self.page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")


@pytest.fixture
def camera(lab: Lab, sign_in: SignIn) -> Any:
    return lambda name: Camera(lab, sign_in(name, anew=True))


@pytest.fixture(autouse=True)
def only_the_demonstration(lab: Lab) -> None:
    """Without what the other tests have made."""
    lab.shell(HIDING.format(slug=lab.ladder))


@pytest.fixture
def played(lab: Lab) -> dict[str, str]:
    """The address of a run of each workflow that the demonstration has played."""
    found = lab.ask("GET", "runs/?limit=100")["results"]
    runs = {one["workflow"]: one["id"] for one in found if one["origin"] == "live"}
    for run in runs.values():
        lab.wait_for(run, "ended", "offer", "waiting_for")
    return {workflow: f"runs/{run}/" for workflow, run in runs.items()}


def test_pictures_of_runs(lab: Lab, camera: Any, played: dict[str, str]) -> None:
    researcher = camera("researcher")
    researcher.take("arena-run", played["arena"])
    researcher.take("arena-reading", played["arena"], press="f")
    researcher.take("starchamber", played["starchamber"], at="#transcript")
    researcher.take("council", played["council"], at="#transcript")
    researcher.take("debate", played["debate"], at="#transcript")
    researcher.take("coding", played["coding"])
    researcher.take("cycle", played["coding"], at=".solution-slot")
    manual = lab.start(DEMO_A, DEMO_B, mode="manual", max_turns=3)
    lab.say(manual)
    researcher.take("arena-manual", f"runs/{manual}/")
    limited = lab.start(DEMO_A, DEMO_B, max_turns=20, limits={"tokens": 1500})
    lab.wait_for(limited, "ended")
    researcher.take("researcher-budget", f"runs/{limited}/")
    experiment = lab.ask("GET", f"{played['arena']}")["experiment"]
    researcher.take("researcher-sharing", f"experiments/{experiment}/sharing/")
    researcher.take("search", "search/?q=panels")
    researcher.take("runs", "runs/")
    researcher.take("runs-chart", "runs/chart/?whose=all&measure=run:output_tokens&group=workflow")
    researcher.take("home", "")
    researcher.take("arena-form", "arena/")
    researcher.take("palette", "runs/", press="Control+k")
    researcher.take("models", "models/")


def test_pictures_of_boards(lab: Lab, camera: Any) -> None:
    visitor = camera("")
    visitor.take("home-visitor", "")
    visitor.take("visitor-leaderboard", "leaderboard/")
    [slug] = [one["slug"] for one in lab.ask("GET", "ladders/")["results"] if "demo-pictures" in one["slug"]]
    visitor.take("ladder", f"leaderboard/{slug}/")
    researcher = camera("researcher")
    researcher.page.goto(f"{lab.url}/leaderboard/{slug}/battles/")
    battle = researcher.page.locator("a[data-open]").first.get_attribute("href")
    researcher.take("battle", str(battle).lstrip("/"), height=1100)
    researcher.take("vote", "vote/demo-answers/")


def test_pictures_of_review(lab: Lab, camera: Any, played: dict[str, str]) -> None:
    experiment = lab.ask("GET", played["arena"])["experiment"]
    researcher = camera("researcher")
    researcher.page.goto(f"{lab.url}/experiments/{experiment}/sharing/")
    researcher.page.check("[value=lab]")
    researcher.page.click("main button.primary")
    expect(researcher.page.locator("[value=lab]")).to_be_checked()
    curator = camera("curator")
    curator.take("review-desk", "review/runs/?show=all")
    curator.take("curator-curation", f"{played['arena']}curation/")
    curator.take("curator-flags", f"{played['arena']}flags/")
    queue = lab.ask("GET", "review/queues/")["results"][-1]["id"]
    item = lab.ask("GET", f"review/queues/{queue}/items/")["results"][0]["id"]
    curator.page.goto(f"{lab.url}/{played['arena']}curation/")
    for name in ("Approve", "Publish"):
        curator.page.get_by_role("button", name=name, exact=True).click()
    camera("").take("visitor-run", played["arena"])
    researcher.take("reviewer-item", f"review/items/{item}/")
    review_all(lab, researcher.page, queue)
    researcher.take("reviewer-agreement", f"review/{queue}/agreement/")


def review_all(lab: Lab, page: Page, queue: str) -> None:
    page.goto(f"{lab.url}/review/{queue}/")
    page.locator("#next-pair").click()
    while page.locator("#review[data-script]").count():
        for key in "4112":
            page.keyboard.press(key)
        with page.expect_navigation():
            page.keyboard.press("n")


def test_pictures_of_the_lab(camera: Any) -> None:
    admin = camera("admin")
    admin.take("admin-audit", "audit/", height=800)
    admin.page.goto(f"{admin.lab.url}/lab/budgets/")
    admin.page.get_by_label("US dollars").fill("25")
    admin.page.get_by_role("button", name="Set the budget").click()
    admin.take("admin-budgets", "lab/budgets/", height=800)
    admin.take("system-status", "operator/")


def test_pictures_of_the_first_steps(lab: Lab, begin: Any, open_page: OpenPage) -> None:
    page = open_page()
    camera, newcomer = Camera(lab, page), test_first_steps.Newcomer(page)
    page.set_viewport_size({"width": 960, "height": 720})
    [link] = re.findall(r"Set up +(\S+)", begin().output)
    page.goto(link)
    camera.save("first-administrator")
    test_first_steps.create_the_administrator(newcomer)
    with running() as server:
        test_first_steps.add_the_server(newcomer, server.base_url)
        camera.save("first-models")
        page.go_back()
        camera.save("first-provider")
        page.go_forward()
        page.get_by_role("button", name="Save and continue").click()
        page.get_by_role("button", name="Start run").click()
        page.wait_for_url(RUN)
        expect(page.locator(test_first_steps.ANSWERS).first).not_to_be_empty()
        camera.save("first-answer")
