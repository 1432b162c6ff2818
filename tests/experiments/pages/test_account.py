"""A person's own page: tokens are shown once, stored as a hash, and void when revoked."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import ApiToken
from accounts.tokens import create_token
from arenasite import demo
from tests.cases import each_case
from tests.fixtures import PASSWORD

pytestmark = pytest.mark.django_db

ACCOUNT = "/account/"


def shown_token(page):
    [field] = page.find(id="new-token")
    return field.get("value")


def test_a_new_token_is_shown_once_and_opens_the_api(browser, read, alice):
    response = browser.post(ACCOUNT, {"name": "notebook", "days": "30", "scopes": ["read"]})

    token = shown_token(read(response))
    assert response.status_code == 200
    assert ApiToken.objects.get(user=alice).name == "notebook"
    assert Client().get("/api/runs/", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert token not in browser.get(ACCOUNT).content.decode()
    assert read(browser.get(ACCOUNT)).find(id="new-token") == []


def test_no_cache_keeps_the_page(browser):
    assert browser.get(ACCOUNT)["Cache-Control"] == "no-store"
    assert browser.post(ACCOUNT, {"name": "x", "days": "1", "scopes": ["read"]})["Cache-Control"] == "no-store"


@each_case(
    ("typed", "field", "words"),
    [
        ({"name": "", "days": "5"}, "name", "required"),
        ({"name": "x" * 101, "days": "5"}, "name", "100 characters"),
        ({"name": "a\x00b", "days": "5"}, "name", "Null characters"),
        ({"name": "x", "days": "0"}, "days", "greater than or equal to 1"),
        ({"name": "x", "days": "366"}, "days", "less than or equal to 365"),
        ({"name": "x", "days": ""}, "days", "required"),
        ({"name": "x", "days": "soon"}, "days", "whole number"),
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(browser, read, typed, field, words):
    page = read(browser.post(ACCOUNT, {"scopes": ["read"], **typed}))

    assert words in page.by_id(f"id_{field}-error").text
    assert page.by_id("id_name").get("value") == (typed["name"].replace("\0", "\ufffd") or None)
    assert ApiToken.objects.count() == 0


@pytest.mark.parametrize(("scopes", "words"), [([], "Choose at least one"), (["fly"], "fly is not one of")])
def test_a_token_that_may_nothing_is_not_made(browser, scopes, words):
    page = browser.post(ACCOUNT, {"name": "x", "days": "1", "scopes": scopes}).content.decode()

    assert words in page
    assert ApiToken.objects.count() == 0


def test_the_page_says_what_each_token_may_do_and_when_it_was_used_last(browser, read, alice):
    token = create_token(alice, name="reader", scopes=["read"])
    assert "never" in read(browser.get(ACCOUNT)).text

    Client().get("/api/runs/", headers={"Authorization": f"Bearer {token}"})

    page = read(browser.get(ACCOUNT)).text
    assert "127.0.0.1" in page
    assert ApiToken.objects.get().scopes == ["read"]


def test_tokens_are_listed_by_name_and_beginning(browser, read, alice):
    create_token(alice, name="notebook")
    key = ApiToken.objects.get().token_key

    text = read(browser.get(ACCOUNT)).text
    assert "notebook" in text
    assert key in text


def test_a_name_is_no_markup_of_ours(browser, alice):
    create_token(alice, name='"><script>alert(1)</script>')

    assert "<script>alert" not in browser.get(ACCOUNT).content.decode()


def test_a_revoked_token_is_void_at_once(browser, alice):
    token = create_token(alice)
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/runs/", headers=headers).status_code == 200

    response = browser.post(reverse("token-revoke", args=[ApiToken.objects.get().token_key]))

    assert response["Location"] == ACCOUNT
    assert Client().get("/api/runs/", headers=headers).status_code == 401


def test_a_token_of_somebody_else_is_not_seen_and_not_revoked(charlies, alice):
    create_token(alice, name="alices notebook")
    key = ApiToken.objects.get().token_key

    assert key not in charlies.get(ACCOUNT).content.decode()
    assert charlies.post(reverse("token-revoke", args=[key])).status_code == 404
    assert ApiToken.objects.count() == 1


def test_a_token_is_revoked_by_posting_alone(browser, alice):
    create_token(alice)

    assert browser.get(reverse("token-revoke", args=[ApiToken.objects.get().token_key])).status_code == 405
    assert ApiToken.objects.count() == 1


def test_signing_in_leads_to_the_page_that_was_asked_for(visitor, alice):
    response = visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": "/runs/"})

    assert response["Location"] == "/runs/"
    assert visitor.get("/runs/").status_code == 200


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example", ""]
)
def test_signing_in_never_leads_elsewhere(visitor, alice, target):
    response = visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": target})

    assert response["Location"] == "/arena/"


@pytest.mark.parametrize(
    ("name", "password"), [("alice", "wrong"), ("nobody", PASSWORD), ("alice", ""), ("", ""), ("a\x00", "b\x00")]
)
def test_a_wrong_password_and_an_unknown_name_look_the_same(visitor, alice, read, name, password):
    response = visitor.post("/sign-in/", {"username": name, "password": password})

    assert response.status_code == 200
    assert "do not belong together" in read(response).text
    assert visitor.get("/runs/").status_code == 302


def test_a_deactivated_person_cannot_sign_in(visitor, alice, read):
    alice.is_active = False
    alice.save()

    assert "do not belong together" in read(visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD})).text


def test_the_demo_people_are_not_shown_outside_a_demo(visitor):
    assert demo.PASSWORD not in visitor.get("/sign-in/").content.decode()


def test_a_demo_shows_its_people_and_their_password(visitor, settings):
    settings.DEMO_MODE = True

    assert demo.PASSWORD in visitor.get("/sign-in/").content.decode()


def test_signing_out_ends_the_session_and_leads_to_the_door(browser):
    assert browser.post("/sign-out/")["Location"] == "/sign-in/"
    assert browser.get("/runs/").status_code == 302


def test_signing_out_is_posted(browser):
    assert browser.get("/sign-out/").status_code == 405
    assert browser.get("/runs/").status_code == 200


def test_whoever_is_signed_in_needs_no_door(browser):
    assert browser.get("/sign-in/")["Location"] == "/arena/"
