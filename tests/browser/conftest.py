"""A whole platform in demo mode, and people in real browsers."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python import sync_playwright as axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.arenasite.platforms import Platform, manage
from tests.environment import CHROMIUM
from tests.fixtures import wait_until
from tests.parts.simulated import Running, running
from tests.scripted import Scripted, serving

PASSWORD = "arena-demo-only"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
AXE = Path(axe.__file__).parent / "axe.min.js"
PATIENCE = 120_000  # milliseconds
RUN = re.compile(r"/runs/[0-9a-f-]{36}/")
LIVE = "[data-live] [data-text]"
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
EXPECTED_ERRORS = re.compile(
    "status of (404|409|410|413|502)|WebSocket connection|ERR_CONNECTION_REFUSED"
    "|htmx:(timeout|afterRequest|sendError|sendAbort)"
)

A_FEW = 1  # text of each look
CHECK = """async (most) => {
  const grounds = new Map([[null, ""]]);
  const ground = (one) => {
    if (!grounds.has(one)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one);
      const own = [backgroundColor, backgroundImage, opacity].join();
      grounds.set(one, (own === "rgba(0, 0, 0, 0),none,1" ? "" : own) + ground(one.parentElement));
    }
    return grounds.get(one);
  };
  const counts = {};
  const isOneOfFew = (one) => {
    const box = one.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1 || !one.checkVisibility({ visibilityProperty: true })) return false;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(one);
    const look = [color, fontSize, fontWeight, textShadow, ground(one)].join();
    counts[look] = (counts[look] ?? 0) + 1;
    return counts[look] <= most;
  };
  const hasText = (one) => one.value || [...one.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
  const few = most ? [...document.body.querySelectorAll("*")].filter((one) => hasText(one) && isOneOfFew(one)) : [];
  few.forEach((one) => one.setAttribute("data-of-few", ""));
  if (most) axe.configure({ rules: [{ id: "color-contrast", selector: "[data-of-few]" }] });
  const { violations } = await axe.run(document, { resultTypes: ["violations"], preload: false });
  few.forEach((one) => one.removeAttribute("data-of-few"));
  return violations;
}"""

QUICK = tuple(f"sim/{name}:first=0:tps=0" for name in ("cooperative", "competitive", "neutral", "drifting"))
ENDLESS_MODEL = "sim/cooperative:tps=25:words=20000:first=0"
SLOW_MODEL = "sim/cooperative:tps=25:words=400:first=0"
PACED_MODEL = "sim/neutral:tps=50:first=0"
MEMBERS = tuple(f"sim/{name}:tps=60:words=120:first=0" for name in ("cooperative", "competitive"))
FAILING_MODEL = "sim/neutral:tps=60:words=120:first=0:fail=401:times=1"
CODERS = tuple(f"sim/coder-{name}:tps=400:first=0" for name in ("oak", "elm", "fir"))
PLANTED = {  # models by how often they refuse; each has a slug of its own
    "careful": "sim/neutral:first=0:tps=0:words=12:refuses=0.7",
    "plain": "sim/neutral:first=0:tps=0:words=12:refuses=0.05",
    "twin": "sim/neutral:first=0:tps=0:words=13:refuses=0.05",
}
MODELS = (*QUICK, ENDLESS_MODEL, SLOW_MODEL, PACED_MODEL, *MEMBERS, FAILING_MODEL, *CODERS, *PLANTED.values())
LATE = "scripted/late"
SETTING_UP = """
from django.core.management import call_command
from accounts.models import AuditEntry, User
from accounts.tokens import create_token
from leaderboard.boards import compute, milestones
from tests.leaderboard import boards

for name, (address, *models) in {providers!r}.items():
    call_command("add_provider", "--name", name, "--base-url", address, "--allow-private", "--model", *models)
User.objects.create_user("keeper", password="{password}")  # has a security key, once that was tried
User.objects.create_user("speaker", password="{password}")
User.objects.create_user("curator", password="{password}", role="curator")
researcher = User.objects.get(username="researcher")
board = boards.filled(researcher, visibility="public", contestants=9, battles=300, subsets=("easy", "hard"), gap=60)
long_name = "a-contestant-with-a-name-that-is-longer-than-any-column"
boards.board_of(researcher, [(long_name, "model-001", "left"), ("hopeless", "model-001", "right")] * 6, board)
for sample in board.dataset.samples.exclude(index=0):
    sample.metadata = {{"published": f"2026-0{{1 + sample.index % 6}}-01"}}
    sample.save()
board.dataset.contestants.exclude(name="model-009").update(released="2026-03-01")
ladder = compute.ensure_ladder(board)
compute.refresh(ladder)
milestones.take(ladder, name="first_20260101", by=researcher)
AuditEntry.objects.create(
    action="exported", actor="a.researcher@laboratory.example", target="run:01a20893-3c44-7317-9091-f9006bd0d7d4",
    name="A study of negotiations between two cautious models", address="2001:db8:85a3::8a2e:370:7334",
    detail={{"format": "csv", "experiment": "run:01a20893-3c44-7317-9091-f9006bd0d7d4", "rows": 1200}},
)
print(ladder.slug, create_token(researcher))
"""


class Lab:
    """The platform under test, as its people reach it."""

    def __init__(self, platform: Platform, paced: Running, scripted: Scripted, scripted_url: str) -> None:
        self.platform, self.paced, self.scripted = platform, paced, scripted
        self.url = f"http://localhost:{platform.port}"
        providers = {
            "paced": (paced.base_url, *MODELS),
            "story": (paced.base_url, f"{QUICK[0]}:words=60"),
            "scripted": (scripted_url, LATE),
        }
        self.ladder, self.token = self.shell(SETTING_UP.format(providers=providers, password=PASSWORD)).split()[-2:]

    def shell(self, text: str) -> str:
        """What a program prints that works with its database."""
        data = {"ARENA_DATA": str(self.platform.data), "ARENA_DEMO": "1"}
        done = manage("shell", "--no-imports", "--command", text, **data)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(f"{self.url}/api/{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, json.dumps(body).encode() if body is not None else None) as answer:
            return json.load(answer)

    def begin(self, workflow: str, models: dict[str, str], config: dict[str, Any], **options: Any) -> list[str]:
        """The ids of the runs of a new experiment of the researcher's."""
        cast = {seat: {"model": model} for seat, model in models.items()}
        experiment = self.ask("POST", "experiments/", {"workflow": workflow, "config": config, "cast": cast})
        return [str(run["id"]) for run in self.ask("POST", f"experiments/{experiment['id']}/start/", options)["runs"]]

    def start(self, a: str = QUICK[0], b: str = QUICK[1], **config: Any) -> str:
        """The id of a new run of the arena."""
        asked = {"prompt": "Share seven solar panels between two villages.", "gap_seconds": 0, "max_turns": 1, **config}
        [run] = self.begin("arena", {"A": a, "B": b}, asked)
        return run

    def wait_for(self, run: str, *fields: str) -> Any:
        """The first of these fields of the run that is set."""
        return wait_until(lambda: next(filter(None, map(self.ask("GET", f"runs/{run}/").get, fields)), None), fields[0])

    def say(self, run: str, action: str = "default", text: str = "") -> None:
        """Answers a run that waits, and waits until it waits again."""
        key = self.wait_for(run, "waiting_for", "offer")["key"]
        self.ask("POST", f"runs/{run}/say/", {"key": key, "action": action, "text": text})
        wait_until(lambda: self.wait_for(run, "waiting_for", "offer")["key"] != key, "the run to go on")

    def call_text(self, run: str) -> str:
        """What the database has of the latest reply."""
        calls = self.ask("GET", f"runs/{run}/calls/")["results"]
        return str(next((call["text"] for call in reversed(calls) if call["purpose"] == "reply"), ""))


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    platform = Platform(tmp_path_factory.mktemp("lab") / "data", "--workers", "1", ARENA_DEMO="1")
    scripted = Scripted()
    scripted.is_over_http = True
    try:
        platform.wait_until_ready()
        with running() as paced, serving(scripted, over_http=True) as address:
            yield Lab(platform, paced, scripted, address)
    finally:
        platform.process.terminate()
        platform.process.wait(80)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Not for the whole session: beside the event loop that Playwright runs, no other test can run its own."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


OpenPage = Callable[..., Page]
SignIn = Callable[..., Page]


@pytest.fixture(scope="package")
def sessions() -> dict[str, Any]:
    """The cookies of people who have signed in before."""
    return {}


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a browser of its own for somebody; fails the test on an error in its console."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_page(**options: Any) -> Page:
        by_default = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}  # drawing costs most
        contexts.append(browser.new_context(**{**by_default, **options}))
        contexts[-1].set_default_timeout(PATIENCE)
        page = contexts[-1].new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [error for error in errors if not EXPECTED_ERRORS.search(error)] == []


@pytest.fixture
def sign_in(open_page: OpenPage, lab: Lab, sessions: dict[str, Any]) -> SignIn:
    """Opens a page for a person of the lab. anew: they sign in now. "" is somebody who has not signed in."""

    def sign_in(name: str = "researcher", *, anew: bool = False, **options: Any) -> Page:
        known = None if anew else sessions.get(name)
        page = open_page(storage_state=known, **options)
        if name and not known:
            page.goto(f"{lab.url}/sign-in/")
            give_password(page, name)
            page.wait_for_url(f"{lab.url}/")
            if not anew:
                sessions[name] = page.context.storage_state()
        return page

    return sign_in


def give_password(page: Page, name: str, password: str = PASSWORD) -> None:
    page.fill("#id_username", name)
    page.fill("#id_password", password)
    page.click("main button.primary")


def sign_out(page: Page) -> None:
    page.locator(".account-menu > summary").click()
    page.locator("form[action='/sign-out/'] button").click()


def markup(page: Page, *places: str) -> list[str]:
    """The elements of these places, without what a reader has opened."""
    parts = page.evaluate("all => all.map(one => document.querySelector(one).innerHTML)", places)
    text = re.sub(r' (open|tabindex|aria-selected)="[^"]*"', "", " ".join(parts))
    return re.sub(r"\s+", " ", text).replace("<", "\n<").replace(" \n", "\n").strip().splitlines()


def assert_same_when_opened_now(page: Page, content: Callable[[Page], Any]) -> None:
    """What came piece by piece has become what a page that is opened now shows at once."""
    fresh = page.context.new_page()
    fresh.goto(page.url)
    with suppress(AssertionError):  # the difference is shown below
        wait_until(lambda: content(page) == content(fresh), "what was sent")
    live, at_once = content(page), content(fresh)
    fresh.close()
    assert live == at_once


def violations(page: Page, *, whole: bool = False) -> list[str]:
    """What axe-core finds, as readable lines. Evaluated, because the page's policy lets no foreign script in. It reads
    style sheets for one rule alone, which tests/arenasite/test_templates.py holds. Most of its work is the contrast of
    texts: of those in the same letters on the same ground it is given a few, unless the whole page is wanted.
    """
    page.evaluate(AXE.read_text())
    found = page.evaluate(CHECK, None if whole else A_FEW)
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]
