"""Sign-ins under way: how long they last, which there are, and how they end.

A page looks at the session with every request, an open socket every few seconds at its row: to end a sign-in everywhere
is to delete the row. docs/security.md says how long one lasts.
"""

import time

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from accounts import audit
from accounts.models import User

BEGUN, SEEN = "begun", "seen"  # in the session, in seconds since 1970
MOST_FORGOTTEN = 500  # at a time
NOTED = 24  # so many times within the time without use it is written down that the session was used
BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    *(("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad")),
    *(("Mac OS X", "macOS"), ("Linux", "Linux")),
)


@receiver(user_logged_in, dispatch_uid="session age")
def _begin(request: HttpRequest, **kwargs: object) -> None:
    request.session[BEGUN] = request.session[SEEN] = int(time.time())


class SessionAgeMiddleware(MiddlewareMixin):
    """Comes after authentication. A session that was not used for SESSION_COOKIE_AGE is found no more: its row has
    expired. Use moves that forward, up to SESSION_LONGEST after signing in.
    """

    def process_request(self, request: HttpRequest) -> None:
        if not isinstance(request.user, User):
            return
        session, now, idle = request.session, int(time.time()), int(settings.SESSION_COOKIE_AGE)
        if now - session.get(BEGUN, now) > settings.SESSION_LONGEST or now - session.get(SEEN, now) > idle:
            audit.record(audit.Action.SIGNED_OUT, by=request.user, of=request.user, expired=True)
            UserSession.objects.filter(session_key=session.session_key).delete()
            logout(request)
            if not request.path.startswith("/api/"):
                messages.info(request, _("Your sign-in has expired. Sign in again to continue."))
        elif SEEN not in session or now - session[SEEN] > idle / NOTED:
            session.setdefault(BEGUN, now)
            session[SEEN] = now


def end_sessions(person: User, *, keep: str | None = None) -> int:
    """All of a person's, except the one with the key `keep`. Returns how many there were.

    Sessions are read one by one: those begun before sign-ins were listed end as well.
    """
    live = Session.objects.filter(expire_date__gt=timezone.now()).exclude(pk=keep or "").iterator()
    keys = [session.pk for session in live if session.get_decoded().get(SESSION_KEY) == str(person.pk)]
    Session.objects.filter(pk__in=keys).delete()
    UserSession.objects.filter(user=person).exclude(session_key=keep).delete()
    return len(keys)


def end_session(person: User, sign_in: UserSession) -> None:
    """One of a person's, as the account page lists them."""
    with transaction.atomic():
        Session.objects.filter(pk=sign_in.session_key).delete()
        sign_in.delete()
        audit.record(audit.Action.SIGNED_OUT, by=person, of=person, elsewhere=1)


def end_all_sessions() -> int:
    """Everybody's: how many there were."""
    UserSession.objects.all().delete()
    return Session.objects.all().delete()[0]


def forget_expired() -> int:
    """Delete rows of expired sign-ins, with addresses and browsers in them: how many there were."""
    keys = list(Session.objects.filter(expire_date__lt=timezone.now()).values_list("pk", flat=True)[:MOST_FORGOTTEN])
    if keys:
        UserSession.objects.filter(session_key__in=keys).delete()
        Session.objects.filter(pk__in=keys).delete()
    return len(keys)


def browser_of(user_agent: str) -> str:
    """`Firefox · Linux`, or what the browser says of itself, cut, or ""."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    return " · ".join(filter(None, (browser, system))) or user_agent[:60]
