"""Whatever anybody wrote, no page, file or answer of the platform holds anything that could do something."""

import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import quote, urlsplit

import pytest
from django.contrib import admin
from django.urls import reverse

from experiments.models import Dataset, Run
from tests.experiments.reports import deliberations
from tests.experiments.rights.things import addresses
from tests.fixtures import signed_in
from tests.security.payloads import COUNT, PAYLOADS
from tests.security.poison import Poison

LAST = ("account_logout", "logout")
STYLED = ("run-report", "api-run-report", "shared-run", "file-download", "api-file-download", "api-docs")
STARTS = ("=", "+", "-", "@", "\t", "\r")
WORKFLOWS = {"starchamber", "council", "debate", "coding"}
NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)?%?")


@pytest.fixture
def poisoned(things):
    lab, made = things
    deliberations.debate(made.owner)
    poison = Poison()
    poison.poison()
    Dataset.objects.update(visibility="public")
    made.left.refresh_from_db()
    return lab, made, poison


def answers(browser, made):
    """The address of a run stands for one of each workflow; the arena's is among the others already."""
    runs = Run.objects.filter(experiment__owner=made.owner, experiment__workflow__in=WORKFLOWS).order_by("pk")
    assert set(runs.values_list("experiment__workflow", flat=True)) == WORKFLOWS
    for run in runs:
        answer = browser.get(address := reverse("run", args=[run.pk]))
        yield f"run of {run.experiment.workflow} {address}", answer, answer.content
    for name, route in sorted(addresses()):
        if name not in LAST:
            address = quote(made.address(name, route), safe="/:%?=&")
            answer = browser.get(address)
            yield f"{name} {address}", answer, b"".join(answer) if answer.streaming else answer.content


def wrong_in(name, answer, body):
    kind = answer.headers.get("Content-Type", "")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    if kind.startswith("text/html"):
        return active(body.decode(), may_style=name.split()[0] in STYLED)
    if kind.startswith("text/csv"):
        rows = csv.reader(io.StringIO(body.decode("utf-8-sig")))
        formulas = [cell for row in rows for cell in row if cell.startswith(STARTS) and not NUMBER.fullmatch(cell)]
        return [f"cell {cell[:40]!r}" for cell in formulas]
    return []


def test_no_page_holds_anything_active(poisoned):
    lab, made, poison = poisoned
    assert poison.used == set(PAYLOADS)
    assert len(PAYLOADS) == COUNT
    check(lab, made, ["owner"])


@pytest.mark.exhaustive
def test_no_page_of_others_holds_anything_active(poisoned):
    lab, made, _poison = poisoned
    check(lab, made, ["admin", "visitor"])

    browser = signed_in(lab.people["admin"])
    for model in (model for model in admin.site._registry if model._meta.managed):
        place = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages = [reverse(f"{place}_changelist")]
        pages += [reverse(f"{place}_change", args=[row.pk]) for row in model._base_manager.all()[:1]]
        for page in pages:
            answer = browser.get(page)
            assert answer.status_code != 500, page
            assert active(answer.content.decode()) == [], page


def check(lab, made, people):
    wrong, shown, texts = {}, Counter(), 0
    for who in people:
        for name, answer, body in answers(lab.browser(who), made):
            assert answer.status_code != 500, name
            shown[who] += answer.status_code == 200
            if found := wrong_in(name, answer, body):
                wrong[f"{who}: {name}"] = found[:5]
            texts += body.count(b"&lt;")
    assert wrong == {}
    assert all(shown[who] > (150 if who == "owner" else 30) for who in people)
    assert texts > 5_000, "it is shown as text, and not left out"


FORBIDDEN = {
    *("iframe", "object", "embed", "base", "style", "frame", "frameset", "applet", "marquee", "math", "portal"),
    *("audio", "video", "source", "track", "foreignobject", "animate", "set", "image", "feimage"),
}
ADDRESSES = {"href", "src", "action", "formaction", "srcset", "poster", "data", "background", "ping", "xlink:href"}
DATA = ("application/json", "importmap")


class Active(HTMLParser):
    """found: in words, what should not be there."""

    def __init__(self, html: str, *, may_style: bool = False) -> None:
        super().__init__()
        self.found: list[str] = []
        self._forbidden, self._styled = (FORBIDDEN - {"style"}, {"col"}) if may_style else (FORBIDDEN, set())
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in self._forbidden:
            self.found.append(f"<{tag}>")
        if tag == "script" and not given.get("src") and given.get("type") not in DATA:
            self.found.append("an inline script")
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.found.append("a page that leaves by itself")
        for name, value in given.items():
            if name.startswith("on") or name == "srcdoc" or (name == "style" and tag not in self._styled):
                self.found.append(f"<{tag} {name}>")
            if name in ADDRESSES and not _is_harmless(tag, name, value):
                self.found.append(f"<{tag} {name}={value[:60]!r}>")


def _is_harmless(tag: str, name: str, value: str) -> bool:
    """Only a link that somebody clicks may lead away, and nothing but http does."""
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return False
    if tag == "a" and name == "href":
        return parts.scheme in {"", "http", "https"} and (bool(parts.scheme) or not parts.netloc)
    if name == "src" and tag == "img" and value.startswith("data:image/"):
        return True  # even of SVG an image runs nothing
    return not parts.scheme and not parts.netloc


def active(html: str, *, may_style: bool = False) -> list[str]:
    return Active(html, may_style=may_style).found
