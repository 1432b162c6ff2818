"""Why a verb about people was not carried out. Each message says in words what would be needed."""

from django.core.exceptions import PermissionDenied


class NotForYou(PermissionDenied):
    """The person who asks may not do that. Whoever does not catch it answers with 403 and the message."""


class NotPossible(ValueError):
    """Nobody may do that as things are, such as taking the last admin's role away."""


class Unusable(NotPossible):
    """An invitation lets nobody in any more, or never did."""
