"""People of a lab, and browsers in which they have signed in."""

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.core.cache import cache
from django.db import connection
from django.test import Client

from accounts.models import AuditEntry, User
from tests.fixtures import PASSWORD, signed_in

PERIOD = 30  # seconds that a code of an app holds


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    """What one test has tried too often is not held against the next."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_user("ada", "ada@lab.example", PASSWORD, role=User.Role.ADMIN)


@pytest.fixture
def bob(db: None) -> User:
    """In the lab, like Alice."""
    return User.objects.create_user("bob", "bob@lab.example", PASSWORD)


@pytest.fixture
def reviewer(db: None) -> User:
    return User.objects.create_user("rita", password=PASSWORD, role=User.Role.REVIEWER)


@pytest.fixture
def admins(admin: User) -> Client:
    return signed_in(admin)


@pytest.fixture
def browser(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def visitor(db: None) -> Client:
    return Client()


@pytest.fixture
def entries_of() -> Callable[..., list[AuditEntry]]:
    """The entries of a deed, oldest first."""
    return lambda action: list(AuditEntry.objects.filter(action=action).order_by("pk"))


class App:
    """An authenticator app. The clock by which its codes are checked stands still."""

    NOW = 1_800_000_000

    def __init__(self, person: User) -> None:
        self._secret = generate_totp_secret()
        TOTP.activate(person, self._secret)
        self.recovery = RecoveryCodes.activate(person).get_unused_codes()

    @property
    def code(self) -> str:
        return format_hotp_value(hotp_value(self._secret, self.NOW // PERIOD))


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[User], App]:
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", SimpleNamespace(time=lambda: App.NOW))
    return App


def sign_in(browser: Client, name: str = "alice", password: str = PASSWORD, **more: str) -> Any:
    return browser.post("/sign-in/", {"username": name, "password": password, **more})


def at_once(*actions: Callable[[], Any]) -> list[Any]:
    """What each of them gave, or the error that it raised; all begin at the same moment, each on a connection."""
    together, given = threading.Barrier(len(actions)), [None] * len(actions)

    def do(place: int, deed: Callable[[], Any]) -> None:
        together.wait()
        try:
            given[place] = deed()
        except Exception as error:
            given[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return given
