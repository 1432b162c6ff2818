"""Passwords, resets and factors: nothing is softer on one way in than on another."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.test import Client

from accounts.models import User
from tests.accounts.conftest import app_of, sign_in  # noqa: F401 - app_of is a fixture
from tests.fixtures import PASSWORD, signed_in, step_up

pytestmark = pytest.mark.django_db

NEW = "seven solar panels"
CONFIRM = "/account/confirm/"


def test_no_account_comes_with_the_platform():
    assert User.objects.count() == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM accounts_user")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("other", [f" {PASSWORD}", f"{PASSWORD} ", PASSWORD.upper(), PASSWORD[:-1], PASSWORD + "y"])
def test_a_password_is_compared_exactly_as_it_was_typed(visitor, alice, other):
    assert sign_in(visitor, password=other).status_code == 200
    assert visitor.get("/account/").status_code == 302


def test_the_last_of_many_characters_counts(visitor, alice):
    long = "seven solar panels " * 50
    alice.set_password(long)
    alice.save()

    assert sign_in(visitor, password=f"{long[:-2]}x ").status_code == 200
    assert sign_in(visitor, password=long).status_code == 302


@pytest.mark.parametrize("path", ["/account/password/", "/sign-in/", CONFIRM])
def test_fields_of_passwords_are_masked_and_open_to_password_managers(alice, path):
    browser = Client() if path == "/sign-in/" else signed_in(alice)
    html = browser.get(path).content.decode()

    fields = [tag for tag in re.findall(r"<input[^>]*>", html) if "password" in tag and 'type="hidden"' not in tag]
    assert fields
    assert all('type="password"' in tag for tag in fields)
    assert all(re.search(r'autocomplete="(current|new)-password"', tag) for tag in fields)
    assert "onpaste" not in html


def test_a_change_needs_the_password_of_before(browser, alice):
    browser.post("/account/password/", {"oldpassword": "wrong", "password1": NEW, "password2": NEW})
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)

    browser.post("/account/password/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    alice.refresh_from_db()
    assert alice.check_password(NEW)


def test_a_new_password_that_is_too_easy_is_refused_on_the_page(browser, alice):
    easy = {"oldpassword": PASSWORD, "password1": "password2026!", "password2": "password2026!"}

    assert "common password with something added" in browser.post("/account/password/", easy).content.decode()
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_a_password_never_expires(visitor, alice):
    User.objects.update(date_joined="2001-01-01T00:00Z", last_login="2001-01-02T00:00Z")

    assert sign_in(visitor).status_code == 302
    assert visitor.get("/arena/").status_code == 200


def test_a_reset_does_not_get_around_the_second_factor(visitor, bob, app_of, settings):  # noqa: F811
    settings.HAS_MAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "optional"
    app_of(bob)
    visitor.post("/forgotten/", {"email": "bob@lab.example"})
    link = re.search(r"http://testserver(/\S+)", mail.outbox[0].body)[1]
    form = visitor.get(link)["Location"]

    visitor.post(form, {"password1": NEW, "password2": NEW})

    assert visitor.get("/account/").status_code == 302
    assert sign_in(Client(), "bob", NEW)["Location"] == "/account/second-factor/authenticate/"


def test_the_link_of_a_reset_holds_for_an_hour(settings):
    assert settings.PASSWORD_RESET_TIMEOUT == 3600


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/account/email/", {"email": "other@lab.example", "action_add": ""}),
        ("/account/second-factor/totp/activate/", {"code": "123456"}),
        ("/account/second-factor/recovery-codes/generate/", {}),
    ],
)
def test_what_one_signs_in_with_is_changed_after_the_password_alone(alice, path, sent):
    stale = Client()
    stale.force_login(alice)
    step_up(stale, alice, ago=3600)

    assert stale.post(path, sent)["Location"].startswith((CONFIRM, "/account/second-factor/"))
    assert not EmailAddress.objects.filter(email="other@lab.example").exists()


def test_confirming_goes_on_in_a_session_of_a_new_name(visitor, alice):
    sign_in(visitor)
    step_up(visitor, alice, ago=3600)
    former = visitor.session.session_key

    visitor.post(CONFIRM, {"password": PASSWORD})

    assert visitor.session.session_key != former
    thief = Client()
    thief.cookies["arena_session"] = former
    assert thief.get("/account/").status_code == 302
    page = visitor.get("/account/").content.decode()
    assert page.count("Where you are signed in") == 1
    assert "here" in page


def test_every_page_offers_to_sign_out(browser):
    for path in ("/arena/", "/account/", "/runs/", "/leaderboard/", "/account/password/"):
        assert 'action="/sign-out/"' in browser.get(path).content.decode(), path


def test_recovery_codes_are_random_and_long_enough(alice, app_of):  # noqa: F811
    codes = app_of(alice).recovery

    assert len(set(codes)) == len(codes) >= 8
    assert all(re.fullmatch(r"\d{8}", code) for code in codes)  # 26 bits each


@pytest.mark.parametrize(
    "address", ["a@b.example\nBcc: c@d.example", "a@b.example\r\n\r\nHello", "a@b.example,c@d.example"]
)
def test_no_address_adds_to_a_letter(admins, settings, address):
    settings.HAS_MAIL = True

    admins.post("/people/", {"email": address, "role": "reviewer"})

    assert mail.outbox == []


def test_times_of_deeds_are_told_in_utc(admin, admins, deeds):
    sign_in(Client(), "ada")

    at = admins.get("/api/audit/").json()["results"][0]["at"]
    assert at.endswith("Z")
    assert deeds("signed_in")[0].at.utcoffset().total_seconds() == 0
