"""API tokens: shown once, stored as a hash, expiring, with a name that says what they are for."""

from datetime import timedelta

from django.db import transaction

from accounts import audit
from accounts.models import ApiToken, User

DEFAULT_DAYS = 90
MOST_DAYS = 365
PREFIX = "alab_"  # lets secret scanners recognise a leaked token


def create_token(user: User, *, name: str = "", days: int = DEFAULT_DAYS) -> str:
    """A new token of `user`, valid for `days` days (1-365). The text returned is the only copy there is."""
    with transaction.atomic():
        row, token = ApiToken.objects.create(user, expiry=timedelta(days=days), prefix=PREFIX, name=name)
        audit.record(audit.Action.TOKEN_CREATED, by=user, name=name or row.token_key, key=row.token_key, days=days)
    return str(token)


def revoke_token(token: ApiToken, *, by: User) -> None:
    """Void at once, for pages, programs and open sockets."""
    with transaction.atomic():
        audit.record(audit.Action.TOKEN_REVOKED, by=by, name=token.name or token.token_key, key=token.token_key)
        token.delete()
