"""Passwords and second factors: how they are set, changed and asked for, and who must have one."""

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.urls import reverse

from accounts import roles
from accounts.errors import Forbidden
from accounts.factors import admitted
from accounts.models import AuditEntry
from accounts.tokens import create_token
from tests.accounts.conftest import is_in, link_in, sign_in
from tests.fixtures import PASSWORD, signed_in
from tests.markup import Page

Action = AuditEntry.Action
NEW = "seventeen quiet otters"
CODE = "/account/second-factor/authenticate/"


def change(browser, **sent):
    return browser.post("/account/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW, **sent})


def test_a_change_keeps_this_sign_in_and_ends_the_others_and_a_refused_one_ends_nothing(visitor, alice, entries_of):
    sign_in(visitor)
    elsewhere, untracked = Client(), signed_in(alice)
    sign_in(elsewhere)
    for sent in ({"oldpassword": "wrong"}, {"password2": "other"}, {"password1": "short", "password2": "short"}):
        assert 'aria-invalid="true"' in change(visitor, **sent).content.decode(), sent
    assert [is_in(browser) for browser in (visitor, elsewhere, untracked)] == [True] * 3
    assert sign_in(Client()).status_code == 302

    assert change(visitor)["Location"] == "/account/"

    assert [sign_in(Client(), "alice", word).status_code for word in (PASSWORD, NEW)] == [200, 302]
    assert [is_in(browser) for browser in (visitor, elsewhere, untracked)] == [True, False, False]
    assert Session.objects.count() == 2, "a socket looks for the row"
    assert [entry.detail["by_mail"] for entry in entries_of(Action.PASSWORD_CHANGED)] == [False]


@pytest.fixture
def mailed(settings):
    """A mail server that keeps what it is given."""
    settings.HAS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    return mail


def test_a_letter_sets_a_password_once_and_spares_no_second_factor(visitor, bob, app_of, mailed, entries_of, settings):
    def reset():
        visitor.post("/forgotten/", {"email": "bob@lab.example"})
        link = link_in(mailed.outbox[-1])
        visitor.post(visitor.get(link)["Location"], {"password1": NEW, "password2": NEW})
        return link

    elsewhere = signed_in(bob)
    for _ in range(5):
        sign_in(visitor, "bob", "wrong")

    link = reset()

    assert sign_in(visitor, "bob", NEW).status_code == 302, "at once, though wrong ones were tried too often"
    assert not is_in(elsewhere)
    assert entries_of(Action.PASSWORD_CHANGED)[0].detail == {"by_mail": True}
    assert "no longer works" in Client().get(link).content.decode()
    assert settings.PASSWORD_RESET_TIMEOUT == 3600

    app_of(bob)
    visitor.post("/sign-out/")
    reset()
    assert not is_in(visitor)
    assert sign_in(Client(), "bob", NEW)["Location"] == CODE


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
        assert {field.get("type") for field in fields} == {"password"}, path
        assert {field.get("autocomplete") for field in fields} <= {"current-password", "new-password"}, path
        assert not any("onpaste" in field.attrib for field in fields), path


def test_an_unknown_address_looks_the_same_and_without_a_mail_server_all_get_nothing(visitor, bob, mailed, settings):
    addresses = ("bob@lab.example", "eve@lab.example")
    known, unknown = (Client().post("/forgotten/", {"email": one}, follow=True).content for one in addresses)

    assert b"If an account has this address" in unknown
    assert len(known) == len(unknown)
    assert [letter.to for letter in mailed.outbox] == [["bob@lab.example"]]
    settings.HAS_MAIL = False
    for answer in (visitor.get("/forgotten/"), visitor.post("/forgotten/", {"email": "bob@lab.example"})):
        assert "Ask an administrator" in answer.content.decode()
    assert len(mailed.outbox) == 1


def test_the_apps_code_opens_once_after_the_password_and_is_not_guessed_for_long(visitor, admin, app_of, entries_of):
    app = app_of(admin)
    second, third = Client(), Client()
    for browser in (visitor, second, third):
        assert sign_in(browser, "ada", next="/runs/")["Location"].startswith(CODE)
        assert not is_in(browser)
        assert browser.get("/admin/").status_code == 302

    assert visitor.post(CODE, {"code": app.code})["Location"] == "/runs/"
    assert is_in(visitor)
    assert entries_of(Action.SIGNED_IN)[0].detail == {"by_means_of": ["password", "totp"]}
    second.post(CODE, {"code": app.code})
    assert not is_in(second)

    wrong = f"{(int(app.code) + 1) % 1_000_000:06}"
    assert "not the current code" in third.post(CODE, {"code": wrong}).content.decode()
    entry = entries_of(Action.SIGN_IN_FAILED)[-1]
    assert (entry.target, entry.detail) == (f"user:{admin.pk}", {"kind": "totp"})
    for number in range(4):
        third.post(CODE, {"code": f"x{number}"})
    assert "Too many attempts" in third.post(CODE, {"code": app.code}).content.decode()
    assert not is_in(third)


def test_recovery_codes_are_long_open_once_and_are_downloaded_after_the_password(visitor, alice, app_of, browser):
    path = "/account/second-factor/recovery-codes/download/"
    assert browser.get(path).status_code == 404
    codes = app_of(alice).recovery
    assert len(set(codes)) == len(codes) >= 8
    assert all(len(code) == 8 and code.isdigit() for code in codes)  # 26 bits each
    second = Client()
    for one, opens in ((visitor, True), (second, False)):
        sign_in(one)
        one.post(CODE, {"code": codes[0]})
        assert is_in(one) == opens

    answer = browser.get(path)

    assert answer["Content-Type"].startswith("text/plain")
    assert answer["Content-Disposition"].startswith("attachment")
    assert [code in answer.content.decode() for code in codes] == [False] + [True] * (len(codes) - 1)
    stale = Client()
    stale.force_login(alice)
    assert stale.get(path).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_an_app_is_set_up_after_the_password_was_asked_for(alice, monkeypatch, entries_of):
    browser = Client()
    browser.force_login(alice)
    path = "/account/second-factor/totp/activate/"
    assert browser.get(path)["Location"].startswith("/account/confirm/")
    browser = signed_in(alice)
    browser.get(path)
    monkeypatch.setattr("allauth.mfa.totp.forms.auth.validate_totp_code", lambda secret, code: code == "123456")

    done = browser.post(path, {"code": "123456"}, follow=True)

    assert "Recovery codes" in done.content.decode()
    assert [entry.detail["kind"] for entry in entries_of(Action.FACTOR_ADDED)] == ["totp", "recovery_codes"]
    browser.post("/account/second-factor/totp/deactivate/")
    assert [entry.detail["kind"] for entry in entries_of(Action.FACTOR_REMOVED)] == ["totp", "recovery_codes"]
    assert not Authenticator.objects.exists()


def test_its_pages_are_ours_and_a_passkey_is_offered_before_the_app_and_named_first(browser, alice, app_of):
    def is_ours(path):
        return 'class="site"' in browser.get(f"/account/second-factor/{path}").content.decode()

    page = browser.get("/account/second-factor/", headers={"host": "localhost"}).content.decode()
    assert page.index(reverse("mfa_add_webauthn")) < page.index(reverse("mfa_activate_totp"))
    assert all(map(is_ours, ("", "totp/activate/", "webauthn/", "webauthn/add/")))
    app_of(alice)
    assert all(map(is_ours, ("", "reauthenticate/", "recovery-codes/", "recovery-codes/generate/", "totp/deactivate/")))
    Authenticator.objects.create(user=alice, type=Authenticator.Type.WEBAUTHN, data={"name": "my phone"})
    assert [factor.type for factor in browser.get("/account/").context["factors"]] == ["webauthn", "totp"]


def test_a_role_that_must_have_a_factor_sets_it_up_before_all_else(settings, admin, admins, browser, app_of, alice):
    settings.REQUIRE_MFA = ["admin"]
    paths = ("/arena/", "/people/", "/account/", "/admin/", "/audit/")
    assert {admins.get(path)["Location"] for path in paths} == {"/account/second-factor/"}
    assert admins.get("/account/second-factor/").status_code == 200
    assert browser.get("/account/").status_code == 200, "other roles are free"

    refused = admins.get("/api/models/")
    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    bearer = {"authorization": f"Bearer {create_token(admin)}"}
    assert Client().get("/api/models/", headers=bearer).status_code == 200
    assert isinstance(admitted(admin), AnonymousUser), "of a socket"
    assert admitted(alice) is alice

    app_of(admin)
    assert admins.get("/people/").status_code == 200
    Authenticator.objects.filter(type="totp").delete()
    assert admins.get("/people/").status_code == 302, "recovery codes alone are no factor"
    assert admins.post("/sign-out/")["Location"] == "/sign-in/"


def test_an_admin_alone_removes_the_factors_of_somebody_who_has_lost_them(admin, alice, bob, app_of, entries_of):
    app_of(alice)
    elsewhere = signed_in(alice)
    with pytest.raises(Forbidden):
        roles.remove_factors(alice, by=bob)

    roles.remove_factors(alice, by=admin)

    assert not Authenticator.objects.filter(user=alice).exists()
    assert not is_in(elsewhere)
    [entry] = entries_of(Action.FACTOR_REMOVED)
    assert (entry.actor, entry.name) == ("ada", "alice")
