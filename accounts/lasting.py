"""How long a sign-in lasts: not beyond a time without use, and not beyond an age (docs/security.md)."""

import time
from collections.abc import Callable

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.models import User

Answer = Callable[[HttpRequest], HttpResponse]
BEGUN, SEEN = "begun", "seen"  # in the session, in seconds since 1970
MOST_FORGOTTEN = 500  # at a time
NOTED = 24  # so many times within the time without use it is written down that the session was used


def connect() -> None:
    user_logged_in.connect(_begin, dispatch_uid="lasting")


def _begin(request: HttpRequest, **kwargs: object) -> None:
    request.session[BEGUN] = request.session[SEEN] = int(time.time())


class LastingMiddleware:
    """Comes after authentication. A session that was not used for SESSION_COOKIE_AGE is found no more: its row has
    expired. Use moves that forward, up to SESSION_LONGEST after signing in.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User):
            _look_after(request, request.user, int(time.time()))
        return self._get_response(request)


def _look_after(request: HttpRequest, person: User, now: int) -> None:
    session = request.session
    if now - session.get(BEGUN, now) > settings.SESSION_LONGEST or now - session.get(SEEN, now) > _idle():
        audit.record(audit.Action.SIGNED_OUT, by=person, of=person, expired=True)
        UserSession.objects.filter(session_key=session.session_key).delete()
        logout(request)
        if not request.path.startswith("/api/"):
            messages.info(request, _("Your sign-in has expired. Sign in again to go on."))
    elif SEEN not in session or now - session[SEEN] > _idle() / NOTED:
        session.setdefault(BEGUN, now)
        session[SEEN] = now


def _idle() -> int:
    return int(settings.SESSION_COOKIE_AGE)


def forget_expired() -> int:
    """Rows of sign-ins that open nothing any more, with addresses and browsers in them: how many there were."""
    keys = list(Session.objects.filter(expire_date__lt=timezone.now()).values_list("pk", flat=True)[:MOST_FORGOTTEN])
    if keys:
        UserSession.objects.filter(session_key__in=keys).delete()
        Session.objects.filter(pk__in=keys).delete()
    return len(keys)
