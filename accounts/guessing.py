"""How often passwords may be tried (docs/security.md, "Guessing").

Attempts are counted where they come from, so that a stranger's wrong passwords do not keep the person out: a browser in
which the person has signed in before has a count of its own, and so has each address. A cap on all unknown browsers
together slows guessing from many addresses. Attempts are counted before the password is checked, and given back when it
was right: parallel requests get no more attempts than others.
"""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_network

from django.conf import settings
from django.core.cache import cache
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.translation import ngettext_lazy

from accounts.addresses import address_of
from accounts.api_requests import counted
from accounts.errors import RateLimited
from accounts.models import User

MINUTE, HOUR, DAY = 60, 3600, 86_400
KNOWN_SECONDS = 365 * DAY  # since the last sign-in
MOST_PEOPLE = 10  # of one browser
SALT = "accounts.guessing"
TOO_MANY_ATTEMPTS = ngettext_lazy(
    "Too many attempts. Try again in %(minutes)d minute, or use a browser in which you have signed in before.",
    "Too many attempts. Try again in %(minutes)d minutes, or use a browser in which you have signed in before.",
    "minutes",
)


@dataclass(frozen=True, slots=True)
class Limit:
    most: int  # attempts
    seconds: int  # from the first one on

    def counter(self, what: str) -> str:
        """The key in the cache."""
        return f"attempts:{self.seconds}:{hashlib.sha256(what.encode()).hexdigest()}"


PERSON_FROM_ONE_PLACE = (Limit(5, 5 * MINUTE), Limit(10, HOUR))  # a known browser or an address
ANYBODY_FROM_ONE_ADDRESS = (Limit(20, MINUTE),)
PERSON_FROM_ANYWHERE = (Limit(500, HOUR),)  # from unknown browsers


def count_attempt(request: HttpRequest, name: str) -> list[str]:
    """Count an attempt to sign in with this user name or e-mail address. Returns the counters, for `give_back`. Raises
    RateLimited, and then the password is not to be checked.
    """
    counters = []
    for limits, what in _counts(request, name):
        for limit in limits:
            if counted(limit.counter(what), limit.seconds) > limit.most:
                raise RateLimited(TOO_MANY_ATTEMPTS % {"minutes": limit.seconds // MINUTE})
            counters.append(limit.counter(what))
    return counters


def give_back(counters: list[str]) -> None:
    """The password was right."""
    for counter in counters:
        with suppress(ValueError):  # its time is over
            cache.decr(counter)


def forget_attempts(request: HttpRequest, person: User) -> None:
    """Those for this person from this place, which has just proved who it is by setting a new password."""
    for limits, what in _counts(request, person.get_username()):
        if limits is PERSON_FROM_ONE_PLACE:
            for limit in limits:
                cache.delete(limit.counter(what))


def _counts(request: HttpRequest, name: str) -> list[tuple[tuple[Limit, ...], str]]:
    """What is counted of this attempt. A person has one count, whichever of their names is typed."""
    meant = Q(username__iexact=name) | Q(email__iexact=name) | Q(emailaddress__email__iexact=name)
    people = sorted(set(User.objects.filter(meant).values_list("pk", flat=True))) if name else []
    who = str(people[0]) if people else f"name {name.lower()}"
    browser, known = _known(request)
    if people and set(people) <= set(known):  # all whom the name may mean: else a browser would pass for another's
        return [(PERSON_FROM_ONE_PLACE, f"{who} in browser {browser}")]
    network = address_of(request) or ""
    if ":" in network:  # of IPv6 the /64, all of which one connection usually has
        network = str(ip_network(f"{network}/64", strict=False))
    return [
        (ANYBODY_FROM_ONE_ADDRESS, f"anybody from {network}"),
        (PERSON_FROM_ONE_PLACE, f"{who} from {network}"),
        (PERSON_FROM_ANYWHERE, f"{who} from anywhere"),
    ]


def remember_browser(request: HttpRequest, response: HttpResponse, person: User) -> None:
    """From now on this browser is one in which the person has signed in."""
    browser, people = _known(request)
    people = [person.pk, *(pk for pk in people if pk != person.pk)][:MOST_PEOPLE]
    value = ".".join([browser or secrets.token_urlsafe(16), *map(str, people)])
    options = {"max_age": KNOWN_SECONDS, "secure": settings.HTTPS, "httponly": True, "samesite": "Lax"}
    response.set_signed_cookie(settings.BROWSER_COOKIE_NAME, value, salt=SALT, **options)


def _known(request: HttpRequest) -> tuple[str, list[int]]:
    """The id of this browser, "" if it has none, and the people who have signed in here, the latest first."""
    value = request.get_signed_cookie(settings.BROWSER_COOKIE_NAME, default="", salt=SALT, max_age=KNOWN_SECONDS)
    browser, *people = (value or "").split(".")
    return browser, [int(pk) for pk in people]
