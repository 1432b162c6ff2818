"""Second factors: who has one, and who must."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef

from accounts import crypto
from accounts.models import User

SECRETS = ("secret", "seed")  # in the data of a factor
REAL = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes only stand in for one of these


def has_factor(person: User) -> bool:
    return bool(Authenticator.objects.filter(user=person, type__in=REAL).exists())


def lacks_factor(person: Any) -> bool:
    """Whether the person's role asks for a second factor (ARENA_REQUIRE_MFA) that is not there yet."""
    return isinstance(person, User) and person.role in settings.REQUIRE_MFA and not has_factor(person)


def with_factor() -> Exists:
    """For a query of people."""
    return Exists(Authenticator.objects.filter(user=OuterRef("pk"), type__in=REAL))


def rotate_secrets() -> tuple[int, int]:
    """Encrypt the secrets of all factors with the newest secret of the lab: how many were, and how many cannot be
    decrypted any more. One row at a time: it may be killed and repeated.
    """
    done = lost = 0
    for factor in Authenticator.objects.filter(data__has_any_keys=SECRETS).order_by("pk").iterator():
        old = {name: factor.data[name] for name in SECRETS if name in factor.data}
        if all(map(crypto.is_newest, old.values())):
            continue
        try:
            new = {name: crypto.rotate(text) for name, text in old.items()}
        except crypto.Undecipherable:
            lost += 1
            continue
        done += Authenticator.objects.filter(pk=factor.pk, data=factor.data).update(data={**factor.data, **new})
    return done, lost


def admitted(person: User | AnonymousUser) -> User | AnonymousUser:
    """Whoever lacks the factor that is asked for is nobody yet."""
    return AnonymousUser() if lacks_factor(person) else person
