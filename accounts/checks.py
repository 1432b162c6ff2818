"""Settings that contradict each other, said before anybody is locked out or let in."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register
def sign_up_by_domain(**kwargs: Any) -> list[CheckMessage]:
    """Whoever types an address of the lab must prove by a letter that it is theirs."""
    if settings.SIGNUP != "domain":
        return []
    found: list[CheckMessage] = []
    if not settings.SIGNUP_DOMAINS:
        found.append(
            Error(
                "ARENA_SIGNUP=domain names no domain.",
                hint="Set ARENA_SIGNUP_DOMAINS, for example to uni.example.",
                id="accounts.E001",
            )
        )
    if not settings.HAS_MAIL:
        found.append(
            Error(
                "ARENA_SIGNUP=domain needs a mail server: addresses are verified by a letter.",
                hint="Set ARENA_EMAIL_URL, for example to smtp+tls://user:password@mail.uni.example:587.",
                id="accounts.E002",
            )
        )
    return found
