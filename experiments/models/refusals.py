"""Why a verb was not carried out, by what the person can do about it. Each message says that in words."""

from django.core.exceptions import PermissionDenied


class NotAllowed(PermissionDenied):
    """The person may see this, but not do that; the message says what would be needed. Whoever does not catch it
    answers with 403 and the message.
    """


class SpendingRefused(NotAllowed):
    """The project that would pay is archived, or the person is no lead or member of it."""


class Rivalled(Exception):
    """Something else has happened first: the page that asked is behind. Nothing was changed."""


class NotWaiting(Rivalled):
    """The run does not wait for this."""


class SaidAlready(Rivalled):
    """At this pause something else was said before."""


class NotOffered(ValueError):
    """The pause does not offer this action, or the text cannot be taken."""
