"""What concerns sign-ins and rights is done after the password was asked for again."""

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.test import Client

from accounts.models import ApiToken, Invitation, User
from tests.accounts.conftest import sign_in
from tests.fixtures import PASSWORD, step_up

CONFIRM = "/account/confirm/"
TOKEN = {"name": "notebook", "days": "7", "scopes": ["read"]}


@pytest.fixture
def stale(admin):
    """A browser in which an admin has signed in an hour ago."""
    browser = Client()
    browser.force_login(admin)
    step_up(browser, admin, ago=3600)
    return browser


def test_whoever_has_just_signed_in_is_not_asked_again(visitor, alice):
    sign_in(visitor)

    assert "alab_" in visitor.post("/account/", TOKEN).content.decode()


def test_an_hour_later_the_password_is_asked_for_and_it_is_done_then(stale):
    asked = stale.post("/account/", TOKEN)
    assert asked["Location"].startswith(CONFIRM)
    assert stale.post(asked["Location"], {"password": "wrong"}).status_code == 200
    assert ApiToken.objects.count() == 0

    done = stale.post(asked["Location"], {"password": PASSWORD})

    assert "alab_" in done.content.decode()
    assert ApiToken.objects.get().name == "notebook"


def test_confirming_goes_on_in_a_session_of_a_new_name(visitor, alice):
    sign_in(visitor)
    step_up(visitor, alice, ago=3600)
    former = visitor.session.session_key

    visitor.post(CONFIRM, {"password": PASSWORD})

    assert visitor.session.session_key != former
    thief = Client()
    thief.cookies["arena_session"] = former
    assert thief.get("/account/").status_code == 302
    assert UserSession.objects.count() == 1


def test_roles_invitations_and_what_one_signs_in_with_ask_too(stale, alice):
    for path, sent in {
        f"/people/{alice.pk}/role/": {"role": "admin"},
        f"/people/{alice.pk}/deactivate/": {},
        "/people/": {"role": "admin"},
        "/account/sign-ins/end/": {},
        "/account/email/": {"email": "other@lab.example", "action_add": ""},
        "/account/second-factor/totp/activate/": {"code": "123456"},
        "/account/second-factor/recovery-codes/generate/": {},
    }.items():
        assert stale.post(path, sent)["Location"].startswith((CONFIRM, "/account/second-factor/")), path
    assert User.objects.get(pk=alice.pk).role == "researcher"
    assert Invitation.objects.count() == 0
    assert not EmailAddress.objects.filter(email="other@lab.example").exists()


def test_the_django_admin_asks_too(stale, alice):
    for path, sent in {
        f"/admin/accounts/user/{alice.pk}/change/": {"username": alice.username, "role": "admin", "is_active": "on"},
        f"/admin/accounts/user/{alice.pk}/password/": {"password1": "taken over, word by word"},
        "/admin/accounts/user/add/": {"username": "mallory", "role": "admin"},
    }.items():
        assert stale.get(path).status_code == 200
        assert stale.post(path, sent)["Location"].startswith(CONFIRM), path
    assert User.objects.get(pk=alice.pk).role == "researcher"
    assert User.objects.get(pk=alice.pk).check_password(PASSWORD)
    assert not User.objects.filter(username="mallory").exists()


@pytest.mark.parametrize("path", ["/api/keys/", "/api/webhooks/"])
def test_what_reaches_keys_and_webhooks_asks_too(stale, path):
    """The body does not matter: who is asked for the password is asked before it is read."""
    refused = stale.post(path, {}, content_type="application/json", headers={"Origin": "http://testserver"})

    assert refused.status_code == 403
    assert "Confirm that it is you" in refused.json()["detail"]
    assert stale.get(path).status_code == 200
