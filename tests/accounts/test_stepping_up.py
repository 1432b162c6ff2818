"""What concerns sign-ins and rights is done after the password was asked for again."""

import pytest
from django.test import Client

from accounts.models import ApiToken, Invitation, User
from tests.accounts.conftest import sign_in
from tests.fixtures import PASSWORD, step_up

CONFIRM = "/account/confirm/"


@pytest.fixture
def stale(admin):
    """A browser in which an admin has signed in an hour ago."""
    browser = Client()
    browser.force_login(admin)
    step_up(browser, admin, ago=3600)
    return browser


def test_whoever_has_just_signed_in_is_not_asked_again(visitor, alice):
    sign_in(visitor)

    assert "alab_" in visitor.post("/account/", {"name": "notebook", "days": "7", "scopes": ["read"]}).content.decode()


def test_an_hour_later_the_password_is_asked_for_and_the_deed_is_done_then(stale):
    asked = stale.post("/account/", {"name": "notebook", "days": "7", "scopes": ["read"]})
    assert asked["Location"].startswith(CONFIRM)
    assert ApiToken.objects.count() == 0

    done = stale.post(asked["Location"], {"password": PASSWORD})

    assert "alab_" in done.content.decode()
    assert ApiToken.objects.get().name == "notebook"


def test_without_the_password_nothing_is_done(stale):
    asked = stale.post("/account/", {"name": "notebook", "days": "7", "scopes": ["read"]})

    refused = stale.post(asked["Location"], {"password": "wrong"})

    assert "This is not your password." in refused.content.decode()
    assert ApiToken.objects.count() == 0


def test_roles_and_invitations_ask_too(stale, alice):
    for path, sent in {
        f"/people/{alice.pk}/role/": {"role": "admin"},
        f"/people/{alice.pk}/deactivate/": {},
        "/people/": {"role": "admin"},
    }.items():
        assert stale.post(path, sent)["Location"].startswith(CONFIRM), path
    assert User.objects.get(pk=alice.pk).role == "researcher"
    assert Invitation.objects.count() == 0


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


def test_looking_is_free(stale):
    assert stale.get("/people/").status_code == 200
