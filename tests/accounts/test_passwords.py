"""Passwords: changed, forgotten, set by an admin. Each ends the other sign-ins."""

import re

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client

from accounts.models import AuditEntry
from tests.accounts.conftest import sign_in
from tests.fixtures import PASSWORD, signed_in

Action = AuditEntry.Action
NEW = "seventeen quiet otters"


def change(browser, **sent):
    return browser.post("/account/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW, **sent})


def test_a_change_keeps_this_sign_in_and_ends_the_others(visitor, alice, deeds):
    sign_in(visitor)
    elsewhere, untracked = Client(), signed_in(alice)
    sign_in(elsewhere)

    assert change(visitor)["Location"] == "/account/"

    assert visitor.get("/account/").status_code == 200
    assert [other.get("/account/").status_code for other in (elsewhere, untracked)] == [302, 302]
    assert Session.objects.count() == 1, "a socket looks for the row"
    assert [entry.detail["by_mail"] for entry in deeds(Action.PASSWORD_CHANGED)] == [False]


def test_the_new_one_opens_and_the_old_one_does_not(visitor, alice):
    sign_in(visitor)
    change(visitor)

    assert sign_in(Client(), "alice", NEW).status_code == 302
    assert sign_in(Client(), "alice", PASSWORD).status_code == 200


@pytest.mark.parametrize(
    "sent", [{"oldpassword": "wrong"}, {"password2": "other"}, {"password1": "short", "password2": "short"}]
)
def test_a_change_that_cannot_be_is_said_and_ends_nothing(visitor, alice, sent):
    sign_in(visitor)

    assert 'aria-invalid="true"' in change(visitor, **sent).content.decode()
    assert visitor.get("/account/").status_code == 200
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_signing_out_everywhere_else(visitor, alice, deeds):
    sign_in(visitor)
    elsewhere = Client()
    sign_in(elsewhere)

    page = visitor.post("/account/sign-ins/end/", follow=True).content.decode()

    assert "1 other sign-in has ended." in page
    assert elsewhere.get("/account/").status_code == 302
    assert UserSession.objects.count() == 1
    assert deeds(Action.SIGNED_OUT)[0].detail == {"elsewhere": 1}


def test_the_account_page_lists_the_sign_ins(visitor, alice):
    visitor.post(
        "/sign-in/",
        {"username": "alice", "password": PASSWORD},
        HTTP_USER_AGENT="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    )

    page = visitor.get("/account/").content.decode()

    assert "Firefox · Linux" in page
    assert "127.0.0.1" in page


@pytest.fixture
def mailed(settings):
    """A mail server that keeps what it is given."""
    settings.HAS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    return mail


def link_in(letter):
    return re.search(r"http://testserver(/\S+)", letter.body)[1]


def test_a_forgotten_password_is_set_by_a_letter(visitor, bob, mailed, deeds):
    elsewhere = signed_in(bob)
    visitor.post("/forgotten/", {"email": "bob@lab.example"})
    form = visitor.get(link_in(mailed.outbox[0]))["Location"]

    visitor.post(form, {"password1": NEW, "password2": NEW})

    assert sign_in(Client(), "bob", NEW).status_code == 302
    assert elsewhere.get("/account/").status_code == 302
    assert deeds(Action.PASSWORD_CHANGED)[0].detail == {"by_mail": True}


def test_the_link_works_once(visitor, bob, mailed):
    visitor.post("/forgotten/", {"email": "bob@lab.example"})
    link = link_in(mailed.outbox[0])
    visitor.post(visitor.get(link)["Location"], {"password1": NEW, "password2": NEW})

    assert "does not work any more" in Client().get(link).content.decode()


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


def test_an_admin_sets_a_password_in_the_django_admin(admins, alice, deeds):
    elsewhere = signed_in(alice)

    sent = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    admins.post(f"/admin/accounts/user/{alice.pk}/password/", sent)

    assert sign_in(Client(), "alice", NEW).status_code == 302
    assert elsewhere.get("/account/").status_code == 302
    assert [entry.actor for entry in deeds(Action.PASSWORD_CHANGED)] == ["ada"]
