"""The verbs of queues: making, changing, filling, opening and closing them, and who reviews in them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts import audit
from accounts.errors import Forbidden, Invalid
from accounts.models import Project, User
from experiments.engine.text import is_storable
from experiments.models import (
    Experiment,
    InstrumentVersion,
    QueueMember,
    ReviewItem,
    ReviewQueue,
    ReviewRubric,
    ReviewSlot,
)
from experiments.models.review import LONGEST_LOCK, MOST_PEOPLE
from experiments.models.run import CURATORS
from experiments.review.filling import Filters, chosen
from experiments.review.instruments import sampling
from experiments.setup.casting import complaint

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

LONGEST_NAME = 120
LONGEST_INSTRUCTIONS = 10_000
BATCH = 500
FILTERED = (ReviewQueue.Over.MESSAGES, ReviewQueue.Over.TRANSCRIPTS, ReviewQueue.Over.JUDGMENTS)


class OfScan(TypedDict):
    """What a queue that holds an instrument to people was drawn from. sample: as `instruments.sampling.Sample`."""

    version: InstrumentVersion
    scan: Experiment
    sample: dict[str, Any]


def may_make_for_lab(user: "User | AnonymousUser") -> bool:
    return user.is_active and getattr(user, "role", "") in CURATORS


def projects_for(user: "User | AnonymousUser") -> list[Project]:
    """The projects for which somebody makes queues: those that they lead, for curators those that they belong to."""
    mine = Project.objects.visible_to(user) if may_make_for_lab(user) else Project.objects.led_by(user)
    return list(mine.filter(archived=False).distinct())


def may_make(user: User) -> bool:
    return user.may_experiment or may_make_for_lab(user) or bool(projects_for(user))


def require_making(user: User) -> None:
    if not may_make(user):
        raise Forbidden(_("Queues can be made by curators, project leads, and people with runs."))


def is_manager(queue: ReviewQueue, user: "User | AnonymousUser") -> bool:
    return ReviewQueue.objects.manageable_by(user).filter(pk=queue.pk).exists()


def make(
    *,
    by: User,
    name: str,
    rubric: ReviewRubric,
    over: str = ReviewQueue.Over.MESSAGES,
    filters: Any = None,
    overlap: int = 1,
    is_blind: bool = True,
    instructions: str = "",
    lock_minutes: int = 20,
    project: Project | None = None,
    is_lab: bool = False,
    members: Sequence[str] = (),
    of_scan: OfScan | None = None,
) -> ReviewQueue:
    """A queue that is filled at once. members: user names. of_scan: in place of filters, with a rubric of the same
    instrument. Raises Forbidden for a project that one does not lead, and
    for the lab's queue of somebody who is no curator; Invalid naming the fields at fault.
    """
    _require_right(by, project=project, is_lab=is_lab)
    content = _checked(name, instructions, lock_minutes)
    people = people_of(members)
    content["overlap"] = _within("overlap", overlap, 1, MOST_PEOPLE)
    if over not in FILTERED and not of_scan:
        raise Invalid({"over": [_("A queue is over messages, transcripts or judgments.")]})
    content |= {"over": over, "filters": checked_filters(filters), "is_blind": is_blind}
    content |= of_scan or {}
    with transaction.atomic():
        queue = ReviewQueue.objects.create(owner=by, rubric=rubric, project=project, is_lab=is_lab, **content)
        _set_members(queue, people)
        audit.record(audit.Action.SHARED, by=by, of=queue, members=[one.username for one in people], lab=is_lab)
        fill(queue, by=by)
    return queue


def change(
    queue: ReviewQueue,
    *,
    by: User,
    name: str,
    instructions: str,
    lock_minutes: int,
    members: Sequence[str] | None = None,
) -> None:
    """What is changed without touching an answer, all of it or nothing. members: as they are where none are given.
    Raises Forbidden and Invalid.
    """
    require_manager(queue, by)
    fields = _checked(name, instructions, lock_minutes)
    with transaction.atomic():
        if members is not None:
            assign(queue, by=by, members=members)
        ReviewQueue.objects.filter(pk=queue.pk).update(**fields)
    for field, value in fields.items():
        setattr(queue, field, value)


def assign(queue: ReviewQueue, *, by: User, members: Sequence[str]) -> None:
    """Exactly these people review in it from now on; who is not among them any more gives back what they hold."""
    require_manager(queue, by)
    people = people_of(members)
    with transaction.atomic():
        _set_members(queue, people)
        rest = ReviewSlot.objects.filter(item__queue=queue, answer__isnull=True, holder__isnull=False)
        if not queue.is_lab:
            rest.exclude(holder__in=people).update(holder=None, claimed=None, until=None)
        audit.record(audit.Action.SHARED, by=by, of=queue, members=[one.username for one in people], lab=queue.is_lab)


def set_open(queue: ReviewQueue, *, by: User, is_open: bool) -> bool:
    """Open it, or close it: then nobody takes or reads anything in it. Returns whether this call did it."""
    require_manager(queue, by)
    to = ReviewQueue.State.OPEN if is_open else ReviewQueue.State.CLOSED
    return bool(ReviewQueue.objects.filter(pk=queue.pk).exclude(state=to).update(state=to))


def fill(queue: ReviewQueue, *, by: User) -> int:
    """Add what the filters leave and is not there yet. Returns how many items are new."""
    require_manager(queue, by)
    with transaction.atomic():
        ReviewQueue.objects.select_for_update().get(pk=queue.pk)
        known = set(queue.items.values_list("subject", flat=True))
        last = queue.items.aggregate(last=Max("number"))["last"] or 0
        found = sampling.chosen(queue, known) if queue.over == ReviewQueue.Over.UNITS else chosen(queue, known)
        fresh = enumerate(found, last + 1)
        items = [ReviewItem(queue=queue, number=number, **one._asdict()) for number, one in fresh]
        ReviewItem.objects.bulk_create(items, batch_size=BATCH)
        places = [ReviewSlot(item=item, number=n) for item in items for n in range(1, queue.overlap + 1)]
        ReviewSlot.objects.bulk_create(places, batch_size=BATCH)
        queue.filled = timezone.now()
        queue.save(update_fields=["filled"])
    return len(items)


def require_manager(queue: ReviewQueue, user: "User | AnonymousUser") -> None:
    if not is_manager(queue, user):
        raise Forbidden(_("Only the queue's owner, its project's leads and curators can change it."))


def people_of(names: Iterable[str]) -> list[User]:
    """Active people by their user names. Raises Invalid naming those whom nobody knows."""
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    found = {one.username: one for one in User.objects.filter(username__in=wanted, is_active=True)}
    if missing := [name for name in wanted if name not in found]:
        raise Invalid({"members": [_("There is no person with this name: %(names)s.") % {"names": ", ".join(missing)}]})
    return [found[name] for name in wanted]


def _set_members(queue: ReviewQueue, people: Sequence[User]) -> None:
    queue.members.exclude(user__in=people).delete()
    rows = [QueueMember(queue=queue, user=one) for one in people]
    QueueMember.objects.bulk_create(rows, ignore_conflicts=True)


def _require_right(by: User, *, project: Project | None, is_lab: bool) -> None:
    if is_lab and not may_make_for_lab(by):
        raise Forbidden(_("Only curators and administrators can make queues for the whole lab."))
    if is_lab and project:
        raise Invalid(project=_("A queue belongs to a project or to the lab, not to both."))
    if project and project not in projects_for(by):
        raise Forbidden(_("Only the project's leads can make queues for it."))
    if not (is_lab or project or by.may_experiment):
        raise Forbidden(_("Your role does not allow experiments, so you have no runs of your own to review."))


def _checked(name: str, instructions: str, lock_minutes: int) -> dict[str, object]:
    errors: dict[str, list[str]] = {}
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not is_storable(name):
        errors["name"] = [_("Enter a name of 1 to %(most)s characters.") % {"most": LONGEST_NAME}]
    if len(instructions) > LONGEST_INSTRUCTIONS or not is_storable(instructions):
        errors["instructions"] = [_("At most %(most)s characters fit here.") % {"most": LONGEST_INSTRUCTIONS}]
    if errors:
        raise Invalid(errors)
    minutes = _within("lock_minutes", lock_minutes, 1, LONGEST_LOCK)
    return {"name": name, "instructions": instructions, "lock_minutes": minutes}


def _within(field: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        said = _("Enter a number from %(low)s to %(high)s.") % {"low": low, "high": high}
        raise Invalid({field: [said]})
    return value


def checked_filters(asked: Any) -> dict[str, object]:
    """As a queue keeps them. Raises Invalid."""
    try:
        return Filters.model_validate(asked or {}).model_dump(mode="json", exclude_defaults=True)
    except ValidationError as error:
        raise Invalid({"filters": [complaint(one) for one in error.errors()]}) from error
