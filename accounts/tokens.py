"""API tokens: shown once, stored as a hash, expiring, with a name that says what they are for."""

from datetime import timedelta

from django.core.cache import cache
from django.db import transaction

from accounts import audit
from accounts.models import ApiToken, AuditEntry, User

DEFAULT_DAYS = 90
MOST_DAYS = 365
SEEN_SECONDS = 24 * 3600  # for which nobody looks again whether its use is recorded
PREFIX = "alab_"  # lets secret scanners recognise a leaked token


def create_token(user: User, *, name: str = "", days: int = DEFAULT_DAYS) -> str:
    """A new token of `user`, valid for `days` days (1-365). The text returned is the only copy there is."""
    with transaction.atomic():
        row, token = ApiToken.objects.create(user, expiry=timedelta(days=days), prefix=PREFIX, name=name)
        audit.record(audit.Action.TOKEN_CREATED, by=user, name=name or row.token_key, key=row.token_key, days=days)
    return str(token)


def note_first_use(user: User, token: ApiToken) -> None:
    """In the audit record, once: that a token that was handed to a program is in use."""
    target = f"apitoken:{token.token_key}"
    if not cache.add(f"token-seen:{token.token_key}", 1, SEEN_SECONDS):
        return
    if not AuditEntry.objects.filter(action=audit.Action.TOKEN_USED, target=target).exists():
        audit.record(audit.Action.TOKEN_USED, by=user, target=target, name=token.name or token.token_key)


def revoke_token(token: ApiToken, *, by: User) -> None:
    """Void at once, for pages, programs and open sockets."""
    with transaction.atomic():
        audit.record(audit.Action.TOKEN_REVOKED, by=by, name=token.name or token.token_key, key=token.token_key)
        token.delete()
