"""Verbs for contestants: how they are shown, and whether they are left out of ratings."""

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Forbidden, Invalid
from experiments.library.datasets.making import may_curate
from experiments.models import Contestant
from experiments.workflows.battles.campaign.counting import note_change

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_REASON = 300


def describe(contestant: Contestant, *, by: "User", label: str, link: str) -> None:
    """What it is shown as, and where more about it is told; both were checked by a form."""
    _refuse_strangers(contestant, by)
    contestant.label, contestant.link = label.strip(), link
    with transaction.atomic():
        contestant.save(update_fields=["label", "link"])
        _tell_boards(contestant)


def void(contestant: Contestant, *, by: "User", reason: str) -> None:
    """Leave it out of ratings, with a reason that everybody is shown. Its battles are kept."""
    _refuse_strangers(contestant, by)
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise Invalid({"reason": [_("Say why, in up to 300 characters: everybody is shown it.")]})
    with transaction.atomic():
        _set_reason(contestant, reason)
        audit.record(audit.Action.VOIDED, by=by, of=contestant, name=_name(contestant), reason=reason)


def restore(contestant: Contestant, *, by: "User") -> None:
    """Let it be rated again."""
    _refuse_strangers(contestant, by)
    with transaction.atomic():
        _set_reason(contestant, "")
        audit.record(audit.Action.RESTORED, by=by, of=contestant, name=_name(contestant))


def _name(contestant: Contestant) -> str:
    return f"{contestant.dataset} · {contestant}"


def _set_reason(contestant: Contestant, reason: str) -> None:
    with transaction.atomic():
        contestant.void_reason = reason
        contestant.save(update_fields=["void_reason"])
        _tell_boards(contestant)


def _tell_boards(contestant: Contestant) -> None:
    for board in contestant.dataset.boards.order_by("pk").values_list("pk", flat=True):
        note_change(board)


def _refuse_strangers(contestant: Contestant, by: "User") -> None:
    if not may_curate(by, contestant.dataset):
        raise Forbidden(_("Only the owner of a dataset, curators and admins change its contestants."))
