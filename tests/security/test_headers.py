"""What every answer tells the browser, whatever is answered and why: nothing in it may run but our own files."""

from uuid import UUID

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings as configured
from django.test import Client
from django.urls import reverse

from accounts.tokens import create_token
from arenasite.asgi import application
from tests.accounts.conftest import sign_in
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


def test_every_kind_of_answer_has_the_policy_and_is_shielded(alice, monkeypatch, settings):
    settings.WHITENOISE_USE_FINDERS = True
    visitor, hers = Client(raise_request_exception=False), signed_in(alice)
    hers.raise_request_exception = False
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    mine = {200: ("/runs/", "/api/runs/", "/account/", reverse("usage-csv")), 404: ("/api/nothing/",)}
    everybodys = {
        200: ("/sign-in/", "/api/schema/", "/api/docs/", "/words.js", "/static/run.js", "/static/favicon.svg"),
        302: ("/runs/", "/admin/"),
        401: ("/api/runs/",),
        404: ("/nothing/", "/runs/%00/", "/static/nothing.js"),
    }
    kinds = {  # with the status that each has to have
        f"{name} {path}": (status, browser.get(path))
        for name, browser, wanted in (("hers", hers, mine), ("visitor's", visitor, everybodys))
        for status, paths in wanted.items()
        for path in paths
    }
    kinds |= {
        "missing token of a form": (403, strict.post("/arena/", {"title": "x"})),
        "bad request": (400, hers.post("/api/experiments/", "{", content_type="application/json")),
        "wrong method": (405, hers.delete("/api/runs/")),
        "wrong method of a page": (405, hers.get(reverse("logout"))),
        "wrong host": (400, visitor.get("/runs/", headers={"host": "evil.example"})),
    }
    monkeypatch.setattr("experiments.models.run.RunQuerySet.visible_to", lambda *_: 1 / 0)
    kinds["failure"] = (500, hers.get(f"/runs/{UUID(int=7)}/"))
    kinds["failure of the API"] = (500, hers.get("/api/runs/"))

    for name, (status, answer) in kinds.items():
        assert answer.status_code == status, name
        parts = [part.split() for part in answer.headers.get("Content-Security-Policy", "").split(";") if part.strip()]
        policy = {directive: set(values) for directive, *values in parts}
        assert policy["default-src"] == {"'none'"}, name
        assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == {"'self'"}, name
        assert policy["frame-ancestors"] == policy["base-uri"] == {"'none'"}, name
        assert set().union(*policy.values()) <= {"'none'", "'self'", "data:"}, name
        assert policy["img-src"] == {"'self'", "data:"}, name
        assert answer["X-Content-Type-Options"] == "nosniff", name
        assert answer["Referrer-Policy"] == "same-origin", name
        assert answer["Cross-Origin-Opener-Policy"] == answer["Cross-Origin-Resource-Policy"] == "same-origin", name
        assert {"camera=()", "geolocation=()"} <= set(answer["Permissions-Policy"].split(", ")), name
        assert "/static/" in name or "Access-Control-Allow-Origin" not in answer, name
        kind = answer.headers.get("Content-Type", "charset=utf-8")
        assert "charset=utf-8" in kind.lower().replace('"', "") or "json" in kind or "svg" in kind, name
    for path in ("/runs/", "/api/runs/", "/account/", "/api/nothing/"):
        assert "no-store" in kinds[f"hers {path}"][1]["Cache-Control"], path
    for name in ("failure", "failure of the API"):
        said = kinds[name][1].content.decode()
        assert kinds[name][1]["X-Request-ID"] in said, name
        assert "division by zero" not in said, name
        assert "Traceback" not in said, name


def test_the_cookie_of_a_session_is_out_of_reach_and_signing_out_alone_clears_what_the_browser_has_kept(alice):
    browser = Client()
    cookie = sign_in(browser).cookies[configured.SESSION_COOKIE_NAME]

    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")
    assert "Clear-Site-Data" not in browser.get("/arena/")
    assert browser.post("/sign-out/")["Clear-Site-Data"] == '"cache", "storage"'
    assert browser.get("/account/").status_code == 302


def test_where_tls_is_served_a_page_leads_on_to_https_and_the_api_refuses(settings):
    """As behind a proxy that ends TLS."""
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    browser, over_tls = Client(), {"x-forwarded-proto": "https"}
    page = browser.get("/sign-in/")
    assert (page.status_code, page["Location"]) == (301, "https://testserver/sign-in/")
    hsts = browser.get("/sign-in/", headers=over_tls)["Strict-Transport-Security"]
    assert hsts == "max-age=31536000; includeSubDomains"

    refused = browser.get("/api/runs/", headers={"authorization": "Bearer alab_secret"})
    assert refused.status_code == 403
    assert "HTTPS" in refused.json()["detail"]
    assert browser.get("/api/runs/", headers=over_tls).status_code == 401
    assert browser.get("/api/health/").status_code in {200, 503}, "its health is told either way"


async def test_where_tls_is_served_a_socket_that_is_not_encrypted_is_refused(settings):
    settings.HTTPS = True
    headers = [(b"host", b"localhost:8000"), (b"x-forwarded-proto", b"http")]
    socket = WebsocketCommunicator(application, "/ws/runs/x/", headers=headers)

    assert (await socket.connect(timeout=60))[0] is False


def test_nothing_answers_a_trace_takes_a_token_in_its_address_lists_a_folder_or_serves_a_file_of_the_program(alice):
    browser, token = Client(), create_token(alice)
    for path in ("/sign-in/", "/arena/", "/api/runs/", "/static/site.css"):
        assert browser.trace(path).status_code == 405, path
    for name in ("token", "access_token", "api_key", "key", "Authorization"):
        assert browser.get("/api/runs/", {name: token}).status_code == 401, name
    outside = ("/static/../.git/config", "/static/%2e%2e/manage.py")
    for path in ("/static/", "/.git/config", *outside, "/.env", "/var/", "/debug/"):
        answer = browser.get(path)
        assert answer.status_code in {404, 302}, path
        assert b"[core]" not in answer.content, path
