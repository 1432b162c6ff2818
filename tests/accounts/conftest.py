"""People of a lab, and browsers in which they have signed in."""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.core.cache import cache
from django.test import Client

from accounts import projects
from accounts.models import AuditEntry, Project, User
from tests.fixtures import PASSWORD, signed_in


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """What one test has tried too often is not held against the next."""
    cache.clear()


@pytest.fixture
def project(alice: User) -> Project:
    """Alice leads it."""
    return projects.create(by=alice, name="Solar")


@pytest.fixture
def admins(admin: User) -> Client:
    return signed_in(admin)


@pytest.fixture
def visitor(db: None) -> Client:
    return Client()


@pytest.fixture
def entries_of() -> Callable[..., list[AuditEntry]]:
    return lambda action: list(AuditEntry.objects.filter(action=action).order_by("pk"))


class App:
    """An authenticator app, whose codes hold for 30 seconds. The clock by which they are checked stands still."""

    NOW = 1_800_000_000

    def __init__(self, person: User) -> None:
        self._secret = generate_totp_secret()
        TOTP.activate(person, self._secret)
        self.recovery = RecoveryCodes.activate(person).get_unused_codes()

    @property
    def code(self) -> str:
        return format_hotp_value(hotp_value(self._secret, self.NOW // 30))


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[User], App]:
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", SimpleNamespace(time=lambda: App.NOW))
    return App


@pytest.fixture
def by_domain(settings: Any) -> None:
    """Whoever has an address of the lab's domain makes themselves an account."""
    settings.SIGNUP, settings.SIGNUP_DOMAINS, settings.HAS_MAIL = "domain", ["uni.example"], True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]


def sign_in(browser: Client, name: str = "alice", password: str = PASSWORD, **more: str) -> Any:
    return browser.post("/sign-in/", {"username": name, "password": password, **more})


def is_in(browser: Client) -> bool:
    return browser.get("/account/").status_code == 200


def link_in(letter: Any) -> str:
    return re.search(r"http://testserver(/\S+)", letter.body)[1]
