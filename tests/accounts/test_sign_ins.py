"""Who may make themselves an account and sign in, what is recorded of it, how it ends, what asks for the password."""

import time
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts import guessing, sessions
from accounts.models import ApiToken, AuditEntry, Invitation, User
from accounts.tokens import TOLD_EVERY, create_token
from tests.accounts.conftest import is_in, link_in, sign_in
from tests.fixtures import PASSWORD, signed_in, step_up

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


HOUR, DAY = 3600, 86_400
CONFIRM = "/account/confirm/"
NEW_TOKEN = {"name": "notebook", "days": "7", "scopes": ["read"]}


def wind_back(browser, **ago):
    """As if this had been so many seconds ago."""
    session = browser.session
    for name, seconds in ago.items():
        session[name] = int(time.time()) - seconds
    session.save()


def test_one_that_is_used_lasts_two_weeks_at_most_and_another_three_days(
    browser, alice, django_assert_num_queries, entries_of, settings
):
    wind_back(browser, begun=HOUR, seen=4 * HOUR)
    browser.get("/language/")
    seen = browser.session["seen"]
    assert seen > time.time() - HOUR
    with django_assert_num_queries(2):  # the session and its person
        browser.get("/language/")
    assert browser.session["seen"] == seen

    wind_back(browser, begun=13 * DAY, seen=HOUR)
    assert browser.get("/account/").status_code == 200
    wind_back(browser, begun=15 * DAY, seen=1)
    assert browser.get("/account/").status_code == 302
    assert browser.get("/api/runs/").status_code == 401

    unused = signed_in(alice)
    row = Session.objects.get(pk=unused.session.session_key)
    assert 0 <= (row.expire_date - timezone.now()).total_seconds() <= settings.SESSION_COOKIE_AGE == 72 * HOUR
    wind_back(unused, begun=4 * DAY, seen=73 * HOUR)
    assert "Your sign-in has expired." in unused.get("/account/", follow=True).content.decode()
    assert entries_of(Action.SIGNED_OUT)[-1].detail == {"expired": True}


def test_one_elsewhere_or_all_others_are_ended_and_somebody_elses_is_not_found(visitor, alice, bob, entries_of):
    elsewhere, third, bobs = Client(), Client(), Client()
    firefox = {"HTTP_USER_AGENT": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
    visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD}, **firefox)
    for browser, name in ((elsewhere, "alice"), (third, "alice"), (bobs, "bob")):
        sign_in(browser, name)
    page = visitor.get("/account/").content.decode()
    assert ("Firefox · Linux" in page, "127.0.0.1" in page) == (True, True)
    row = UserSession.objects.get(session_key=elsewhere.session.session_key)
    assert bobs.post(f"/account/sign-ins/{row.pk}/end/").status_code == 404
    assert is_in(elsewhere)

    visitor.post(f"/account/sign-ins/{row.pk}/end/")
    assert [is_in(browser) for browser in (elsewhere, third)] == [False, True]
    visitor.post("/account/sign-ins/end/")

    assert [is_in(browser) for browser in (visitor, third, bobs)] == [True, False, True]
    assert UserSession.objects.count() == 2
    assert [entry.detail for entry in entries_of(Action.SIGNED_OUT)] == [{"elsewhere": 1}] * 2


def test_the_command_ends_those_of_one_person_or_all(alice, bob, entries_of, capsys):
    first, second = signed_in(alice), signed_in(bob)
    for asked in ([], ["nobody-of-that-name"], ["alice", "--all"]):
        with pytest.raises(CommandError):
            call_command("end_sessions", *asked)

    call_command("end_sessions", "alice")
    assert [is_in(browser) for browser in (first, second)] == [False, True]
    call_command("end_sessions", "--all")

    assert not is_in(second)
    assert capsys.readouterr().out.splitlines() == ["1 sign-ins have ended."] * 2
    assert [entry.detail for entry in entries_of(Action.SIGNED_OUT)] == [{"by_command": 1}] * 2


@pytest.fixture
def stale(admin):
    """A browser in which an admin has signed in an hour ago."""
    browser = Client()
    browser.force_login(admin)
    step_up(browser, admin, ago=3600)
    return browser


def test_an_hour_later_the_password_is_asked_for_and_it_is_done_then(visitor, alice, stale):
    sign_in(visitor)
    assert "alab_" in visitor.post("/account/", NEW_TOKEN).content.decode(), "at once, without being asked again"
    asked = stale.post("/account/", NEW_TOKEN)
    assert asked["Location"].startswith(CONFIRM)
    assert stale.post(asked["Location"], {"password": "wrong"}).status_code == 200
    assert ApiToken.objects.get().user == alice

    done = stale.post(asked["Location"], {"password": PASSWORD})

    assert "alab_" in done.content.decode()
    assert ApiToken.objects.count() == 2


def test_confirming_goes_on_in_a_session_of_a_new_name_and_expired_ones_are_forgotten(visitor, alice):
    sign_in(visitor)
    step_up(visitor, alice, ago=3600)
    former = visitor.session.session_key

    visitor.post(CONFIRM, {"password": PASSWORD})

    assert visitor.session.session_key != former
    thief, other = Client(), Client()
    thief.cookies["arena_session"] = former
    assert not is_in(thief)
    assert UserSession.objects.count() == 1

    sign_in(other)
    Session.objects.filter(pk=visitor.session.session_key).update(expire_date=timezone.now() - timezone.timedelta(1))
    assert sessions.forget_expired() == 1
    assert UserSession.objects.get().session_key == other.session.session_key


def test_changes_of_people_and_of_what_one_signs_in_with_ask_too_and_reading_does_not(stale, alice):
    person = f"/admin/accounts/user/{alice.pk}"
    django = {
        f"{person}/change/": {"username": alice.username, "role": "admin", "is_active": "on"},
        f"{person}/password/": {"password1": "taken over, word by word"},
        "/admin/accounts/user/add/": {"username": "mallory", "role": "admin"},
    }
    for path, sent in {
        f"/people/{alice.pk}/role/": {"role": "admin"},
        f"/people/{alice.pk}/deactivate/": {},
        "/people/": {"role": "admin"},
        "/account/sign-ins/end/": {},
        "/account/email/": {"email": "other@lab.example", "action_add": ""},
        "/account/second-factor/totp/activate/": {"code": "123456"},
        "/account/second-factor/recovery-codes/generate/": {},
        **django,
    }.items():
        assert path not in django or stale.get(path).status_code == 200, path
        assert stale.post(path, sent)["Location"].startswith((CONFIRM, "/account/second-factor/")), path
    alice.refresh_from_db()
    assert (alice.role, alice.check_password(PASSWORD), User.objects.count()) == ("researcher", True, 2)
    assert Invitation.objects.count() == 0
    assert not EmailAddress.objects.filter(email="other@lab.example").exists()
    for path in ("/api/keys/", "/api/webhooks/", "/api/tokens/"):  # asked before the body is read
        refused = stale.post(path, {}, content_type="application/json", headers={"Origin": "http://testserver"})
        assert (refused.status_code, "Confirm that it is you" in refused.json()["detail"]) == (403, True), path
    for path in ("/people/", "/account/", "/runs/", "/api/runs/", "/api/keys/", "/api/webhooks/"):
        assert stale.get(path).status_code == 200, path


@pytest.fixture
def token(alice):
    return create_token(alice, name="in use")


def ask(token: str) -> int:
    return Client().get("/api/models/", headers={"Authorization": f"Bearer {token}"}).status_code


def test_other_tokens_of_the_same_person_cost_nothing(alice, token, django_assert_num_queries):
    assert ask(token) == 200
    with django_assert_num_queries(3) as before:
        assert ask(token) == 200
    for number in range(20):
        create_token(alice, name=f"other {number}")

    with django_assert_num_queries(len(before)):
        assert ask(token) == 200


def test_one_that_has_expired_opens_nothing_and_others_are_forgotten_when_a_use_is_noted(alice, bob, token):
    """Not at every request: once in a minute, when something is written anyway."""
    assert ask(token) == 200
    expired = create_token(alice, name="used when expired")
    for name in ("old", "new"):
        create_token(alice, name=name)
    create_token(bob, name="bob's")
    past = timezone.now() - timedelta(days=1)
    ApiToken.objects.filter(name__in=["used when expired", "old", "bob's"]).update(expiry=past)

    assert (ask(expired), ask(token)) == (401, 200)
    assert set(ApiToken.objects.values_list("name", flat=True)) == {"in use", "new", "old", "bob's"}

    ApiToken.objects.filter(name="in use").update(last_used=timezone.now() - TOLD_EVERY)
    assert ask(token) == 200
    assert set(ApiToken.objects.values_list("name", flat=True)) == {"in use", "new", "bob's"}


def test_the_command_prints_the_token_on_the_last_line_or_says_what_cannot_be(alice, django_user_model, capsys):
    django_user_model.objects.create_user("gone", is_active=False)
    for arguments, said in (
        (["zoe"], "Nobody is called zoe"),
        (["gone"], "gone is not active"),
        *((["alice", "--days", days], "1 to 365 days") for days in ("0", "366", "-1")),
        *((["alice", "--scopes", scopes], "read, write, spend, review, admin") for scopes in ("", "fly", "read,fly")),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("create_token", *arguments)
    assert not ApiToken.objects.exists()

    call_command("create_token", "alice", "--name", "nightly", "--days", "7", "--scopes", "spend, read")
    assert ask(capsys.readouterr().out.splitlines()[-1]) == 200
    row = ApiToken.objects.get()
    assert (row.name, row.scopes) == ("nightly", ["read", "spend"])
    assert abs(row.expiry - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)
