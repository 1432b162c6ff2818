"""What every answer tells the browser, and what it is told when somebody signs out."""

import logging

import pytest
from django.conf import settings as configured
from django.test import Client, override_settings
from django.urls import path

from arenasite.problems import server_error
from tests.fixtures import PASSWORD

pytestmark = pytest.mark.django_db

PRIVATE = ["/arena/", "/runs/", "/account/", "/usage/", "/account/keys/", "/runs/nothing/"]
API = ["/api/runs/", "/api/keys/", "/api/usage/"]


def test_what_somebody_is_shown_is_kept_by_no_cache(browser):
    for address in PRIVATE:
        assert "no-store" in browser.get(address)["Cache-Control"], address


def test_nor_is_what_the_api_tells_a_browser(browser):
    for address in API:
        assert "no-store" in browser.get(address)["Cache-Control"], address


def test_every_answer_is_for_our_own_pages_and_uses_no_device(browser, visitor):
    for client, address in [(browser, "/arena/"), (browser, "/api/runs/"), (visitor, "/sign-in/"), (visitor, "/none/")]:
        answer = client.get(address)
        assert answer["Cross-Origin-Resource-Policy"] == "same-origin", address
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin", address
        assert "camera=()" in answer["Permissions-Policy"], address
        assert "geolocation=()" in answer["Permissions-Policy"], address
        assert "Access-Control-Allow-Origin" not in answer, address


def test_static_files_are_shielded_too(visitor):
    answer = visitor.get("/static/site.css")

    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "object-src 'none'" in answer["Content-Security-Policy"]
    assert answer["Content-Type"] == 'text/css; charset="utf-8"'


def test_signing_out_clears_what_the_browser_has_kept(browser):
    answer = browser.post("/sign-out/")

    assert answer["Clear-Site-Data"] == '"cache", "storage"'
    assert browser.get("/account/").status_code == 302


def test_nothing_else_clears_anything(browser, visitor):
    assert "Clear-Site-Data" not in browser.get("/arena/")
    assert "Clear-Site-Data" not in visitor.get("/sign-in/")


@pytest.fixture
def encrypted(settings):
    """As behind a proxy that ends TLS."""
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    return Client()


def test_a_page_leads_on_to_https(encrypted):
    answer = encrypted.get("/sign-in/")

    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/sign-in/")


def test_the_api_refuses_what_was_not_encrypted_and_leads_nowhere(encrypted):
    answer = encrypted.get("/api/runs/", headers={"authorization": "Bearer alab_secret"})

    assert answer.status_code == 403
    assert "https" in answer.json()["detail"]
    assert encrypted.get("/api/runs/", headers={"x-forwarded-proto": "https"}).status_code == 401


def test_its_health_is_told_either_way(encrypted):
    assert encrypted.get("/api/health/").status_code in {200, 503}


def test_https_is_asked_for_a_year_and_below_the_host(encrypted):
    answer = encrypted.get("/sign-in/", headers={"x-forwarded-proto": "https"})

    assert answer["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


def broken(request):
    raise RuntimeError("postgres://user:secret@db")


urlpatterns = [path("broken/", broken), path("api/broken/", broken)]
handler500 = server_error


@override_settings(ROOT_URLCONF=__name__)
@pytest.mark.parametrize("address", ["/broken/", "/api/broken/"])
def test_a_failure_is_told_by_the_number_of_its_request_alone(address, caplog):
    with caplog.at_level(logging.ERROR):
        answer = Client(raise_request_exception=False).get(address)

    body = answer.content.decode()
    assert answer.status_code == 500
    assert answer["X-Request-ID"] in body
    assert "secret" not in body
    assert "Traceback" not in body
    assert "RuntimeError" in caplog.text


def test_cookies_are_of_this_host_alone_and_out_of_reach(visitor, alice):
    answer = visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD})

    cookie = answer.cookies[configured.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")
