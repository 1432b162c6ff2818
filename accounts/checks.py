"""Settings that contradict each other, and what a lab that faces others should have set (`check --deploy`;
SECURITY.md, docs/security.md).
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

HERE = {"", "localhost", "127.0.0.1", "::1"}
TLS_MODES = {"require", "verify-ca", "verify-full"}
ROLES_WITH_POWER = {"admin", "curator"}


@register
def sign_up_by_domain(**kwargs: Any) -> list[CheckMessage]:
    """Whoever types an address of the lab must prove by a letter that it is theirs."""
    found: list[CheckMessage] = []
    if settings.SIGNUP == "domain" and not settings.SIGNUP_DOMAINS:
        hint = "Set ARENA_SIGNUP_DOMAINS, for example to uni.example."
        found.append(Error("ARENA_SIGNUP=domain names no domain.", hint=hint, id="accounts.E001"))
    if settings.SIGNUP == "domain" and not settings.HAS_MAIL:
        text = "ARENA_SIGNUP=domain needs a mail server: addresses are verified by a letter."
        hint = "Set ARENA_EMAIL_URL, for example to smtp+tls://user:password@mail.uni.example:587."
        found.append(Error(text, hint=hint, id="accounts.E002"))
    return found


@register(Tags.security, deploy=True)
def hardened(**kwargs: Any) -> list[CheckMessage]:
    return [Warning(text, hint=hint, id=f"arena.{number}") for number, text, hint in findings(settings)]


def findings(settings: Any) -> Iterator[tuple[str, str, str]]:
    """(id, what is so, what to set)"""
    if not settings.HTTPS:
        yield "W001", "Cookies, passwords and tokens travel unencrypted.", "Serve over TLS and set ARENA_HTTPS=1."
    if "*" in settings.ALLOWED_HOSTS:
        yield "W002", "Any host name is answered.", "Name your own in ARENA_HOSTS."
    if settings.DEMO_MODE:
        yield "W003", "This is a demonstration: its passwords are published.", "Leave ARENA_DEMO out."
    if lacking := ", ".join(sorted(ROLES_WITH_POWER - set(settings.REQUIRE_MFA))):
        yield "W004", f"No second factor is asked of: {lacking}.", "Set ARENA_REQUIRE_MFA, best to all four roles."
    if not settings.BREACHED_PASSWORDS:
        hint = "Set ARENA_BREACHED_PASSWORDS to a list of digests."
        yield "W005", "Passwords are not compared with stolen ones.", hint
    database = settings.DATABASES["default"]
    has_tls = database.get("OPTIONS", {}).get("sslmode", "") in TLS_MODES
    if _is_away(str(database.get("HOST") or "")) and not has_tls:
        yield "W006", "The database is asked without TLS.", "Append ?sslmode=verify-full&sslrootcert=… to DATABASE_URL."
    redis = urlsplit(settings.REDIS_URL)
    if redis.scheme == "redis" and _is_away(redis.hostname or ""):
        yield "W007", "Redis is asked without TLS.", "Use rediss:// in REDIS_URL."
    if redis.scheme != "unix" and not redis.password:
        yield "W008", "Redis is asked without a password.", "Use rediss://user:password@host in REDIS_URL."
    if settings.MAIL and not (settings.MAIL.starttls or settings.MAIL.tls):
        yield "W009", "Letters are handed over without TLS.", "Use smtp+tls:// or smtp+ssl:// in ARENA_EMAIL_URL."
    if settings.OIDC and not settings.OIDC.issuer.startswith("https://"):
        yield "W010", "The sign-in server is asked without TLS.", "Use https:// in ARENA_OIDC_ISSUER."


def _is_away(host: str) -> bool:
    """Whether it is reached over a network: a path is a socket on this machine."""
    return host not in HERE and not host.startswith("/")
