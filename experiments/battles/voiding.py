"""Leaving battles out of the ratings, with a reason that everybody reads, and taking them in again."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.models import User
from experiments.battles import counting
from experiments.models import Battle
from experiments.refusals import NotAllowed, NotOffered

LONGEST_REASON = 300


def void(battle: Battle, *, by: User, reason: str, as_part: bool = False) -> bool:
    """Leave a battle out. Returns whether this call did it; one that is void already keeps its reason. as_part: with
    its run, which the audit record names as a whole.

    Raises NotAllowed for who is neither curator, admin nor owner of the dataset, NotOffered without a reason.
    """
    _refuse_others(battle, by)
    said = reason.replace("\0", "").strip()[:LONGEST_REASON]
    if not said:
        raise NotOffered(_("Say why the battle should not count: everybody who looks at it reads that."))
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
    """Let a void battle count again. Returns whether this call did it. Raises NotAllowed as `void` does."""
    _refuse_others(battle, by)
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


def _name(battle: Battle) -> str:
    return f"{battle.board} · {battle.left} – {battle.right}"


def _held(battle: Battle) -> Battle:
    """The battle as it stands, which nobody else changes before the transaction is over."""
    return Battle.objects.select_for_update(of=("self",)).select_related("sample").get(pk=battle.pk)


def _refuse_others(battle: Battle, by: User) -> None:
    if by.role not in {User.Role.CURATOR, User.Role.ADMIN} and battle.board.dataset.owner_id != by.pk:
        raise NotAllowed(_("Only curators, administrators and the dataset's owner can decide what counts."))
