"""Second factors: codes of an app, recovery codes, and roles that must have one."""

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from accounts import roles
from accounts.factors import admitted
from accounts.models import AuditEntry, User
from accounts.refusals import NotForYou
from accounts.tokens import create_token
from tests.accounts.conftest import sign_in
from tests.fixtures import signed_in

Action = AuditEntry.Action
CODE = "/account/second-factor/authenticate/"


def is_in(browser):
    return browser.get("/account/").status_code == 200


def test_a_password_alone_opens_nothing(visitor, alice, app_of):
    app_of(alice)

    assert sign_in(visitor)["Location"] == CODE
    assert not is_in(visitor)
    assert visitor.get(CODE).status_code == 200


def test_the_code_of_the_app_opens(visitor, alice, app_of, deeds):
    app = app_of(alice)
    sign_in(visitor, next="/runs/")

    assert visitor.post(CODE, {"code": app.code})["Location"] == "/runs/"
    assert is_in(visitor)
    assert deeds(Action.SIGNED_IN)[0].detail == {"by_means_of": ["password", "totp"]}


def test_a_code_that_was_used_is_void(visitor, alice, app_of):
    app = app_of(alice)
    sign_in(visitor)
    visitor.post(CODE, {"code": app.code})
    second = Client()
    sign_in(second)

    assert second.post(CODE, {"code": app.code}).status_code == 200
    assert not is_in(second)


def test_a_wrong_code_is_recorded(visitor, alice, app_of, deeds):
    app = app_of(alice)
    wrong = f"{(int(app.code) + 1) % 1_000_000:06}"
    sign_in(visitor)

    assert "not the code of this moment" in visitor.post(CODE, {"code": wrong}).content.decode()
    [entry] = deeds(Action.SIGN_IN_FAILED)
    assert (entry.target, entry.detail) == (f"user:{alice.pk}", {"kind": "totp"})


def test_codes_are_not_tried_for_long(visitor, alice, app_of):
    app = app_of(alice)
    sign_in(visitor)
    for number in range(5):
        visitor.post(CODE, {"code": f"x{number}"})

    assert "tried too often" in visitor.post(CODE, {"code": app.code}).content.decode()
    assert not is_in(visitor)


def test_a_recovery_code_opens_once(visitor, alice, app_of):
    code = app_of(alice).recovery[0]
    sign_in(visitor)
    visitor.post(CODE, {"code": code})
    assert is_in(visitor)
    second = Client()
    sign_in(second)

    assert second.post(CODE, {"code": code}).status_code == 200
    assert not is_in(second)


def test_the_second_factor_holds_for_the_django_admin(visitor, admin, app_of):
    app_of(admin)
    sign_in(visitor, "ada", next="/admin/")

    assert visitor.get("/admin/").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_an_app_is_set_up_after_the_password_was_asked_for(alice, monkeypatch, deeds):
    browser = Client()
    browser.force_login(alice)
    path = "/account/second-factor/totp/activate/"
    assert browser.get(path)["Location"].startswith("/account/confirm/")
    browser = signed_in(alice)
    browser.get(path)
    monkeypatch.setattr("allauth.mfa.totp.forms.auth.validate_totp_code", lambda secret, code: code == "123456")

    done = browser.post(path, {"code": "123456"}, follow=True)

    assert "Recovery codes" in done.content.decode()
    assert [entry.detail["kind"] for entry in deeds(Action.FACTOR_ADDED)] == ["totp", "recovery_codes"]
    browser.post("/account/second-factor/totp/deactivate/")
    assert [entry.detail["kind"] for entry in deeds(Action.FACTOR_REMOVED)] == ["totp", "recovery_codes"]
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize(
    "path",
    [
        *("", "totp/activate/", "webauthn/", "webauthn/add/", "reauthenticate/"),
    ],
)
def test_its_pages_are_ours(browser, path, alice, app_of):
    if path == "reauthenticate/":
        app_of(alice)

    page = browser.get(f"/account/second-factor/{path}")

    assert page.status_code == 200
    assert 'class="site"' in page.content.decode()
    assert " style=" not in page.content.decode()


@pytest.mark.parametrize("path", ["", "recovery-codes/", "recovery-codes/generate/", "totp/deactivate/"])
def test_its_pages_with_an_app_are_ours(browser, path, alice, app_of):
    app_of(alice)

    assert 'class="site"' in browser.get(f"/account/second-factor/{path}").content.decode()


def test_recovery_codes_are_downloaded_as_text(browser, alice, app_of):
    codes = app_of(alice).recovery

    answer = browser.get("/account/second-factor/recovery-codes/download/")

    assert answer["Content-Type"].startswith("text/plain")
    assert all(code in answer.content.decode() for code in codes)


@pytest.fixture
def demanded(settings):
    settings.REQUIRE_MFA = ["admin"]


@pytest.mark.parametrize("path", ["/arena/", "/people/", "/account/", "/admin/", "/audit/"])
def test_a_role_that_must_have_one_sets_it_up_before_anything_else(demanded, admins, path):
    assert admins.get(path)["Location"] == "/account/second-factor/"


def test_the_page_says_why_and_the_way_out_is_open(demanded, admins):
    assert "Your role asks for a second factor" in admins.get("/account/second-factor/").content.decode()
    assert admins.post("/sign-out/")["Location"] == "/sign-in/"


def test_the_api_refuses_such_a_session_and_takes_the_persons_token(demanded, admin, admins):
    refused = admins.get("/api/models/")
    token = create_token(admin)

    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    assert Client().get("/api/models/", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_such_a_session_opens_no_socket(demanded, admin, alice):
    assert isinstance(admitted(admin), AnonymousUser)
    assert admitted(alice) is alice


def test_with_a_factor_everything_is_open(demanded, admin, admins, app_of):
    app_of(admin)

    assert admins.get("/people/").status_code == 200


def test_recovery_codes_alone_are_no_factor(demanded, admin, admins, app_of):
    app_of(admin)
    Authenticator.objects.filter(type="totp").delete()

    assert admins.get("/people/").status_code == 302


def test_other_roles_are_free(demanded, browser):
    assert browser.get("/account/").status_code == 200


def test_an_admin_helps_somebody_who_has_lost_it(admin, alice, app_of, deeds):
    app_of(alice)
    elsewhere = signed_in(alice)

    roles.remove_factors(alice, by=admin)

    assert not Authenticator.objects.filter(user=alice).exists()
    assert not is_in(elsewhere)
    [entry] = deeds(Action.FACTOR_REMOVED)
    assert (entry.actor, entry.name) == ("ada", "alice")


def test_nobody_else_removes_a_factor(alice, bob, app_of):
    app_of(alice)

    with pytest.raises(NotForYou):
        roles.remove_factors(alice, by=bob)
    assert User.objects.filter(authenticator__user=alice).exists()
