"""axe-core finds nothing on any page, in both themes and languages, wide and narrow; nothing scrolls sideways."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab, SignIn, violations
from tests.fixtures import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.system]

HEADER_LINES = """() => new Set([...document.querySelectorAll('.site a, .site button')]
  .map((one) => one.getBoundingClientRect()).filter((box) => box.width > 1)
  .map((box) => Math.round((box.top + box.bottom) / 12))).size"""
OF_ADMINS = (
    *("people/", "people/1/", "audit/", "account/", "projects/", "projects/new/", "lab/keys/", "lab/budgets/"),
    *("account/email/", "account/password/", "account/second-factor/", "account/second-factor/totp/activate/"),
    "operator/",
)
BROKEN_CELLS = """() => [...document.querySelectorAll('.rows :is(td, th)')]
  .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.trim())"""
TALLEST_ROW = """() => Math.max(...[...document.querySelectorAll('.rows tbody tr')].map((one) => one.offsetHeight))"""
LONG_ENTRY = """from accounts.models import AuditEntry
name, run = "A study of negotiations between two cautious models", "run:01a20893-3c44-7317-9091-f9006bd0d7d4"
AuditEntry.objects.create(action="exported", actor="a.researcher@laboratory.example", target=run, name=name,
    address="2001:db8:85a3::8a2e:370:7334", detail={"format": "csv", "experiment": run, "rows": 1200})"""
OF_VISITORS = ("sign-in/", "sign-up/", "forgotten/", "invitations/forged/")
PAGES = (
    *("arena/", "council/", "debate/", "coding/", "runs/", "account/", "account/keys/", "models/", "usage/"),
    *("account/webhooks/", "exports/", "runs/import/", "projects/"),
    *("search/", "search/?q=panels&state=ended", "runs/?flag=refusal"),
    *("review/", "review/new/", "nowhere/"),
)
REVIEWS = ("review/rubrics/", "review/rubrics/new/")


def sideways_of(page: Page) -> int:
    """By how many pixels the page can be scrolled sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.fixture(scope="module")
def finished(lab: Lab) -> str:
    run = lab.start()
    wait_until(lambda: lab.ask("GET", f"runs/{run}/")["ended"], "a run to look at", seconds=60)
    return run


@pytest.fixture(scope="module")
def answered(lab: Lab) -> str:
    """A council that has answered."""
    cast = {"member-1": {"model": "sim/cooperative"}, "member-2": {"model": "sim/competitive"}}
    body = {"workflow": "council", "config": {"question": "Why is the sky blue?"}}
    experiment = lab.ask("POST", "experiments/", {**body, "cast": {**cast, "chair": {"model": "sim/neutral"}}})
    [run] = lab.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
    wait_until(lambda: lab.ask("GET", f"runs/{run['id']}/")["offer"], "a council to look at", seconds=90)
    return str(run["id"])


@pytest.fixture(scope="module")
def hook(lab: Lab) -> str:
    """A webhook that was told something, in vain."""
    asked = {"url": f"https://receiver.invalid/{'in/' * 30}", "events": ["run.completed", "run.failed"]}
    made = str(lab.ask("POST", "webhooks/", asked)["id"])
    lab.ask("POST", f"webhooks/{made}/test/", {})
    return made


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_no_violation_on_any_page(
    lab: Lab, sign_in: SignIn, finished: str, answered: str, hook: str, width: int, theme: str, language: str
) -> None:
    page = sign_in(viewport={"width": width, "height": 800}, color_scheme=theme)
    page.context.add_cookies([{"name": "arena_theme", "value": theme, "url": lab.url}])
    page.locator("form[action='/language/'] select, form[action='/language/'] button").first.wait_for(state="attached")
    page.context.add_cookies([{"name": "arena_language", "value": language, "url": lab.url}])
    call = lab.ask("GET", f"runs/{finished}/calls/")["results"][0]["id"]

    queue = lab.ask("GET", "review/queues/")["results"][-1]
    item = lab.ask("GET", f"review/queues/{queue['id']}/items/")["results"][0]["id"]
    reviews = (*REVIEWS, f"review/{queue['id']}/", f"review/{queue['id']}/agreement/", f"review/items/{item}/")
    reviews += (f"runs/{finished}/flags/", f"runs/{finished}/curation/")

    found = {}
    for path in (
        *PAGES,
        *reviews,
        f"runs/{finished}/",
        f"calls/{call}/",
        f"webhooks/{hook}/",
        f"runs/{answered}/",
        f"runs/{answered}/ranking/1/",
    ):
        page.goto(f"{lab.url}/{path}")
        expect(page.locator("main")).to_be_visible()
        found[path] = violations(page)
        assert sideways_of(page) <= 0, f"{path} scrolls sideways"
        assert page.evaluate(HEADER_LINES) <= (1 if width == 1280 else 3)

    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_violation_at_the_door(lab: Lab, sign_in: SignIn) -> None:
    page = sign_in(viewport={"width": 360, "height": 800})
    page.context.clear_cookies()

    found = {}
    for path in OF_VISITORS:
        page.goto(f"{lab.url}/{path}")
        found[path] = violations(page)
        assert sideways_of(page) <= 0, path

    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_no_violation_on_pages_about_people(lab: Lab, sign_in: SignIn, width: int, theme: str) -> None:
    page = sign_in("admin", viewport={"width": width, "height": 800}, color_scheme=theme)
    page.context.add_cookies([{"name": "arena_theme", "value": theme, "url": lab.url}])

    found = {}
    for path in OF_ADMINS:
        page.goto(f"{lab.url}/{path}")
        found[path] = violations(page)
        assert sideways_of(page) <= 0, path
        assert page.evaluate(HEADER_LINES) <= (1 if width == 1280 else 3)
    page.locator(".account-menu summary").click()
    expect(page.locator(".account-menu a").last).to_be_visible()
    found["menu"] = violations(page)

    assert {path: lines for path, lines in found.items() if lines} == {}


def test_names_and_ids_fit_their_tables_at_every_width(lab: Lab, sign_in: SignIn) -> None:
    lab.manage("shell", "-c", LONG_ENTRY)
    page = sign_in("admin")

    for path in ("audit/", "models/"):
        for width, tallest in ((360, 280), (1024, 130), (1440, 130)):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{lab.url}/{path}")
            assert sideways_of(page) <= 0, (path, width)
            assert page.evaluate(BROKEN_CELLS) == [], (path, width)
            assert page.evaluate(TALLEST_ROW) <= tallest, (path, width)
