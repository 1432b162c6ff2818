"""Second factors: codes of an app, recovery codes, and roles that must have one."""

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from accounts import roles
from accounts.errors import Forbidden
from accounts.factors import admitted
from accounts.models import AuditEntry
from accounts.tokens import create_token
from tests.accounts.conftest import is_in, sign_in
from tests.fixtures import signed_in

Action = AuditEntry.Action
CODE = "/account/second-factor/authenticate/"


def test_a_password_alone_opens_nothing_and_the_code_of_the_app_opens_once(visitor, admin, app_of, entries_of):
    app = app_of(admin)
    second = Client()
    for browser in (visitor, second):
        assert sign_in(browser, "ada", next="/runs/")["Location"].startswith(CODE)
        assert not is_in(browser)
        assert browser.get("/admin/").status_code == 302

    assert visitor.post(CODE, {"code": app.code})["Location"] == "/runs/"
    assert is_in(visitor)
    assert entries_of(Action.SIGNED_IN)[0].detail == {"by_means_of": ["password", "totp"]}
    second.post(CODE, {"code": app.code})
    assert not is_in(second)


def test_a_wrong_code_is_recorded_and_codes_are_not_tried_for_long(visitor, alice, app_of, entries_of):
    app = app_of(alice)
    wrong = f"{(int(app.code) + 1) % 1_000_000:06}"
    sign_in(visitor)

    assert "not the current code" in visitor.post(CODE, {"code": wrong}).content.decode()
    [entry] = entries_of(Action.SIGN_IN_FAILED)
    assert (entry.target, entry.detail) == (f"user:{alice.pk}", {"kind": "totp"})

    for number in range(4):
        visitor.post(CODE, {"code": f"x{number}"})
    assert "Too many attempts" in visitor.post(CODE, {"code": app.code}).content.decode()
    assert not is_in(visitor)


def test_a_recovery_code_is_hard_to_guess_and_opens_once(visitor, alice, app_of):
    codes = app_of(alice).recovery
    assert len(set(codes)) == len(codes) >= 8
    assert all(len(code) == 8 and code.isdigit() for code in codes)  # 26 bits each
    code = codes[0]
    sign_in(visitor)
    visitor.post(CODE, {"code": code})
    assert is_in(visitor)
    second = Client()
    sign_in(second)

    assert second.post(CODE, {"code": code}).status_code == 200
    assert not is_in(second)


def test_recovery_codes_that_are_not_used_yet_are_downloaded_as_text_after_the_password(browser, alice, app_of):
    path = "/account/second-factor/recovery-codes/download/"
    assert browser.get(path).status_code == 404
    codes = app_of(alice).recovery

    answer = browser.get(path)

    assert answer["Content-Type"].startswith("text/plain")
    assert answer["Content-Disposition"].startswith("attachment")
    assert all(code in answer.content.decode() for code in codes)
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


def test_its_pages_are_ours(browser, alice, app_of):
    def is_ours(path):
        return 'class="site"' in browser.get(f"/account/second-factor/{path}").content.decode()

    assert all(map(is_ours, ("", "totp/activate/", "webauthn/", "webauthn/add/")))
    app_of(alice)
    assert all(map(is_ours, ("", "reauthenticate/", "recovery-codes/", "recovery-codes/generate/", "totp/deactivate/")))


@pytest.fixture
def demanded(settings):
    settings.REQUIRE_MFA = ["admin"]


def test_a_role_that_must_have_one_sets_it_up_before_anything_else(demanded, admin, admins, browser, app_of):
    paths = ("/arena/", "/people/", "/account/", "/admin/", "/audit/")
    assert {admins.get(path)["Location"] for path in paths} == {"/account/second-factor/"}
    assert admins.get("/account/second-factor/").status_code == 200
    assert browser.get("/account/").status_code == 200, "other roles are free"

    app_of(admin)
    assert admins.get("/people/").status_code == 200
    Authenticator.objects.filter(type="totp").delete()
    assert admins.get("/people/").status_code == 302, "recovery codes alone are no factor"
    assert admins.post("/sign-out/")["Location"] == "/sign-in/"


def test_such_a_session_opens_no_api_and_no_socket_and_the_persons_token_does(demanded, admin, admins, alice):
    refused = admins.get("/api/models/")
    token = create_token(admin)

    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    assert Client().get("/api/models/", headers={"authorization": f"Bearer {token}"}).status_code == 200
    assert isinstance(admitted(admin), AnonymousUser), "of a socket"
    assert admitted(alice) is alice


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


def test_a_passkey_is_offered_before_the_app_and_named_first(browser, alice, app_of):
    page = browser.get("/account/second-factor/", headers={"host": "localhost"}).content.decode()
    assert page.index(reverse("mfa_add_webauthn")) < page.index(reverse("mfa_activate_totp"))
    app_of(alice)
    Authenticator.objects.create(user=alice, type=Authenticator.Type.WEBAUTHN, data={"name": "my phone"})

    assert [factor.type for factor in browser.get("/account/").context["factors"]] == ["webauthn", "totp"]
