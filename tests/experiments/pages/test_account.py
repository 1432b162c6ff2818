"""A person's own page: tokens are shown once, stored as a hash, and void when revoked."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import ApiToken
from arenasite import demo
from tests.cases import each_case
from tests.fixtures import PASSWORD

pytestmark = pytest.mark.django_db

ACCOUNT = "/account/"


def shown_token(page):
    [field] = page.find(id="new-token")
    return field.get("value")


def test_a_new_token_is_shown_once_and_opens_the_api_until_it_is_revoked(browser, read, alice):
    name = '"><script>alert(1)</script>'
    response = browser.post(ACCOUNT, {"name": name, "days": "30", "scopes": ["read"]})
    token = ApiToken.objects.get(user=alice)
    headers = {"Authorization": f"Bearer {shown_token(read(response))}"}
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert (token.name, token.scopes) == (name, ["read"])
    assert "never" in read(browser.get(ACCOUNT)).text

    assert Client().get("/api/runs/", headers=headers).status_code == 200
    html, page = browser.get(ACCOUNT).content.decode(), read(browser.get(ACCOUNT))
    assert shown_token(read(response)) not in html
    assert "<script>alert" not in html
    assert token.token_key in page.text
    assert "127.0.0.1" in page.text, "it says from where the token was used last"

    revoke = reverse("token-revoke", args=[token.token_key])
    assert browser.get(revoke).status_code == 405
    assert browser.post(revoke)["Location"] == ACCOUNT
    assert Client().get("/api/runs/", headers=headers).status_code == 401


@each_case(
    ("typed", "field"),
    [
        ({"name": "a\x00b", "days": "5"}, "name"),
        ({"name": "x", "days": "366"}, "days"),
        ({"name": "x", "days": "5", "scopes": ["fly"]}, None),
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(browser, read, typed, field):
    page = read(browser.post(ACCOUNT, {"scopes": ["read"], **typed}))

    assert page.find(id=f"id_{field}-error") or field is None
    assert page.by_id("id_name").get("value") == (typed["name"].replace("\0", "\ufffd") or None)
    assert ApiToken.objects.count() == 0


@each_case(
    ("target", "leads_to"),
    [
        ("/runs/", "/runs/"),
        ("//evil.example", "/arena/"),
        ("javascript:alert(1)", "/arena/"),
        ("", "/arena/"),
    ],
)
def test_signing_in_leads_to_the_page_that_was_asked_for_and_never_elsewhere(alice, target, leads_to):
    response = Client().post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": target})

    assert response["Location"] == leads_to


@each_case(
    ("name", "password"),
    [("alice", "wrong"), ("nobody", PASSWORD), ("gone", PASSWORD), ("a\x00", "b\x00")],
)
def test_a_wrong_password_an_unknown_name_and_one_that_has_left_look_the_same(
    visitor, alice, django_user_model, read, name, password
):
    django_user_model.objects.create_user("gone", password=PASSWORD, is_active=False)
    response = visitor.post("/sign-in/", {"username": name, "password": password})

    assert response.status_code == 200
    assert "do not belong together" in read(response).text
    assert visitor.get("/runs/").status_code == 302


def test_a_demo_alone_shows_its_people_and_their_password(visitor, settings):
    assert demo.PASSWORD not in visitor.get("/sign-in/").content.decode()
    settings.DEMO_MODE = True

    assert demo.PASSWORD in visitor.get("/sign-in/").content.decode()


def test_signing_out_ends_the_session_and_leads_to_the_door(browser):
    assert browser.get("/sign-in/")["Location"] == "/arena/", "whoever is signed in needs no door"
    assert browser.get("/sign-out/").status_code == 405
    assert browser.get("/runs/").status_code == 200

    assert browser.post("/sign-out/")["Location"] == "/sign-in/"
    assert browser.get("/runs/").status_code == 302


def test_every_page_of_somebody_signed_in_has_a_form_to_sign_out(browser, visitor, read):
    for path in ("/arena/", "/account/", "/runs/", "/leaderboard/", "/account/password/"):
        [form] = read(browser.get(path)).find("form", action="/sign-out/")
        assert form.get("method") == "post", path
    assert not read(visitor.get("/sign-in/")).find("form", action="/sign-out/")
