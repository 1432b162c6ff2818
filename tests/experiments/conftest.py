"""What all tests of the experiments share."""

from collections.abc import Iterator

import pytest
from django.test import override_settings


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hashing a password as slowly as it should be would take half of the test time."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield
