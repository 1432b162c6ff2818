"""Leaving cycles out of ratings, with a reason that everybody reads, and taking them in again.

Nothing is deleted: ratings are played again without what is void. Who left out or took in what, when and why is an
event of its run, which stays when the cycle counts again.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import ActionUnavailable, Conflict, Forbidden, Invalid
from accounts.models import User
from experiments.engine.events import emit
from experiments.models import Cycle, Event
from experiments.models.signals import cycles_changed
from experiments.workflows.coding.records import CycleRestored, CycleVoided

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

LONGEST_REASON = 300
VOIDED, RESTORED = "cycle_voided", "cycle_restored"


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody did to a cycle. reason: empty when it was taken in again."""

    is_void: bool
    by: str
    reason: str
    at: datetime


def may_void(user: "User | AnonymousUser") -> bool:
    is_curator = getattr(user, "role", "") in {User.Role.CURATOR, User.Role.ADMIN}
    return user.is_active and (user.is_staff or is_curator)


def void(cycle: Cycle, *, by: User, reason: str, as_part: bool = False) -> bool:
    """Leave a cycle out. Returns whether this call did it; one that is void already keeps its reason. as_part: with
    its run, which the audit log names as a whole.

    Raises Forbidden for who is neither curator nor admin, Invalid without a reason and for a cycle that is not
    rated: what does not count cannot be left out.
    """
    _refuse_others(by)
    said = _checked(reason)
    with transaction.atomic():
        counted = Cycle.objects.filter(pk=cycle.pk, state=Cycle.State.RATED, voided__isnull=True)
        if counted.update(void_reason=said, voided=timezone.now(), voided_by=by):
            _tell([(cycle.run_id, CycleVoided(turn=cycle.turn, by=by.get_username(), reason=said))])
            if not as_part:
                audit.record(audit.Action.VOIDED, by=by, of=cycle, name=f"{cycle.run} · {cycle.turn}", reason=said)
            return True
    if not Cycle.objects.filter(pk=cycle.pk, state=Cycle.State.RATED).exists():
        raise ActionUnavailable(_("Only a rated cycle can be left out."))
    return False


def restore(cycle: Cycle, *, by: User, as_part: bool = False) -> bool:
    """Let a void cycle count again. Returns whether this call did it. Raises Forbidden as `void` does."""
    _refuse_others(by)
    with transaction.atomic():
        void_ones = Cycle.objects.filter(pk=cycle.pk, voided__isnull=False)
        if void_ones.update(void_reason="", voided=None, voided_by=None):
            _tell([(cycle.run_id, CycleRestored(turn=cycle.turn, by=by.get_username()))])
            if not as_part:
                audit.record(audit.Action.RESTORED, by=by, of=cycle, name=f"{cycle.run} · {cycle.turn}")
            return True
    return False


def last() -> Cycle | None:
    """The cycle that was rated last, of those that count."""
    return Cycle.objects.counted().last()


def void_last(*, by: User, reason: str, named: int) -> Cycle:
    """Leave out the cycle that was rated last, which has to be the one that was named (its key).

    Raises Conflict when another one is the last meanwhile, or somebody else has left it out.
    """
    _refuse_others(by)
    found = last()
    if found is None or found.pk != named or not void(found, by=by, reason=reason):
        raise Conflict(_("This is no longer the last cycle. Nothing was left out; check again."))
    return found


def void_all(*, by: User, reason: str, count: int) -> int:
    """Leave out every cycle that counts, which have to be as many as were named. Returns how many.

    Raises Conflict when there are more or fewer of them meanwhile.
    """
    _refuse_others(by)
    said = _checked(reason)
    with transaction.atomic():
        rows = list(Cycle.objects.counted().select_for_update(of=("self",)).values_list("pk", "run_id", "turn"))
        if len(rows) != count or not count:
            raise Conflict(_("%(n)s cycles count now. Nothing was left out; check again.") % {"n": len(rows)})
        chosen = Cycle.objects.filter(pk__in=[pk for pk, _run, _turn in rows])
        chosen.update(void_reason=said, voided=timezone.now(), voided_by=by)
        name = by.get_username()
        _tell([(run, CycleVoided(turn=turn, by=name, reason=said)) for _pk, run, turn in rows])
        audit.record(audit.Action.VOIDED, by=by, target="cycle:all", reason=said, cycles=count)
    return count


def deeds(cycles: Iterable[Cycle]) -> dict[int, list[Deed]]:
    """What was done to these cycles, the first deed first, by their keys."""
    key = {(cycle.run_id, cycle.turn): cycle.pk for cycle in cycles}
    events = Event.objects.filter(run__in={run for run, _turn in key}, type__in=(VOIDED, RESTORED)).order_by("at", "pk")
    found: dict[int, list[Deed]] = defaultdict(list)
    for event in events:
        if pk := key.get((event.run_id, event.data["turn"])):
            is_void = event.type == VOIDED
            reason = CycleVoided.read(event.data).reason if is_void else ""
            found[pk].append(Deed(is_void, CycleRestored.read(event.data).by, reason, event.at))
    return dict(found)


def _tell(facts: Iterable[tuple[UUID, CycleVoided | CycleRestored]]) -> None:
    """One event for each cycle, in its run; and the ladder is told once."""
    for run, found in groupby(sorted(facts, key=lambda fact: (str(fact[0]), fact[1].turn)), key=itemgetter(0)):
        emit(run, *(fact for _run, fact in found))
    transaction.on_commit(partial(cycles_changed.send, sender=None))


def _checked(reason: str) -> str:
    said = reason.replace("\0", "").strip()[:LONGEST_REASON]
    if not said:
        raise Invalid(reason=_("Give a reason. Everybody who sees the board can read it."))
    return said


def _refuse_others(by: User) -> None:
    if not may_void(by):
        raise Forbidden(_("Only curators and administrators can decide which cycles count."))
