"""Who sees which page, and how every page lives by the strict policy of content."""

import re
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from experiments.models import Export, Run

pytestmark = pytest.mark.django_db

NOWHERE = UUID("00000000-0000-7000-8000-000000000000")


def test_the_front_door_leads_to_the_arena_and_a_visitor_through_signing_in(browser, visitor):
    assert browser.get("/")["Location"] == reverse("arena")
    assert visitor.get("/runs/?page=2")["Location"] == f"{reverse('login')}?next=/runs/%3Fpage%3D2"


def test_charlie_sees_what_does_not_exist(charlies, played, alice, make_files):
    """The very page of an address that leads nowhere. That it is refused everywhere is proved by the rights matrix."""
    run = played(max_turns=1)
    file = Export.objects.create(run=run, owner=alice, format="csv", language="en", last_seq=1, name="alices.csv")
    make_files()
    hidden = {"run": run, "run-status": run, "call": run.calls.first(), "file": file, "file-download": file}
    for name, row in hidden.items():
        answer, empty = charlies.get(reverse(name, args=[row.pk])), charlies.get(reverse(name, args=[NOWHERE]))
        assert (answer.status_code, empty.status_code) == (404, 404)
        assert strip(answer) == strip(empty), name


def test_a_form_of_another_site_changes_nothing(alice, arena, start, read):
    run = start(arena())
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(alice)
    of_run = [reverse(name, args=[run.pk]) for name in ("run-stop", "run-resume", "run-files")]

    for path in (*of_run, *map(reverse, ("arena", "account", "logout", "set-language", "run-import"))):
        response = careful.post(path)
        assert response.status_code == 403, path
        assert "Nothing was changed" in read(response).text
    assert Run.objects.get().state == Run.State.QUEUED


def strip(response):
    """The page without what differs between any two requests: form tokens and its own address."""
    lines = response.content.decode().splitlines()
    return [line for line in lines if "csrfmiddlewaretoken" not in line and 'name="next"' not in line]


PATHS = ["/arena/", "/runs/", "/account/", "/nothing/", "/api/docs/", "/api/runs/", "/words.js", "/admin/login/"]


@pytest.fixture
def pages(browser, visitor, played, alice):
    """Every page: of a visitor, of Alice, of a run, and the ones that say that something is wrong."""
    run = played(max_turns=1)
    found = {path: browser.get(path) for path in PATHS}
    found |= {"/sign-in/": visitor.get("/sign-in/"), "/arena/ refused": browser.post("/arena/", {"title": "x"})}
    found |= {name: browser.get(reverse(name, args=[run.pk])) for name in ("run", "run-status")}
    found |= {"call": browser.get(reverse("call", args=[run.calls.first().pk]))}
    found |= {"new token": browser.post("/account/", {"name": "x", "days": "1", "scopes": ["read"]})}
    return found


def test_every_page_lives_by_the_strict_policy(pages):
    for name, response in pages.items():
        assert "unsafe" not in response["Content-Security-Policy"], name
        assert response["X-Frame-Options"] == "DENY", name
        html = response.content.decode()
        if name.startswith(("/admin", "/api")) or not response["Content-Type"].startswith("text/html"):
            continue
        assert not re.search(r"<script(?![^>]*\bsrc=)", html), name
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html), name
        assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", html), name
