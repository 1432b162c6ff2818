"""Who may make themselves an account, by the lab's policy."""

import re

import pytest
from django.core import mail
from django.core.checks import run_checks
from django.test import Client

from accounts.models import AuditEntry, User
from tests.accounts.conftest import sign_in

NEW = {
    "username": "zoe",
    "email": "zoe@uni.example",
    "password1": "seventeen quiet otters",
    "password2": "seventeen quiet otters",
}


@pytest.fixture
def by_domain(settings):
    settings.SIGNUP, settings.SIGNUP_DOMAINS, settings.HAS_MAIL = "domain", ["uni.example"], True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]


@pytest.mark.parametrize("policy", ["closed", "invite"])
def test_nobody_comes_in_by_themselves(settings, visitor, policy):
    settings.SIGNUP = policy

    for answer in (visitor.get("/sign-up/"), visitor.post("/sign-up/", NEW)):
        assert "by invitation" in answer.content.decode()
    assert User.objects.count() == 0
    assert "/sign-up/" not in visitor.get("/sign-in/").content.decode()


def test_an_address_of_the_lab_is_verified_before_the_first_sign_in(by_domain, visitor, deeds):
    assert "/sign-up/" in visitor.get("/sign-in/").content.decode()
    assert visitor.post("/sign-up/", NEW)["Location"] == "/account/email/sent/"
    assert sign_in(Client(), "zoe", NEW["password1"])["Location"] == "/account/email/sent/"

    link = re.search(r"http://testserver(/\S+)", mail.outbox[0].body)[1]
    visitor.post(link)

    assert sign_in(visitor, "zoe", NEW["password1"])["Location"] == "/arena/"
    assert User.objects.get().role == "researcher"
    assert deeds(AuditEntry.Action.SIGNED_UP)[0].actor == "zoe"


@pytest.mark.parametrize("email", ["zoe@evil.example", "zoe@uni.example.evil.example", "zoe@sub.uni.example", ""])
def test_any_other_address_is_refused(by_domain, visitor, email):
    answer = visitor.post("/sign-up/", {**NEW, "email": email})

    assert 'aria-invalid="true"' in answer.content.decode()
    assert User.objects.count() == 0


def test_whoever_has_been_in_is_not_held_up_for_a_letter(by_domain, visitor, bob):
    User.objects.filter(pk=bob.pk).update(last_login="2026-01-01T00:00Z")

    assert sign_in(visitor, "bob")["Location"] == "/arena/"


def test_an_address_that_is_taken_is_not_given_away(by_domain, visitor, bob):
    bob.email = "zoe@uni.example"
    bob.save()

    assert visitor.post("/sign-up/", NEW)["Location"] == "/account/email/sent/"
    assert User.objects.count() == 1
    assert "belongs to an account already" in mail.outbox[0].body


@pytest.mark.parametrize("password", ["short", "password1234", "zoezoezoezoe"])
def test_a_password_that_is_easily_guessed_is_refused(by_domain, visitor, password):
    sent = {**NEW, "username": "zoezoezoezoe", "password1": password, "password2": password}

    assert 'aria-invalid="true"' in visitor.post("/sign-up/", sent).content.decode()
    assert User.objects.count() == 0


def found():
    return {message.id for message in run_checks() if message.id and message.id.startswith("accounts.")}


def test_by_domain_needs_domains_and_a_mail_server(settings):
    settings.SIGNUP, settings.SIGNUP_DOMAINS, settings.HAS_MAIL = "domain", [], False
    assert found() == {"accounts.E001", "accounts.E002"}

    settings.SIGNUP_DOMAINS, settings.HAS_MAIL = ["uni.example"], True
    assert found() == set()
