"""What a researcher and a curator most often come for is a few clicks away from their home pages."""

import re

import pytest
from playwright.sync_api import expect

from tests.arenasite.platforms import manage
from tests.browser.conftest import FAILING_MODEL, RUN, Lab, SignIn, violations
from tests.browser.interactions import Count, Newcomer
from tests.browser.test_battles import EXPERIMENT
from tests.cases import each_case

pytestmark = [pytest.mark.browser, pytest.mark.system]

PROMPT = "Share seven solar panels between two villages."
MOST_TO_START, MOST_TO_RESUME, MOST_TO_PUBLISH = 3, 3, 5
YESTERDAY = """
from datetime import timedelta
from django.db.models import F
from experiments.models import Run

day = timedelta(days=1)
moved = {{name: F(name) - day for name in ("created", "started", "ended")}}
print(Run.objects.filter(pk="{run}").update(**moved))
"""


def at_home(lab: Lab, sign_in: SignIn, name: str) -> Newcomer:
    newcomer = Newcomer(sign_in(name))
    newcomer.page.goto(f"{lab.url}/")
    return newcomer


def assert_clicks(count: Count, *, most: int, texts: int = 0) -> None:
    """At least one: what is not counted would always be few."""
    assert (count.keys, count.texts) == (0, texts)
    assert 0 < count.clicks <= most


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
    newcomer = at_home(lab, sign_in, "researcher")
    page = newcomer.page
    page.get_by_role("region", name="What do you want to do?").get_by_role("link", name=workflow).click()
    if field:
        newcomer.write(page.get_by_label(field, exact=True), PROMPT)
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(f"{RUN.pattern}|{EXPERIMENT.pattern}"))
    assert_clicks(newcomer.count, most=MOST_TO_START, texts=int(bool(field)))

    expect(page.locator("#status")).to_have_attribute("data-state", re.compile("queued|running|waiting|completed"))
    kind, number = re.findall(r"/(runs|experiments)/([0-9a-f-]{36})/", page.url)[0]
    lab.ask("POST", f"{kind}/{number}/stop/")


def test_a_run_that_failed_yesterday_is_resumed_from_home(lab: Lab, sign_in: SignIn) -> None:
    run = lab.start(b=FAILING_MODEL, filter=False, judge=False, prompt="Who repairs the pump that failed yesterday?")
    lab.wait_for(run, "ended")
    moved = manage("shell", "--no-imports", "--command", YESTERDAY.format(run=run), ARENA_DATA=str(lab.platform.data))
    assert moved.stdout == "1\n", moved.stderr
    assert lab.ask("GET", f"runs/{run}/")["state"] == "failed"

    newcomer = at_home(lab, sign_in, "researcher")
    page = newcomer.page
    failed = page.get_by_role("region", name="Failed in the last 14 days")
    row = failed.get_by_role("listitem").filter(has=page.locator(f"a[href='/runs/{run}/']"))
    row.get_by_role("button", name="Resume").click()
    page.wait_for_url(f"**/runs/{run}/**")
    expect(page.locator("#status")).to_have_attribute("data-state", "completed")
    assert_clicks(newcomer.count, most=MOST_TO_RESUME)


def test_a_submitted_run_is_approved_and_published_from_home(lab: Lab, sign_in: SignIn) -> None:
    run = lab.start(filter=False, judge=False)
    lab.wait_for(run, "ended")
    lab.ask("POST", f"runs/{run}/curation/", {"deed": "submit"})

    newcomer = at_home(lab, sign_in, "curator")
    page = newcomer.page
    page.get_by_role("link", name="To approve").click()
    page.locator(f"a[href$='{run}/']").click()
    assert violations(page) == []
    page.get_by_role("button", name="Approve and publish").click()
    expect(page).not_to_have_url(re.compile(run))
    decided = lab.ask("GET", f"runs/{run}/curation/")
    assert (bool(decided["approved"]), decided["visibility"]) == (True, "public")
    assert_clicks(newcomer.count, most=MOST_TO_PUBLISH)
