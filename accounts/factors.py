"""Second factors: who has one, who must have one, and how their secrets are encrypted anew."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from accounts import crypto
from accounts.models import User
from accounts.refusing import problem_response

SECRETS = ("secret", "seed")  # in the data of a factor
REAL = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes only stand in for one of these
UNHINDERED = {  # for people who have still to set up a second factor; mfa_… beside them
    *("login", "logout", "set-language", "set-theme", "javascript-catalog"),
    *("account_login", "account_logout", "account_reauthenticate"),
}


def lacks_factor(person: Any) -> bool:
    """Whether the person's role asks for a second factor (ARENA_REQUIRE_MFA) that is not there yet."""
    if not isinstance(person, User) or person.role not in settings.REQUIRE_MFA:
        return False
    return not Authenticator.objects.filter(user=person, type__in=REAL).exists()


def people_with_factors() -> QuerySet[User]:
    """Everybody of the lab, with `has_factor`: whether a second factor is asked for at sign-in."""
    factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=REAL)
    return User.objects.annotate(has_factor=Exists(factors))


def admitted(person: User | AnonymousUser) -> User | AnonymousUser:
    """A person who lacks the factor that is asked for counts as a visitor."""
    return AnonymousUser() if lacks_factor(person) else person


class SecondFactorMiddleware(MiddlewareMixin):
    """A person whose role asks for a second factor sets one up before anything else. API tokens are no sign-ins."""

    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponse | None:
        if not lacks_factor(request.user):
            return None
        request.lacks_factor = True  # type: ignore[attr-defined]  # the page says why one is there
        name = (request.resolver_match and request.resolver_match.url_name) or ""
        if name in UNHINDERED or name.startswith("mfa_"):
            return None
        if request.path.startswith("/api/"):
            detail = _("Your role requires a second factor. Set one up on your account page first.")
            return problem_response(403, detail)
        return redirect("mfa_index")


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
