"""Leaving out all votes of somebody whom a word of the report on voters names, and taking them in again."""

from django.utils.translation import gettext as _
from django.utils.translation import override

from accounts.errors import Invalid
from accounts.models import User
from experiments.models import Board, Dataset
from experiments.workflows.battles.campaign import outliers, voiding


def leave_out(dataset: Dataset, word: str, *, by: User, reason: str) -> int:
    """Returns how many votes this call left out. Raises Forbidden; Invalid without a reason, and for a word that
    names nobody.
    """
    board, ballot, name = _found(dataset, word, by)
    return voiding.void_voter(board, ballot, by=by, reason=reason, name=name)


def restore(dataset: Dataset, word: str, *, by: User) -> int:
    """Returns how many votes count again by this call. Raises Forbidden; Invalid for a word that names nobody."""
    board, ballot, name = _found(dataset, word, by)
    return voiding.restore_voter(board, ballot, by=by, name=name)


def _found(dataset: Dataset, word: str, by: User) -> tuple[Board, str, str]:
    """The board, the ballot, and what its voter is called in the audit record."""
    voiding.refuse_others(dataset, by)
    board = outliers.board_of_votes(dataset)
    found = outliers.named(board, word) if board else None
    if board is None or found is None:
        raise Invalid(voter=_("Nobody of this name has voted here. Load the page again."))
    ballot, who = found
    with override("en"):
        return board, ballot, who.name
