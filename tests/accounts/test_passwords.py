"""Passwords: changed, forgotten, set by an admin. Each ends the other sign-ins."""

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client

from accounts.models import AuditEntry
from tests.accounts.conftest import is_in, link_in, sign_in
from tests.cases import each_case
from tests.fixtures import PASSWORD, signed_in
from tests.markup import Page

Action = AuditEntry.Action
NEW = "seventeen quiet otters"


def change(browser, **sent):
    return browser.post("/account/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW, **sent})


def test_a_change_keeps_this_sign_in_and_ends_the_others(visitor, alice, entries_of):
    sign_in(visitor)
    elsewhere, untracked = Client(), signed_in(alice)
    sign_in(elsewhere)

    assert change(visitor)["Location"] == "/account/"

    assert sign_in(Client(), "alice", PASSWORD).status_code == 200
    assert sign_in(Client(), "alice", NEW).status_code == 302
    assert [is_in(browser) for browser in (visitor, elsewhere, untracked)] == [True, False, False]
    assert Session.objects.count() == 2, "a socket looks for the row"
    assert [entry.detail["by_mail"] for entry in entries_of(Action.PASSWORD_CHANGED)] == [False]


@each_case("sent", [{"oldpassword": "wrong"}, {"password2": "other"}, {"password1": "short", "password2": "short"}])
def test_a_change_that_cannot_be_is_said_and_ends_nothing(visitor, alice, sent):
    sign_in(visitor)

    assert 'aria-invalid="true"' in change(visitor, **sent).content.decode()
    assert visitor.get("/account/").status_code == 200
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_the_account_page_lists_the_sign_ins_and_ends_all_others(visitor, alice, entries_of):
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD}, HTTP_USER_AGENT=firefox)
    elsewhere = Client()
    sign_in(elsewhere)
    page = visitor.get("/account/").content.decode()
    assert "Firefox · Linux" in page
    assert "127.0.0.1" in page

    visitor.post("/account/sign-ins/end/")

    assert elsewhere.get("/account/").status_code == 302
    assert UserSession.objects.count() == 1
    assert entries_of(Action.SIGNED_OUT)[0].detail == {"elsewhere": 1}


@pytest.fixture
def mailed(settings):
    """A mail server that keeps what it is given."""
    settings.HAS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    return mail


def reset(visitor, letters):
    """Asks for a letter to Bob, and sets the new password by its link, which is returned."""
    visitor.post("/forgotten/", {"email": "bob@lab.example"})
    link = link_in(letters[0])
    visitor.post(visitor.get(link)["Location"], {"password1": NEW, "password2": NEW})
    return link


def test_a_forgotten_password_is_set_by_a_letter_once(visitor, bob, mailed, entries_of, settings):
    elsewhere = signed_in(bob)
    for _ in range(5):
        sign_in(visitor, "bob", "wrong")

    link = reset(visitor, mailed.outbox)

    assert sign_in(visitor, "bob", NEW).status_code == 302, "at once, though wrong ones were tried too often"
    assert not is_in(elsewhere)
    assert entries_of(Action.PASSWORD_CHANGED)[0].detail == {"by_mail": True}
    assert "no longer works" in Client().get(link).content.decode()
    assert settings.PASSWORD_RESET_TIMEOUT == 3600


def test_a_reset_does_not_get_around_the_second_factor(visitor, bob, app_of, mailed):
    app_of(bob)

    reset(visitor, mailed.outbox)

    assert not is_in(visitor)
    assert sign_in(Client(), "bob", NEW)["Location"] == "/account/second-factor/authenticate/"


def test_a_password_is_compared_exactly_as_it_was_typed_however_long_and_old_it_is(visitor, alice):
    long = "seven solar panels " * 50
    alice.set_password(long)
    alice.date_joined, alice.last_login = "2001-01-01T00:00Z", "2001-01-02T00:00Z"
    alice.save()

    for other in (f" {long}", long.upper(), long[:-1], f"{long[:-2]}x "):
        assert sign_in(visitor, password=other).status_code == 200
    assert not is_in(visitor)
    assert sign_in(visitor, password=long)["Location"] == "/"


def test_fields_of_passwords_are_masked_and_open_to_password_managers(browser):
    for client, path in ((browser, "/account/password/"), (Client(), "/sign-in/"), (browser, "/account/confirm/")):
        inputs = Page(client.get(path).content.decode()).find("input")
        fields = [field for field in inputs if "password" in field.get("name", "") and field.get("type") != "hidden"]
        assert fields
        assert {field.get("type") for field in fields} == {"password"}
        assert {field.get("autocomplete") for field in fields} <= {"current-password", "new-password"}
        assert not any("onpaste" in field.attrib for field in fields)


def test_an_unknown_address_looks_the_same_and_gets_nothing(visitor, bob, mailed):
    known = visitor.post("/forgotten/", {"email": "bob@lab.example"}, follow=True).content
    unknown = Client().post("/forgotten/", {"email": "eve@lab.example"}, follow=True).content

    assert b"If an account has this address" in unknown
    assert len(known) == len(unknown)
    assert [letter.to for letter in mailed.outbox] == [["bob@lab.example"]]


def test_without_a_mail_server_it_is_said_whom_to_ask(visitor):
    for answer in (visitor.get("/forgotten/"), visitor.post("/forgotten/", {"email": "bob@lab.example"})):
        assert "Ask an administrator" in answer.content.decode()
    assert mail.outbox == []


def test_an_admin_sets_a_password_in_the_django_admin(admins, alice, entries_of):
    elsewhere = signed_in(alice)

    sent = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    admins.post(f"/admin/accounts/user/{alice.pk}/password/", sent)

    assert sign_in(Client(), "alice", NEW).status_code == 302
    assert elsewhere.get("/account/").status_code == 302
    assert [entry.actor for entry in entries_of(Action.PASSWORD_CHANGED)] == ["ada"]
