"""Sign-ins under way. A page looks at the session with every request, an open socket every few seconds at its row: to
end a sign-in everywhere is to delete the row.
"""

from collections.abc import Iterator

from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User


def end_sessions(person: User, *, keep: str | None = None) -> int:
    """All of a person's, except the one with the key `keep`. Returns how many there were.

    Sessions are read one by one: those begun before sign-ins were listed end as well.
    """
    keys = [key for key in _keys_of(person) if key != keep]
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


def _keys_of(person: User) -> Iterator[str]:
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(person.pk):
            yield session.session_key
