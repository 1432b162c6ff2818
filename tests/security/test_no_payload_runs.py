"""Five hundred payloads in real Chromium, while they stream in and afterwards: none does anything, on one page for each
set of scripts, which are all that could bring them to life; in the exhaustive tests on every page.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import Page, sync_playwright

from experiments.models import Dataset
from tests.arenasite.serving import served
from tests.browser.conftest import FLAGS
from tests.environment import CHROMIUM
from tests.experiments.rights.things import addresses
from tests.fixtures import Worker, wait_until
from tests.security.payloads import PAYLOADS, pieces
from tests.security.poison import Poison

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.system]

SCRIPT = re.compile(rb'<script[^>]* src="([^"]+)"')
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
LAST = ("account_logout", "logout")
OF_A_REPLY = 25  # payloads
WATCH = """
window.__seen = [];
addEventListener('securitypolicyviolation', e => window.__seen.push(`${e.violatedDirective} ${e.blockedURI}`));
let touched; Object.defineProperty(window, '__x', {get: () => touched, set: value => {
    touched = value; window.__seen.push('it ran'); }});
"""
LOOK = """() => [...window.__seen, ...[...document.querySelectorAll('*')].flatMap(element =>
    [...element.attributes].filter(({name, value}) => /^on/i.test(name) || name === 'srcdoc'
        || /^\\s*(javascript|vbscript|data:text)/i.test(value)
        && /^(href|src|action|formaction|data|xlink:href)$/i.test(name))
    .map(({name, value}) => `${element.tagName} ${name}=${value.slice(0, 50)}`))]"""


class Watched:
    """A browser that tells of everything that must not happen. wrong: what did."""

    def __init__(self, context: Any, home: str, file: str) -> None:
        self.wrong: list[str] = []
        self._home, self._file = home, file
        self._context = context
        context.add_init_script(WATCH)
        context.on("request", self._asked)

    def page(self) -> Page:
        page = self._context.new_page()
        page.on("dialog", self._dismissed)
        page.on("pageerror", lambda error: self.wrong.append(f"{page.url}: {error}"))
        page.on("console", lambda said: self._note(page, said.text) if "Content Security" in said.text else None)
        page.on("popup", lambda other: self._note(page, f"opened {other.url}"))
        return page

    def visit(self, page: Page, address: str) -> None:
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        self.look(page)

    def look(self, page: Page) -> None:
        for found in page.evaluate(LOOK):
            self._note(page, found)

    def _note(self, page: Page, found: str) -> None:
        self.wrong.append(f"{page.url}: {found}")

    def _dismissed(self, dialog: Any) -> None:
        self.wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Any) -> None:
        """No name but ours leads anywhere: see OFFLINE."""
        address = urlsplit(request.url)
        if address.netloc != self._home and address.scheme not in {"data", "blob"} and request.url != self._file:
            self.wrong.append(f"asked for {request.url}")


@pytest.fixture
def server(transactional_db: None) -> Iterator[str]:
    """The platform's own web server, over the test's database."""
    with served(path="/sign-in/") as address:
        yield address.removeprefix("http://").replace("127.0.0.1", "localhost")


def said(number: int) -> list[Any]:
    """A reply of some payloads, thought first; torn into pieces."""
    some = "\n\n".join(PAYLOADS[number * OF_A_REPLY :][:OF_A_REPLY])
    return [*({"reasoning": piece} for piece in pieces(some)), *pieces(some)]


def judged(_request: Any) -> str:
    some = "\n".join(PAYLOADS[::9])
    side = {"goal_deviation": 1, "cooperation": 0, "sentiment": {}, "notes": some, "confidence": 1}
    return json.dumps({"A": side, "B": side, "dynamics": some})


@pytest.fixture
def live(things: Any, scripted: Any, arena: Any, start: Any) -> dict[str, str]:
    """Runs that nobody drives yet: one in which every payload is said, and one whose provider fails in payloads."""
    replies, scripted.pause = len(PAYLOADS) // OF_A_REPLY, 0.001
    scripted.error = json.dumps({"error": {"message": "\n".join(PAYLOADS[::7])}}).encode()
    for name, first in (("<b>a", 0), ("<b>b", 1)):
        scripted.model(name, *(said(number) for number in range(first, replies, 2)))
    scripted.model("<i>judge", judged)
    scripted.model("<i>broken", 400)
    talk = {"filter": False, "max_turns": replies // 2}
    runs = {
        "said": start(arena("<b>a", "<b>b", judge_model="<i>judge", **talk)),
        "broken": start(arena("<i>broken", "<b>b", judge=False, filter=False)),
    }
    return {name: str(run.pk) for name, run in runs.items()}


def chosen(browser: Any, addresses: Iterable[str], *, in_all: bool) -> list[str]:
    """Those that a browser shows: all, or one for each set of scripts. What is no page is stored, or for programs."""
    found: dict[Any, str] = {}
    for address in addresses:
        answer = browser.get(address)
        is_page = answer.status_code == 200 and answer.headers.get("Content-Type", "").startswith("text/html")
        if is_page and "attachment" not in answer.headers.get("Content-Disposition", ""):
            found.setdefault(address if in_all else frozenset(SCRIPT.findall(answer.content)), address)
    return list(found.values())


@pytest.mark.parametrize(
    ("in_all", "least"), [(False, 15), pytest.param(True, 80, marks=pytest.mark.exhaustive)], ids=["by scripts", "all"]
)
def test_no_payload_does_anything(
    things: Any, live: dict[str, str], server: str, tmp_path: Path, in_all: bool, least: int
) -> None:
    lab, made = things
    Poison().poison()
    Dataset.objects.update(visibility="public")
    made.left.refresh_from_db()
    owner = lab.browser("owner")
    named = (quote(made.address(name, route), safe="/:%?=&") for name, route in addresses() if name not in LAST)
    shown = chosen(owner, (address for address in named if "/api/" not in address), in_all=in_all)
    report = tmp_path / "report.html"
    report.write_bytes(b"".join(owner.get(f"/runs/{made.arena.pk}/report/html/")))
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": owner.cookies[settings.SESSION_COOKIE_NAME].value}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, OFFLINE])
        context = chromium.new_context()
        context.add_cookies([{**cookie, "url": f"http://{server}"}])
        watched = Watched(context, server, report.as_uri())
        page, worker = watched.page(), None
        try:
            page.goto(f"http://{server}/runs/{live['said']}/")
            worker = Worker()
            lengths = stream(watched, page)
            for address in (f"/runs/{live['said']}/", f"/runs/{live['broken']}/", *shown):
                watched.visit(page, f"http://{server}{address}")
            played = context.request.get(f"http://{server}/runs/{live['said']}/report/html/")
            watched.visit(page, report.as_uri())
            report.write_bytes(played.body())
            watched.visit(page, report.as_uri())
        finally:
            if worker:
                worker.kill()
            chromium.close()
    assert watched.wrong == []
    assert len(lengths) > 10, "nothing was seen while it was written"
    assert len(shown) > least
    assert played.ok


def stream(watched: Watched, page: Page) -> set[int]:
    """Look until the run has ended; returns how long the page was at different moments."""
    lengths = set()

    def looked() -> bool:
        page.wait_for_timeout(250)  # each look reads the whole page
        watched.look(page)
        lengths.add(page.evaluate("document.body.textContent.length"))
        return page.evaluate("document.querySelector('#status')?.dataset.state") in {"completed", "failed"}

    wait_until(looked, "the run")
    return lengths
