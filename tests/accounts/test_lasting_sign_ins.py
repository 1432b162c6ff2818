"""Sign-ins and tokens end by themselves, and what concerns sign-ins and rights asks for the password."""

import time
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts import sessions
from accounts.models import ApiToken, AuditEntry, Invitation, User
from accounts.tokens import TOLD_EVERY, create_token
from tests.accounts.conftest import is_in, sign_in
from tests.fixtures import PASSWORD, signed_in, step_up

HOUR, DAY = 3600, 86_400
CONFIRM = "/account/confirm/"
NEW_TOKEN = {"name": "notebook", "days": "7", "scopes": ["read"]}
Action = AuditEntry.Action


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
