"""Flags of messages: set by scanners and by people, dismissed by people, and how each came about.

A scan adds what today's flags find in transcripts that were recorded before.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Invalid
from experiments.engine.text import storable
from experiments.library.search import indexing
from experiments.models import Experiment, FlagDeed, Message, ReviewItem, Run
from experiments.workflows import workflow_of
from experiments.workflows.base.flags import REVIEWED, VERSION
from experiments.workflows.base.flags import flags as flags_in

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

    from accounts.models import User

LONGEST_REASON = 300
MOST_SHOWN = 200  # messages of one run
EARLIER = 5  # messages of the same seat that a reply is compared with
IN_A_REVIEW = "in a review"  # a reason that is stored in this language, and shown in the reader's


@dataclass(frozen=True, slots=True)
class FlagChange:
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
    """Who looks after the run, curators who decide about it, and those who review it just now."""
    runs = Run.objects.filter(pk=message.run_id)
    if runs.changeable_by(user).exists() or runs.decidable_by(user).exists():
        return True
    return ReviewItem.objects.open_to(user).filter(run=message.run_id).exists()


def set_flag(message: Message, flag: str, *, by: "User", reason: str = "") -> bool:
    """Set a flag of REVIEWED. Returns whether it was not in force before. Raises Forbidden and Invalid."""
    _require_right(message, by)
    if flag not in REVIEWED:
        raise Invalid(flag=_("There is no flag of this name."))
    return _change(message, flag, FlagDeed.Kind.SET, by, _reason(reason))


def dismiss(message: Message, flag: str, *, by: "User", reason: str) -> bool:
    """Take a flag away, with the reason; no scanner sets it again. Returns whether it was in force."""
    _require_right(message, by)
    if not (said := _reason(reason)):
        raise Invalid(reason=_("Give a reason. Everybody who sees the message can read it."))
    return _change(message, flag, FlagDeed.Kind.DISMISSED, by, said)


def _change(message: Message, flag: str, kind: FlagDeed.Kind, by: "User", reason: str) -> bool:
    is_set = kind == FlagDeed.Kind.SET
    with transaction.atomic():
        held = Message.objects.select_for_update().only("pk", "flags").get(pk=message.pk)
        if (flag in held.flags) == is_set:
            return False
        _write(held, [*held.flags, flag] if is_set else [one for one in held.flags if one != flag])
        FlagDeed.objects.create(message=held, flag=flag, kind=kind, by=by, reason=reason)
    message.flags = held.flags
    return True


def scan(runs: Iterable[UUID]) -> int:
    """Set what is found and not there yet. Returns how many flags are new; who scans again finds nothing."""
    return sum(scan_run(run) for run in runs)


def scan_run(run: UUID) -> int:
    workflow = Experiment.objects.values_list("workflow", flat=True).get(runs=run)
    rows = Message.objects.filter(run=run, seat__in=workflow_of(workflow).flagged).order_by("seq")
    said: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=EARLIER))
    count = 0
    for message in rows.only("pk", "run", "seat", "model", "raw_text", "flags", "finish_reason").iterator():
        if message.model:
            found = flags_in(message.raw_text, message.seat, list(said[message.seat]), message.finish_reason)
            fresh = [flag for flag in found if flag not in message.flags]
            count += len(add_scanned(message, fresh, scanner=VERSION)) if fresh else 0
        said[message.seat].append(message.raw_text)
    return count


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
    changes = FlagDeed.objects.filter(message__in=list(messages), by=user).order_by("id")
    for message, flag, kind in changes.values_list("message", "flag", "kind"):
        mine = found.setdefault(message, set())
        mine.add(flag) if kind == FlagDeed.Kind.SET else mine.discard(flag)
    return found


def history(message: Message) -> list[FlagChange]:
    """What became of the message's flags, the first change first; before them what its recording had noticed."""
    rows = list(message.flag_deeds.select_related("by"))
    first: dict[str, FlagDeed] = {}
    for row in rows:
        first.setdefault(row.flag, row)
    recorded = [flag for flag in message.flags if flag not in first]
    recorded += [flag for flag, row in first.items() if row.kind == FlagDeed.Kind.DISMISSED]
    changes = [FlagChange(flag, True, "", "", "", None) for flag in recorded]
    for row in rows:
        reason = _("in a review") if row.reason == IN_A_REVIEW else row.reason
        by, is_set = row.by.username if row.by else "", row.kind == FlagDeed.Kind.SET
        changes.append(FlagChange(row.flag, is_set, by, row.scanner, reason, row.at))
    return changes


def flagged(run: Run) -> "QuerySet[Message]":
    """The first messages that have a flag, or had one."""
    changes = FlagDeed.objects.filter(message=OuterRef("pk"))
    rows = run.messages.filter(Exists(changes) | ~Q(flags=[])).select_related("run__experiment")
    return rows.order_by("seq")[:MOST_SHOWN]


def choosable(run: Run) -> list[Message]:
    """The first messages that a flag can be set on."""
    rows = run.messages.filter(superseded=False).only("pk", "run", "turn", "seat").order_by("seq")
    return list(rows[:MOST_SHOWN])


def _require_right(message: Message, by: "User") -> None:
    if not may_flag(message, by):
        raise Forbidden(_("Flags can be set by people who may change the run, by curators, and by its reviewers."))


def _write(message: Message, flags: list[str]) -> None:
    message.flags = flags
    message.save(update_fields=["flags"])
    indexing.messages(message.pk)


def _reason(text: str) -> str:
    return storable(text).strip()[:LONGEST_REASON]
