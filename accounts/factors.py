"""Second factors: who has one, and who must."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef

from accounts.models import User

REAL = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes only stand in for one of these


def has_factor(person: User) -> bool:
    return bool(Authenticator.objects.filter(user=person, type__in=REAL).exists())


def lacks_factor(person: Any) -> bool:
    """Whether the person's role asks for a second factor (ARENA_REQUIRE_MFA) that is not there yet."""
    return isinstance(person, User) and person.role in settings.REQUIRE_MFA and not has_factor(person)


def with_factor() -> Exists:
    """For a query of people."""
    return Exists(Authenticator.objects.filter(user=OuterRef("pk"), type__in=REAL))


def admitted(person: User | AnonymousUser) -> User | AnonymousUser:
    """Whoever lacks the factor that is asked for is nobody yet."""
    return AnonymousUser() if lacks_factor(person) else person
