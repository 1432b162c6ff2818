"""API tokens: shown once, stored as a hash, expiring, with a name that says what they are for."""

from datetime import timedelta

from accounts.models import ApiToken, User

DEFAULT_DAYS = 90
MOST_DAYS = 365
PREFIX = "alab_"  # lets secret scanners recognise a leaked token


def create_token(user: User, *, name: str = "", days: int = DEFAULT_DAYS) -> str:
    """A new token of `user`, valid for `days` days (1-365). The text returned is the only copy there is."""
    _row, token = ApiToken.objects.create(user, expiry=timedelta(days=days), prefix=PREFIX, name=name)
    return str(token)
