"""One id for a request: in its answer, in every line that is written for it, and in what is said when it fails."""

import logging

import pytest
from django.test import Client

from accounts import logs
from accounts.tokens import create_token
from arenasite.bounded_daphne import BoundedRequest
from arenasite.logs import PathFilter
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


class Heard(logging.Handler):
    def __init__(self):
        super().__init__()
        self.addFilter(PathFilter())
        self.lines = []

    def emit(self, record):
        self.lines.append((record.getMessage(), dict(logs.known())))


@pytest.fixture
def heard():
    handler = Heard()
    loggers = [logging.getLogger(name) for name in ("arenasite.requests", "django.request")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    yield handler.lines
    for logger, level in zip(loggers, levels, strict=True):
        logger.removeHandler(handler)
        logger.setLevel(level)


def test_a_well_formed_id_is_kept_and_another_is_made_where_there_is_none():
    browser = Client()
    given = browser.get("/sign-in/", headers={"X-Request-ID": "proxy-0123456789.abc"})["X-Request-ID"]
    made = {browser.get("/sign-in/")["X-Request-ID"] for _ in range(3)}

    assert given == "proxy-0123456789.abc"
    assert len(made) == 3
    assert all(len(one) == 32 for one in made)
    for bad in ("short", "x" * 65, "with space in it", "semi;colon-here", "ünïcödé-ids", "-begins-so-"):
        assert browser.get("/sign-in/", headers={"X-Request-ID": bad})["X-Request-ID"] != bad


def test_a_line_says_who_asked_what_and_how_it_ended(alice, heard):
    answer = signed_in(alice).get("/runs/?q=a+secret")

    [(line, about)] = [one for one in heard if one[0].startswith("GET /runs/")]
    assert line.startswith("GET /runs/ 200 in ")
    assert about == {"request": answer["X-Request-ID"], "user": str(alice.pk)}
    Client().get("/api/runs/", headers={"Authorization": f"Bearer {create_token(alice)}"})
    assert heard[-1][1]["user"] == str(alice.pk)


def test_paths_that_hold_a_secret_are_told_by_their_route(heard):
    Client().get("/s/a-secret-of-somebody/")
    Client().get("/invitations/another-secret/")

    assert heard
    assert "secret" not in str(heard).replace("<str:secret>", "")
    assert "/s/<str:secret>/ 404" in str(heard)


def test_a_problem_names_the_request(alice):
    answer = signed_in(alice).get("/api/runs/01a2023e-90b3-75ad-a328-e8f4d150adcb/")
    unknown = signed_in(alice).get("/api/nothing/")

    assert (answer.status_code, unknown.status_code) == (404, 404)
    assert answer.json()["request_id"] == answer["X-Request-ID"]
    assert unknown.json()["request_id"] == unknown["X-Request-ID"]


def test_the_line_of_a_failure_names_the_request(alice, heard, monkeypatch):
    monkeypatch.setattr("experiments.usage.views.found_usage", lambda *_, **__: 1 / 0)
    browser = signed_in(alice)
    browser.raise_request_exception = False
    answer = browser.get("/usage/")

    assert answer.status_code == 500
    [(_line, about)] = [one for one in heard if one[0].startswith("Internal Server Error")]
    assert about["request"] == answer["X-Request-ID"]


def test_the_web_server_writes_no_address_into_its_own_lines():
    """Daphne names the request that it gives up, with all that was asked for."""
    request = BoundedRequest.__new__(BoundedRequest)
    request.method, request.uri = b"GET", b"/s/a-secret/?q=canary-prompt"

    assert repr(request) == "<BoundedRequest GET>"
