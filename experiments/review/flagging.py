"""Flags of messages: set by scanners and by people, dismissed by people, and how each came about."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Invalid
from experiments.engine.text import storable
from experiments.library.search import indexing
from experiments.models import Experiment, FlagDeed, Message, ReviewItem
from experiments.models.review import CURATORS, role_of
from experiments.workflows.base.flags import REVIEWED

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LONGEST_REASON = 300
IN_A_REVIEW = "in a review"  # a reason that is stored in this language, and shown in the reader's


@dataclass(frozen=True, slots=True)
class Deed:
    """What became of a flag. by: a person's name, or empty for a scanner, which `scanner` names. at: None for what was
    noticed when the message was recorded.
    """

    flag: str
    is_set: bool
    by: str
    scanner: str
    reason: str
    at: datetime | None


def may_flag(message: Message, user: "User | AnonymousUser") -> bool:
    """Who looks after the run, curators who see it, and those who review it just now."""
    changeable = Experiment.objects.changeable_by(user).filter(pk=message.run.experiment_id)
    if changeable.exists():
        return True
    seen = Experiment.objects.visible_to(user).filter(pk=message.run.experiment_id)
    is_curator = role_of(user) in CURATORS and seen.exists()
    return is_curator or ReviewItem.objects.open_to(user).filter(run=message.run_id).exists()


def set_flag(message: Message, flag: str, *, by: "User", reason: str = "") -> bool:
    """Set a flag of REVIEWED. Returns whether it was not in force before. Raises Forbidden and Invalid."""
    _require(message, by)
    if flag not in REVIEWED:
        raise Invalid(flag=_("There is no flag of this name."))
    with transaction.atomic():
        held = Message.objects.select_for_update().only("pk", "flags").get(pk=message.pk)
        if flag in held.flags:
            return False
        _write(held, [*held.flags, flag])
        FlagDeed.objects.create(message=held, flag=flag, kind=FlagDeed.Kind.SET, by=by, reason=_said(reason))
    message.flags = held.flags
    return True


def dismiss(message: Message, flag: str, *, by: "User", reason: str) -> bool:
    """Take a flag away, with the reason; no scanner sets it again. Returns whether it was in force."""
    _require(message, by)
    said = _said(reason)
    if not said:
        raise Invalid(reason=_("Say why the flag does not apply: whoever looks at the message reads that."))
    with transaction.atomic():
        held = Message.objects.select_for_update().only("pk", "flags").get(pk=message.pk)
        if flag not in held.flags:
            return False
        _write(held, [one for one in held.flags if one != flag])
        FlagDeed.objects.create(message=held, flag=flag, kind=FlagDeed.Kind.DISMISSED, by=by, reason=said)
    message.flags = held.flags
    return True


def add_scanned(message: Message, flags: Iterable[str], *, scanner: str) -> list[str]:
    """Add what a scanner has found, but nothing that a person has dismissed. Returns what is new."""
    with transaction.atomic():
        held = Message.objects.select_for_update().only("pk", "flags").get(pk=message.pk)
        dismissed = set(held.flag_deeds.filter(kind=FlagDeed.Kind.DISMISSED).values_list("flag", flat=True))
        fresh = [flag for flag in flags if flag not in held.flags and flag not in dismissed]
        if fresh:
            _write(held, [*held.flags, *fresh])
            rows = [FlagDeed(message=held, flag=flag, kind=FlagDeed.Kind.SET, scanner=scanner) for flag in fresh]
            FlagDeed.objects.bulk_create(rows)
    return fresh


def set_by(user: "User", messages: Iterable[Message]) -> dict[UUID, set[str]]:
    """The flags that somebody has set themselves and not dismissed, by message; whatever others made of them."""
    found: dict[UUID, set[str]] = {}
    deeds = FlagDeed.objects.filter(message__in=list(messages), by=user).order_by("id")
    for message, flag, kind in deeds.values_list("message", "flag", "kind"):
        mine = found.setdefault(message, set())
        mine.add(flag) if kind == FlagDeed.Kind.SET else mine.discard(flag)
    return found


def history(message: Message) -> list[Deed]:
    """What became of the message's flags, the first deed first; before them what its recording had noticed."""
    deeds = list(message.flag_deeds.select_related("by"))
    first: dict[str, FlagDeed] = {}
    for deed in deeds:
        first.setdefault(deed.flag, deed)
    began = [flag for flag in message.flags if flag not in first]
    began += [flag for flag, deed in first.items() if deed.kind == FlagDeed.Kind.DISMISSED]
    recorded = [Deed(flag, True, "", "", "", None) for flag in began]
    return recorded + [_deed(one) for one in deeds]


def _deed(row: FlagDeed) -> Deed:
    is_set = row.kind == FlagDeed.Kind.SET
    reason = _("in a review") if row.reason == IN_A_REVIEW else row.reason
    return Deed(row.flag, is_set, row.by.username if row.by else "", row.scanner, reason, row.at)


def _require(message: Message, by: "User") -> None:
    if not may_flag(message, by):
        raise Forbidden(_("Flags are set by those who may change the run, by curators, and by whoever reviews it."))


def _write(message: Message, flags: list[str]) -> None:
    message.flags = flags
    message.save(update_fields=["flags"])
    indexing.messages(message.pk)


def _said(reason: str) -> str:
    return storable(reason).strip()[:LONGEST_REASON]
