"""API tokens: shown once, stored as a hash, expiring, with a name that says what they are for, and limited in scope."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Forbidden
from accounts.models import ApiToken, User
from accounts.scopes import ALL, checked

DEFAULT_DAYS = 90
MOST_DAYS = 365
LONGEST_NAME = 100
PREFIX = "alab_"  # lets secret scanners recognise a leaked token
TOLD_EVERY = timedelta(minutes=1)  # how exactly it is known when a token was last used


def create_token(user: User, *, name: str = "", days: int = DEFAULT_DAYS, scopes: Iterable[str] = ALL) -> str:
    """A new token of `user`, valid for `days` days (1-365). The text returned is the only copy there is. Raises
    ValueError for scopes that there are not.
    """
    return new_token(user, name=name, days=days, scopes=scopes)[1]


def new_token(
    user: User, *, name: str, days: int, scopes: Iterable[str], by: ApiToken | None = None
) -> tuple[ApiToken, str]:
    """As `create_token`, with what is stored of it.

    by: the token that asks for it. What it gives has no scope that it lacks and does not outlive it; else Forbidden.
    """
    chosen, lasts = checked(scopes), timedelta(days=days)
    if by and (beyond := [scope for scope in chosen if scope not in by.scopes]):
        raise Forbidden(_("A token cannot grant scopes that it lacks: %(scopes)s.") % {"scopes": ", ".join(beyond)})
    if by and by.expiry:
        lasts = min(lasts, by.expiry - timezone.now())
    with transaction.atomic():
        row, token = ApiToken.objects.create(user, expiry=lasts, prefix=PREFIX, name=name, scopes=chosen)
        detail = {"key": row.token_key, "days": days, "scopes": chosen}
        audit.record(audit.Action.TOKEN_CREATED, by=user, name=name or row.token_key, **detail)
    return row, str(token)


def revoke_token(token: ApiToken, *, by: User) -> None:
    """Void at once, for pages, programs and open sockets."""
    with transaction.atomic():
        audit.record(audit.Action.TOKEN_REVOKED, by=by, name=token.name or token.token_key, key=token.token_key)
        token.delete()


def note_use(token: ApiToken, address: str | None) -> None:
    """That it was used now, from there. Not more often than once in a minute: reading is not to become writing.

    The first use is in the audit log, once: a token that was handed to a program is in use. Tokens of the same
    person that have expired are deleted on the way.
    """
    now = timezone.now()
    if token.last_used is None:
        with transaction.atomic():
            if ApiToken.objects.filter(pk=token.pk, last_used=None).update(last_used=now, last_address=address):
                target, name = f"apitoken:{token.token_key}", token.name or token.token_key
                audit.record(audit.Action.TOKEN_USED, by=token.user, target=target, name=name)
    elif token.last_used <= now - TOLD_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now, last_address=address)
        ApiToken.objects.filter(user=token.user_id, expiry__lt=now).delete()
