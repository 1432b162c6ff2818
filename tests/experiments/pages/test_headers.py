"""Every page is served under the same strict policy, and lives by it."""

import re

import pytest
from django.conf import settings
from django.urls import reverse

from tests.fixtures import PASSWORD

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
PATHS = [
    "/sign-in/",
    "/arena/",
    "/runs/",
    "/account/",
    "/nothing/",
    "/api/docs/",
    "/api/runs/",
    "/words.js",
    "/admin/login/",
]


@pytest.fixture
def pages(browser, visitor, played, alice):
    """Every page: of a visitor, of Alice, of a run, and the ones that say that something is wrong."""
    run = played(max_turns=1)
    found = {path: browser.get(path) for path in PATHS if path != "/sign-in/"}
    found |= {"/sign-in/": visitor.get("/sign-in/"), "/arena/ refused": browser.post("/arena/", {"title": "x"})}
    found |= {name: browser.get(reverse(name, args=[run.pk])) for name in ("run", "run-status")}
    found |= {"call": browser.get(reverse("call", args=[run.calls.first().pk]))}
    found |= {"new token": browser.post("/account/", {"name": "x", "days": "1", "scopes": ["read"]})}
    return found


def policy_of(response):
    parts = (part.strip().partition(" ") for part in response["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


def test_every_page_has_the_strict_policy_and_lives_by_it(pages):
    for name, response in pages.items():
        assert policy_of(response).items() >= POLICY.items(), name
        assert "unsafe" not in response["Content-Security-Policy"], name
        assert response["X-Frame-Options"] == "DENY", name
        assert response["X-Content-Type-Options"] == "nosniff", name
        assert response["Referrer-Policy"] == "same-origin", name

        html = response.content.decode()
        if name.startswith(("/admin", "/api")) or not response["Content-Type"].startswith("text/html"):
            continue
        assert not re.search(r"<script(?![^>]*\bsrc=)", html), name
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html), name
        assert not re.search(r"""(?:src|href|action)=["'](?:https?:)?//""", html), name


def test_the_session_cookie_is_out_of_reach_for_scripts(visitor, alice):
    response = visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD})

    cookie = response.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
