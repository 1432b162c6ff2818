"""Who may make themselves an account, who can sign in, who cannot, and what is recorded of it."""

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.checks import run_checks
from django.test import Client

from accounts import guessing
from accounts.models import AuditEntry, User
from tests.accounts.conftest import is_in, link_in, sign_in

Action = AuditEntry.Action


def test_sign_ins_and_sign_outs_are_recorded_with_the_name_that_was_typed(visitor, alice, entries_of):
    sign_in(visitor, "alice", "wrong")
    sign_in(visitor, "eve\r\n2026-01-01 admin signed_in \x1b[2J" + "x" * 500, "wrong")
    sign_in(visitor)
    visitor.post("/sign-out/")
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert sign_in(visitor).status_code == 200

    [came], [went] = entries_of(Action.SIGNED_IN), entries_of(Action.SIGNED_OUT)
    assert (came.actor_id, came.actor, came.address) == (alice.pk, "alice", "127.0.0.1")
    assert came.detail == {"by_means_of": ["password"]}
    assert went.actor == "alice"
    wrong, unknown, deactivated = entries_of(Action.SIGN_IN_FAILED)
    assert (wrong.actor_id, wrong.name, unknown.actor_id) == (None, "alice", None)
    assert unknown.name.isprintable(), "it stays one line"
    assert unknown.name.startswith("eve\ufffd\ufffd2026-01-01")
    assert len(unknown.name) == 200
    assert deactivated.detail == {"deactivated": True}
    assert "wrong" not in str([entry.detail for entry in AuditEntry.objects.all()])


@pytest.fixture
def alices(alice):
    """A browser in which Alice has signed in before."""
    browser = Client()
    sign_in(browser)
    browser.post("/sign-out/")
    return browser


def guess(times=5, browser=None, name="alice", address="127.0.0.1"):
    """Wrong passwords for one person; from as many addresses, where the address has a place for a number."""
    for number in range(times):
        sign_in(browser or Client(REMOTE_ADDR=address.format(number)), name, "wrong")


def test_passwords_of_one_person_are_not_tried_for_long_from_one_address(visitor, alice, entries_of):
    User.objects.filter(pk=alice.pk).update(email="alice@lab.example")
    ways = ["alice", "ALICE", "alice@lab.example"]
    for number in range(7):
        guess(1, name=ways[number % 3])

    assert {sign_in(visitor, way).status_code for way in ways} == {200}
    assert not is_in(visitor)
    assert len(entries_of(Action.SIGN_IN_FAILED)) == 6  # those that were not looked at do not fill the record
    assert entries_of(Action.SIGN_IN_FAILED)[-1].detail == {"throttled": True}


def test_one_address_tries_so_many_passwords_for_anybody_but_in_a_known_browser(visitor, alices, bob, monkeypatch):
    monkeypatch.setattr(guessing, "ANYBODY_FROM_ONE_ADDRESS", (guessing.Limit(3, 60),))
    tried = [sign_in(Client(), "bob").status_code for _ in range(4)]  # right ones do not count
    for number in range(6):
        sign_in(visitor, f"name{number}", "wrong")

    assert [*tried, sign_in(visitor).status_code] == [302, 302, 302, 302, 200]
    assert sign_in(alices).status_code == 302


def test_wrong_passwords_are_counted_by_address_by_ipv6_network_and_in_a_known_browser_alone(visitor, alices):
    guess(browser=alices)
    assert [sign_in(browser).status_code for browser in (alices, Client())] == [200, 302]

    guess(6, address="198.51.100.{}")
    guess(address="203.0.113.9")
    guess(address="2001:db8:0:1::{}")
    for address, status in (("203.0.113.9", 200), ("2001:db8:0:1:ffff::1", 200), ("2001:db8:0:2::1", 302)):
        assert sign_in(Client(REMOTE_ADDR=address)).status_code == status, address
    assert sign_in(visitor).status_code == 302


def test_guessing_from_everywhere_is_slowed_but_in_a_browser_that_is_known(visitor, alice, alices, bob, monkeypatch):
    monkeypatch.setattr(guessing, "PERSON_FROM_ANYWHERE", (guessing.Limit(2, 3600),))
    cookie = alices.cookies[settings.BROWSER_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    sign_in(visitor, "bob")
    visitor.post("/sign-out/")  # a browser that Bob has used
    guess(3, address="198.51.100.{}")

    forged = Client()
    forged.cookies[settings.BROWSER_COOKIE_NAME] = f"x.{alice.pk}:{cookie.value.partition(':')[2]}"
    for browser in (Client(REMOTE_ADDR="203.0.113.9"), visitor, forged):
        assert sign_in(browser).status_code == 200
    assert sign_in(alices).status_code == 302


@pytest.mark.system
def test_the_limit_holds_and_everybody_can_sign_in_while_redis_is_away(visitor, alice, bob, redis_server):
    redis_server.stop()
    try:
        guess()
        assert sign_in(visitor).status_code == 200
        assert sign_in(visitor, "bob").status_code == 302
    finally:
        redis_server.start()


def test_one_signs_in_by_name_or_address_and_the_door_of_the_django_admin_is_the_same(visitor, admin):
    for name in ("ADA@lab.example", "ada@lab.example", "ada"):
        assert sign_in(Client(), name)["Location"] == "/", name
    first = visitor.get("/admin/", follow=True)

    assert first.redirect_chain[-1][0].startswith("/sign-in/?next=")
    assert sign_in(visitor, "ada", next="/admin/")["Location"] == "/admin/"
    assert visitor.get("/admin/").status_code == 200


def test_a_session_takes_a_new_name_with_the_sign_in_and_the_old_one_is_void(visitor, alice):
    visitor.get("/sign-in/")
    session = visitor.session
    session["planted"] = "by somebody else"
    session.save()
    visitor.cookies["arena_session"] = session.session_key

    sign_in(visitor)

    assert not Session.objects.filter(pk=session.session_key).exists()
    assert len(visitor.session.session_key) == 32  # of 36 letters and digits: 165 bits


WORDS = dict.fromkeys(("password1", "password2"), "seventeen quiet otters")
NEW = {"username": "zoe", "email": "zoe@uni.example", **WORDS}


def test_nobody_comes_in_by_themselves_but_by_domain_which_needs_domains_and_a_mail_server(settings, visitor):
    for policy in ("closed", "invite"):
        settings.SIGNUP = policy
        for answer in (visitor.get("/sign-up/"), visitor.post("/sign-up/", NEW)):
            assert "by invitation" in answer.content.decode(), policy
        assert "/sign-up/" not in visitor.get("/sign-in/").content.decode(), policy
    assert User.objects.count() == 0

    settings.SIGNUP = "domain"
    for domains, has_mail, errors in (([], False, {"accounts.E001", "accounts.E002"}), (["uni.example"], True, set())):
        settings.SIGNUP_DOMAINS, settings.HAS_MAIL = domains, has_mail
        assert {found.id for found in run_checks() if str(found.id).startswith("accounts.")} == errors


def test_an_address_of_the_lab_is_verified_before_the_first_sign_in(by_domain, visitor, entries_of):
    assert "/sign-up/" in visitor.get("/sign-in/").content.decode()
    assert visitor.post("/sign-up/", NEW)["Location"] == "/account/email/sent/"
    assert sign_in(Client(), "zoe", NEW["password1"])["Location"] == "/account/email/sent/"

    visitor.post(link_in(mail.outbox[0]))

    assert sign_in(visitor, "zoe", NEW["password1"])["Location"] == "/"
    assert User.objects.get().role == "researcher"
    assert entries_of(AuditEntry.Action.SIGNED_UP)[0].actor == "zoe"


def test_any_other_address_and_a_password_that_is_easily_guessed_are_refused(by_domain, visitor):
    for sent in (
        *({"email": f"zoe@{host}"} for host in ("evil.example", "uni.example.evil.example", "sub.uni.example")),
        {"email": ""},
        *({"password1": password, "password2": password} for password in ("short", "password1234", "zoezoezoezoe")),
    ):
        answer = visitor.post("/sign-up/", {**NEW, "username": "zoezoezoezoe", **sent})
        assert 'aria-invalid="true"' in answer.content.decode(), sent
    assert User.objects.count() == 0


def test_whoever_has_been_in_is_not_held_up_for_a_letter_and_no_address_is_given_away(by_domain, visitor, bob):
    User.objects.filter(pk=bob.pk).update(last_login="2026-01-01T00:00Z")

    assert sign_in(Client(), "bob")["Location"] == "/"

    bob.refresh_from_db()
    bob.email = "zoe@uni.example"
    bob.save()

    assert visitor.post("/sign-up/", NEW)["Location"] == "/account/email/sent/"
    assert User.objects.count() == 1
    assert "already belongs to an account" in mail.outbox[0].body
