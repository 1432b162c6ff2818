"""One id for a request: in its answer, in every line that is written for it, and in what is said when it fails."""

import pytest
from django.test import Client

from accounts.tokens import create_token
from arenasite.server.http import Request
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


def test_a_well_formed_id_is_kept_and_another_is_made_where_there_is_none():
    browser = Client()
    given = browser.get("/sign-in/", headers={"X-Request-ID": "proxy-0123456789.abc"})["X-Request-ID"]
    made = {browser.get("/sign-in/")["X-Request-ID"] for _ in range(3)}

    assert given == "proxy-0123456789.abc"
    assert len(made) == 3
    assert all(len(one) == 32 for one in made)
    for bad in ("short", "x" * 65, "with space in it", "semi;colon-here", "ünïcödé-ids", "-begins-so-"):
        assert browser.get("/sign-in/", headers={"X-Request-ID": bad})["X-Request-ID"] != bad


def of_requests(lines, beginning=""):
    """What was written of requests, and of their failures."""
    told = [one for one in lines.objects if one["logger"] in ("arenasite.requests", "django.request")]
    return [one for one in told if one["message"].startswith(beginning)]


def test_a_line_says_who_asked_what_and_how_it_ended(alice, lines):
    answer = signed_in(alice).get("/runs/?q=a+secret")
    Client().get("/api/runs/", headers={"Authorization": f"Bearer {create_token(alice)}"})

    [of_page], [of_api] = of_requests(lines, "GET /runs/"), of_requests(lines, "GET /api/runs/")
    assert of_page["message"].startswith("GET /runs/ 200 in ")
    assert of_page["request"] == answer["X-Request-ID"]
    assert of_page["user"] == of_api["user"] == str(alice.pk)


def test_paths_that_hold_a_secret_are_told_by_their_route_and_none_by_the_web_server(lines):
    Client().get("/s/a-secret-of-somebody/")
    Client().get("/invitations/another-secret/")
    told = str(of_requests(lines))
    assert "secret" not in told.replace("<str:secret>", "")
    assert "/s/<str:secret>/ 404" in told

    request = Request.__new__(Request)
    request.method, request.uri = b"GET", b"/s/a-secret/?q=canary-prompt"
    assert repr(request) == "<Request GET>", "so Daphne names the request that it gives up"


def test_a_problem_and_the_line_of_a_failure_name_the_request(alice, lines, monkeypatch):
    monkeypatch.setattr("experiments.lab.usage.views.found_usage", lambda *_, **__: 1 / 0)
    browser = signed_in(alice)
    browser.raise_request_exception = False
    for address in ("/api/runs/01a2023e-90b3-75ad-a328-e8f4d150adcb/", "/api/nothing/"):
        problem = browser.get(address)
        assert (problem.status_code, problem.json()["request_id"]) == (404, problem["X-Request-ID"])

    answer = browser.get("/usage/")
    [line] = of_requests(lines, "Internal Server Error")
    assert (answer.status_code, line["request"]) == (500, answer["X-Request-ID"])
