"""Whatever is answered, and for whatever reason: nothing in it may run but our own files, and nobody frames it."""

from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db
JSON = {"content_type": "application/json"}


def fails(*_args, **_more):
    raise RuntimeError("it broke")


@pytest.fixture
def kinds(alice, monkeypatch):
    """One answer of each kind, with the status that it has to have."""
    visitor, hers = Client(raise_request_exception=False), signed_in(alice)
    hers.raise_request_exception = False
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    answers = {
        "page": (200, hers.get("/runs/")),
        "sign-in": (200, visitor.get("/sign-in/")),
        "redirect": (302, visitor.get("/runs/")),
        "form refused": (200, hers.post("/account/", {"name": ""})),
        "missing token of a form": (403, strict.post("/arena/", {"title": "x"})),
        "not there": (404, visitor.get("/nothing/")),
        "not there in the API": (404, hers.get("/api/nothing/")),
        "not signed in": (401, visitor.get("/api/runs/")),
        "bad request": (400, hers.post("/api/experiments/", "{", **JSON)),
        "wrong method": (405, hers.delete("/api/runs/")),
        "wrong method of a page": (405, hers.get(reverse("logout"))),
        "wrong kind": (415, hers.post("/api/experiments/", "x", content_type="text/plain")),
        "wrong host": (400, visitor.get("/runs/", headers={"host": "evil.example"})),
        "null in the address": (404, visitor.get("/runs/%00/")),
        "API": (200, hers.get("/api/runs/")),
        "schema": (200, visitor.get("/api/schema/")),
        "documentation": (200, visitor.get("/api/docs/")),
        "script of words": (200, visitor.get("/words.js")),
        "static script": (200, visitor.get("/static/run.js")),
        "static picture": (200, visitor.get("/static/favicon.svg")),
        "static nothing": (404, visitor.get("/static/nothing.js")),
        "administration": (302, visitor.get("/admin/")),
        "administration refused": (302, hers.get("/admin/")),
        "table": (200, hers.get(reverse("usage-csv"))),
    }
    monkeypatch.setattr("experiments.models.run.RunQuerySet.visible_to", fails)
    answers["failure"] = (500, hers.get(f"/runs/{UUID(int=7)}/"))
    answers["failure of the API"] = (500, hers.get("/api/runs/"))
    return answers


def directives(policy):
    return {name: set(values) for name, *values in (part.split() for part in policy.split(";") if part.strip())}


def test_each_kind_has_the_policy(kinds):
    for name, (status, answer) in kinds.items():
        assert answer.status_code == status, name
        policy = directives(answer.headers.get("Content-Security-Policy", ""))
        assert policy["default-src"] == {"'none'"}, name
        assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == {"'self'"}, name
        assert policy["frame-ancestors"] == policy["base-uri"] == {"'none'"}, name
        allowed = set().union(*policy.values())
        assert allowed <= {"'none'", "'self'", "data:"}, name
        assert policy["img-src"] == {"'self'", "data:"}, name


def test_each_kind_is_taken_for_what_it_says_and_tells_nobody_where_it_was(kinds):
    for name, (_status, answer) in kinds.items():
        assert answer.headers.get("X-Content-Type-Options") == "nosniff", name
        assert answer.headers.get("Referrer-Policy") == "same-origin", name
        assert answer.headers.get("Cross-Origin-Opener-Policy") == "same-origin", name


def test_a_failure_tells_nothing_of_itself(kinds):
    for name in ("failure", "failure of the API"):
        said = kinds[name][1].content.decode()
        assert "it broke" not in said, name
        assert "Traceback" not in said, name
