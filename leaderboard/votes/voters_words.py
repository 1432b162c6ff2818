"""What the report on voters says in words: what a mark means, and why a figure is absent."""

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from leaderboard.ratings import Reason, Undefined
from leaderboard.ratings.outliers import FEWEST_PAUSES, Mark, Voter

MARKS: dict[Mark, Promise] = {
    Mark.ONE_SIDED: gettext_lazy("chooses one side"),
    Mark.AGAINST_OTHERS: gettext_lazy("against the others"),
    Mark.TOO_FAST: gettext_lazy("too fast to look"),
    Mark.TOO_MANY: gettext_lazy("a large part of all votes"),
}


def mark_words(marks: Iterable[Mark]) -> list[str]:
    """What is unlike other voters."""
    return [str(MARKS[mark]) for mark in marks]


def no_pace() -> str:
    """Why there is no pace of a voter."""
    return _("fewer than %(n)s pauses") % {"n": FEWEST_PAUSES}


def no_agreement(found: Voter) -> str:
    """Why it is not known how far somebody agrees with the others; empty where it is."""
    if found.agreement.of:
        return ""
    if found.with_others.part:
        return _("the others were of several minds")
    return _("nobody else has voted on the same")


def no_widening(found: float | Undefined) -> str:
    """Why it is not known how much wider intervals are by voter; empty where it is."""
    if not isinstance(found, Undefined):
        return ""
    if found.reason == Reason.TOO_FEW_UNITS:
        return _("one voter says nothing of another one")
    return _("nothing is rated that could vary")
