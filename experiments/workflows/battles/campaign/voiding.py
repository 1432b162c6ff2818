"""Leaving battles out of the ratings, with a reason that everybody reads, and taking them in again."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts import audit
from accounts.errors import Forbidden, Invalid
from accounts.models import User
from experiments.models import Battle, Dataset
from experiments.workflows.battles.campaign import counting

LONGEST_REASON = 300
WITH_RUN = gettext_noop("Its run was left out of all ratings.")  # why is read with the run, by those who may see it


def void(battle: Battle, *, by: User, reason: str, as_part: bool = False) -> bool:
    """Leave a battle out. Returns whether this call did it; one that is void already keeps its reason. as_part: with
    its run, which the audit log names as a whole.

    Raises Forbidden for who is neither curator, admin nor owner of the dataset, Invalid without a reason.
    """
    refuse_others(battle.board.dataset, by)
    said = reason.replace("\0", "").strip()[:LONGEST_REASON]
    if not said:
        raise Invalid(reason=_("Give a reason for voiding the battle. Everybody who sees the battle can read it."))
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


def _name(battle: Battle) -> str:
    return f"{battle.board} · {battle.left} – {battle.right}"


def _held(battle: Battle) -> Battle:
    """The battle as it stands, which nobody else changes before the transaction is over."""
    return Battle.objects.select_for_update(of=("self",)).select_related("sample").get(pk=battle.pk)


def refuse_others(dataset: Dataset, by: User) -> None:
    """Raises Forbidden for who does not decide what counts on the boards of a dataset."""
    if not may_void(dataset, by):
        raise Forbidden(_("Only curators, administrators and the dataset's owner can decide this."))


def may_void(dataset: Dataset, by: object) -> bool:
    """Curators and admins may, and whom the dataset belongs to."""
    if not isinstance(by, User) or not by.is_active:
        return False
    return by.role in {User.Role.CURATOR, User.Role.ADMIN} or dataset.owner_id == by.pk
