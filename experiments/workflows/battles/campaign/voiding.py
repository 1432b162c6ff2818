"""Leaving battles out of the ratings, with a reason that everybody reads, and taking them in again: one, or all that
somebody has voted.
"""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts import audit
from accounts.errors import Forbidden, Invalid
from accounts.models import User
from experiments.models import Battle, Board, Dataset
from experiments.workflows.battles.campaign import counting

LONGEST_REASON = 300
WITH_RUN = gettext_noop("Its run was left out of every ladder.")  # why is read with the run, by those who may see it
WITH_VOTER = "Voter left out: "  # how the reason of a vote begins that is void with the others of its ballot
AT_ONCE = 500


def void(battle: Battle, *, by: User, reason: str, as_part: bool = False) -> bool:
    """Leave a battle out. Returns whether this call did it; one that is void already keeps its reason. as_part: with
    its run, which the audit record names as a whole.

    Raises Forbidden for who is neither curator, admin nor owner of the dataset, Invalid without a reason.
    """
    refuse_others(battle.board.dataset, by)
    said = reason.replace("\0", "").strip()[:LONGEST_REASON]
    if not said:
        raise Invalid(reason=_("Say why the battle should not count: everybody who looks at it reads that."))
    changes = {"void_reason": said, "voided": timezone.now(), "voided_by": by}
    with transaction.atomic():
        found = _held(battle)
        if found.void_reason:
            return False
        counting.count(found.board_id, [found], by=-1)
        Battle.objects.filter(pk=found.pk).update(**changes)
        if not as_part:
            audit.record(audit.Action.VOIDED, by=by, of=battle, name=_name(battle), reason=said)
    return True


def restore(battle: Battle, *, by: User, as_part: bool = False) -> bool:
    """Let a void battle count again. Returns whether this call did it. Raises Forbidden as `void` does."""
    refuse_others(battle.board.dataset, by)
    with transaction.atomic():
        found = _held(battle)
        if not found.void_reason:
            return False
        Battle.objects.filter(pk=found.pk).update(void_reason="", voided=None, voided_by=None)
        found.void_reason = ""
        counting.count(found.board_id, [found])
        if not as_part:
            audit.record(audit.Action.RESTORED, by=by, of=battle, name=_name(battle))
    return True


def void_voter(board: Board, ballot: str, *, by: User, reason: str, name: str) -> int:
    """Leave out all votes of a ballot that count now. Returns how many; what it casts from now on counts. name: what
    the voter is called in the audit record. Raises Forbidden and Invalid as `void` does.
    """
    refuse_others(board.dataset, by)
    said = reason.replace("\0", "").strip()
    if not said:
        raise Invalid(reason=_("Say why the votes should not count: everybody who looks at one of them reads that."))
    changes = {
        "void_reason": f"{WITH_VOTER}{said}"[:LONGEST_REASON],
        "voided": timezone.now(),
        "voided_by": by,
    }
    with transaction.atomic():
        found = _held_of(Battle.objects.filter(board=board).counted(), ballot)
        if found:
            counting.count(board.pk, found, by=-1)
            _update(found, changes)
            _tell(audit.Action.VOIDED, board, by, name, votes=len(found), reason=said[:LONGEST_REASON])
    return len(found)


def restore_voter(board: Board, ballot: str, *, by: User, name: str) -> int:
    """Let the votes count again that were left out with their ballot; one that was made void by itself stays so.

    Returns how many. Raises Forbidden.
    """
    refuse_others(board.dataset, by)
    with transaction.atomic():
        found = _held_of(of_voters_left_out(Battle.objects.filter(board=board)), ballot)
        if found:
            _update(found, {"void_reason": "", "voided": None, "voided_by": None})
            for vote in found:
                vote.void_reason = ""
            counting.count(board.pk, found)
            _tell(audit.Action.RESTORED, board, by, name, votes=len(found))
    return len(found)


def of_voters_left_out(votes: QuerySet[Battle]) -> QuerySet[Battle]:
    """Those that are void with the others of their ballot."""
    return votes.filter(void_reason__startswith=WITH_VOTER, shown_left_first__isnull=False).exclude(winner="")


def reason_of(void_reason: str) -> str:
    """What was said of the voter."""
    return void_reason.removeprefix(WITH_VOTER)


def _held_of(votes: QuerySet[Battle], ballot: str) -> list[Battle]:
    """The votes of a ballot, in the sequence in which everybody takes them."""
    rows = votes.filter(ballot=ballot, shown_left_first__isnull=False).select_related("sample")
    return list(rows.select_for_update(of=("self",)).order_by("pk")) if ballot else []


def _update(votes: list[Battle], changes: dict[str, object]) -> None:
    for start in range(0, len(votes), AT_ONCE):
        part = [vote.pk for vote in votes[start : start + AT_ONCE]]
        Battle.objects.filter(pk__in=part).update(**changes)


def _tell(action: audit.Action, board: Board, by: User, name: str, **detail: Any) -> None:
    audit.record(action, by=by, of=board, name=f"{board} · {name}", **detail)


def _name(battle: Battle) -> str:
    return f"{battle.board} · {battle.left} – {battle.right}"


def _held(battle: Battle) -> Battle:
    """The battle as it stands, which nobody else changes before the transaction is over."""
    return Battle.objects.select_for_update(of=("self",)).select_related("sample").get(pk=battle.pk)


def refuse_others(dataset: Dataset, by: User) -> None:
    """Raises Forbidden for who does not decide what counts on the boards of a dataset."""
    if not may_void(dataset, by):
        raise Forbidden(_("Only curators, administrators and the dataset's owner can decide what counts."))


def may_void(dataset: Dataset, by: object) -> bool:
    """Curators and admins may, and whom the dataset belongs to."""
    if not isinstance(by, User) or not by.is_active:
        return False
    return by.role in {User.Role.CURATOR, User.Role.ADMIN} or dataset.owner_id == by.pk
