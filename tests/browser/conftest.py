"""A whole platform in demo mode, and people in real browsers."""

import asyncio
import json
import shutil
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python import sync_playwright as axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from experiments.gateway.simulated import Running, running
from tests.arenasite.platforms import Platform, manage
from tests.fixtures import wait_until

PASSWORD = "arena-demo-only"
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(axe.__file__).parent / "axe.min.js"
PATIENCE = 120_000  # milliseconds
HELD_AFTER = 10  # tokens
ENDLESS_MODEL = "sim/cooperative:tps=25:words=20000:first=0"
SLOW_MODEL = "sim/cooperative:tps=25:words=400:first=0"
SHORT_MODEL = "sim/competitive:tps=25:words=100:first=0"
PACED_MODEL = "sim/neutral:tps=50:first=0"


class Lab:
    """The platform under test, as its people reach it."""

    def __init__(self, platform: Platform, paced: Running) -> None:
        self.platform, self.paced = platform, paced
        self.url = f"http://localhost:{platform.port}"
        self.data = {"ARENA_DATA": str(platform.data), "ARENA_DEMO": "1"}
        self.token = self.manage("create_token", "researcher").split()[-1]

    def manage(self, *command: str) -> str:
        done = manage(*command, **self.data)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(f"{self.url}/api/{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, json.dumps(body).encode() if body is not None else None) as answer:
            return json.load(answer)

    def start(self, a: str = "sim/cooperative", b: str = "sim/competitive", **config: Any) -> str:
        """The id of a new run of the researcher's."""
        asked = {"prompt": "Share seven solar panels between two villages.", "gap_seconds": 0, "max_turns": 1, **config}
        cast = {"A": {"model": a}, "B": {"model": b}}
        experiment = self.ask("POST", "experiments/", {"workflow": "arena", "config": asked, "cast": cast})
        [run] = self.ask("POST", f"experiments/{experiment['id']}/start/", {})["runs"]
        return str(run["id"])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it the paced models fall silent after a few words, until it ends. Whoever is slow misses nothing."""
        pacer, due, let = self.paced.app.pacer, self.paced.app.pacer._due, threading.Event()
        silent: dict[float, float] = {}

        async def due_when_let(began: float, sent: int, tps: float) -> int:
            if sent >= HELD_AFTER and began not in silent:
                fell_silent = time.monotonic()
                await asyncio.to_thread(let.wait)
                silent[began] = time.monotonic() - fell_silent
            count = await due(began + silent.get(began, 0), sent, tps)
            return count if let.is_set() or sent >= HELD_AFTER else min(count, HELD_AFTER - sent)

        pacer._due = due_when_let
        try:
            yield
        finally:
            let.set()

    def call_text(self, run: str) -> str:
        """What the database has of the latest reply."""
        calls = self.ask("GET", f"runs/{run}/calls/")["results"]
        return str(next((call["text"] for call in reversed(calls) if call["purpose"] == "reply"), ""))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    platform = Platform(tmp_path_factory.mktemp("lab") / "data", "--workers", "1", ARENA_DEMO="1")
    try:
        platform.wait_until_ready()
        with running() as paced:
            lab = Lab(platform, paced)
            address = ("--base-url", paced.base_url, "--allow-private")
            models = (ENDLESS_MODEL, SLOW_MODEL, SHORT_MODEL, PACED_MODEL)
            lab.manage("add_provider", "--name", "paced", *address, "--model", *models)
            yield lab
    finally:
        platform.process.terminate()
        platform.process.wait(80)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: beside the event loop that Playwright runs, no other test can run its own."""
    assert CHROMIUM, "Chromium is missing: apt install chromium"
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


SignIn = Callable[..., Page]


@pytest.fixture
def sign_in(browser: Browser, lab: Lab) -> Iterator[SignIn]:
    """Opens a browser of its own for a person and signs them in; fails the test on an error in its console."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_page(name: str = "researcher", **options: Any) -> Page:
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}))
        contexts[-1].set_default_timeout(PATIENCE)
        page = contexts[-1].new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{lab.url}/sign-in/")
        page.fill("#id_username", name)
        page.fill("#id_password", PASSWORD)
        page.click("main button.primary")
        page.wait_for_url(f"{lab.url}/arena/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [error for error in errors if not expected(error)] == []


def expected(error: str) -> bool:
    """A refused page, a refused word and a lost connection are reported by Chromium itself."""
    return (
        "status of 404" in error
        or "status of 409" in error
        or "status of 410" in error
        or "status of 413" in error
        or "status of 502" in error
        or "WebSocket connection" in error
        or "ERR_CONNECTION_REFUSED" in error
    )


def settled(page: Page, content: Callable[[Page], list[str]]) -> list[str]:
    """What the page shows once it has taken in all that it was sent: a page opened now has it from the beginning."""
    fresh = page.context.new_page()
    fresh.goto(page.url)
    with suppress(AssertionError):  # the caller compares, and shows the difference
        wait_until(lambda: content(page) == content(fresh), "what was sent", seconds=5)
    fresh.close()
    return content(page)


def violations(page: Page) -> list[str]:
    """What axe-core finds, as readable lines. Evaluated, because the page's policy lets no foreign script in."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]
