"""Who may make themselves an account, by the lab's policy."""

from django.core import mail
from django.core.checks import run_checks
from django.test import Client

from accounts.models import AuditEntry, User
from tests.accounts.conftest import link_in, sign_in
from tests.cases import each_case

NEW = {
    "username": "zoe",
    "email": "zoe@uni.example",
    "password1": "seventeen quiet otters",
    "password2": "seventeen quiet otters",
}


@each_case("policy", ["closed", "invite"])
def test_nobody_comes_in_by_themselves(settings, visitor, policy):
    settings.SIGNUP = policy

    for answer in (visitor.get("/sign-up/"), visitor.post("/sign-up/", NEW)):
        assert "by invitation" in answer.content.decode()
    assert User.objects.count() == 0
    assert "/sign-up/" not in visitor.get("/sign-in/").content.decode()


def test_an_address_of_the_lab_is_verified_before_the_first_sign_in(by_domain, visitor, entries_of):
    assert "/sign-up/" in visitor.get("/sign-in/").content.decode()
    assert visitor.post("/sign-up/", NEW)["Location"] == "/account/email/sent/"
    assert sign_in(Client(), "zoe", NEW["password1"])["Location"] == "/account/email/sent/"

    visitor.post(link_in(mail.outbox[0]))

    assert sign_in(visitor, "zoe", NEW["password1"])["Location"] == "/"
    assert User.objects.get().role == "researcher"
    assert entries_of(AuditEntry.Action.SIGNED_UP)[0].actor == "zoe"


@each_case(
    "sent",
    [
        *({"email": f"zoe@{host}"} for host in ("evil.example", "uni.example.evil.example", "sub.uni.example")),
        {"email": ""},
        *({"password1": password, "password2": password} for password in ("short", "password1234", "zoezoezoezoe")),
    ],
)
def test_any_other_address_and_a_password_that_is_easily_guessed_are_refused(by_domain, visitor, sent):
    answer = visitor.post("/sign-up/", {**NEW, "username": "zoezoezoezoe", **sent})

    assert 'aria-invalid="true"' in answer.content.decode()
    assert User.objects.count() == 0


def test_whoever_has_been_in_is_not_held_up_for_a_letter(by_domain, visitor, bob):
    User.objects.filter(pk=bob.pk).update(last_login="2026-01-01T00:00Z")

    assert sign_in(visitor, "bob")["Location"] == "/"


def test_an_address_that_is_taken_is_not_given_away(by_domain, visitor, bob):
    bob.email = "zoe@uni.example"
    bob.save()

    assert visitor.post("/sign-up/", NEW)["Location"] == "/account/email/sent/"
    assert User.objects.count() == 1
    assert "already belongs to an account" in mail.outbox[0].body


def test_by_domain_needs_domains_and_a_mail_server(settings):
    settings.SIGNUP = "domain"
    for domains, has_mail, errors in (([], False, {"accounts.E001", "accounts.E002"}), (["uni.example"], True, set())):
        settings.SIGNUP_DOMAINS, settings.HAS_MAIL = domains, has_mail
        assert {found.id for found in run_checks() if str(found.id).startswith("accounts.")} == errors
