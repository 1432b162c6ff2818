"""Who has which item at this moment. A conditional UPDATE decides; nothing is locked while somebody reads.

An item has as many places as people are to review it, so that the number of answers is exact however many people ask at
once. A hold ends with the queue's minutes, and is renewed by whatever its holder does. `progress` says how far a queue
is by these places.
"""

from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, OuterRef, Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.errors import ActionUnavailable, Conflict, Forbidden, Invalid
from experiments.engine.text import storable
from experiments.models import ReviewAnswer, ReviewItem, ReviewQueue, ReviewSkip, ReviewSlot
from experiments.tasks import clock

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

    from accounts.models import User

TRIED_AT_ONCE = 40
LONGEST_REASON = 300
LATEST = 20  # answers whose median tells how long one takes


class SlotUnavailable(Conflict):
    """Every place at the item is held or answered by others."""


def next_item(queue: ReviewQueue, *, by: "User") -> ReviewItem | None:
    """What they hold already, or else the item with the fewest answers that they have neither answered nor passed over,
    held for them. None when nothing is left for them. Raises Forbidden for who does not review in it, or a closed one.
    """
    require_open(queue, by)
    reachable = ReviewItem.objects.open_to(by).filter(queue=queue).values("pk")
    held = ReviewSlot.objects.held_by(by).filter(item__in=reachable).select_related("item__queue")
    if (slot := held.order_by("claimed", "pk").first()) and renew(slot.item, by=by):
        return slot.item
    while tried := list(_left(queue, by)[:TRIED_AT_ONCE]):
        for slot in tried:
            if _take(slot, by):
                return slot.item
    return None


def claim(item: ReviewItem, *, by: "User") -> ReviewSlot:
    """Hold this item, or hold it longer. Raises Forbidden, and SlotUnavailable when others have every place at it."""
    require_open(item.queue, by)
    if slot := place_of(item, by):
        renew(item, by=by)
        return slot
    for slot in item.slots.free().order_by("number"):
        if _take(slot, by):
            return slot
        if mine := place_of(item, by):
            return mine
    raise SlotUnavailable(_("Others are reviewing this item or have done so. Nothing is lost: take the next one."))


def renew(item: ReviewItem, *, by: "User") -> bool:
    """They are still at it. An expired hold is theirs again as long as nobody else has taken it."""
    return bool(item.slots.held_by(by).update(until=_until(item.queue)))


def release(item: ReviewItem, *, by: "User") -> bool:
    """Give it back; what was entered is kept for them."""
    return bool(item.slots.held_by(by).update(holder=None, claimed=None, until=None))


def skip(item: ReviewItem, *, by: "User", reason: str) -> None:
    """Pass it over: it is not offered to them again. Raises Invalid without a reason, Forbidden when closed."""
    require_open(item.queue, by)
    said = storable(reason).strip()[:LONGEST_REASON]
    if not said:
        raise Invalid(reason=_("Give a reason for skipping. The queue's owner can read it."))
    with transaction.atomic():
        ReviewSkip.objects.get_or_create(item=item, person=by, defaults={"reason": said})
        release(item, by=by)


def undo(queue: ReviewQueue, *, by: "User") -> ReviewItem | None:
    """Take back the answer that they sent last, and hold its item again; its version stays. None without an answer.
    Raises Invalid once they were shown what is hidden: nobody begins again as if they had not seen it.
    """
    require_open(queue, by)
    mine = ReviewSlot.objects.answered().filter(item__queue=queue, holder=by)
    last = mine.select_related("item__queue").order_by("-answered", "-pk").first()
    if last is None or not ReviewItem.objects.open_to(by).filter(pk=last.item_id).exists():
        return None
    if queue.is_blind and last.revealed:
        raise ActionUnavailable(
            _(
                "You have seen the judge's scores of this item, so your answer stays. Send a new version, which "
                "is marked."
            )
        )
    again = {"answer": None, "answered": None, "claimed": Now(), "until": _until(queue)}
    unchanged = {"holder": by, "answer": last.answer_id, "revealed": last.revealed}
    undone = ReviewSlot.objects.filter(pk=last.pk, **unchanged).update(**again)
    return last.item if undone else None


def reveal(item: ReviewItem, *, by: "User") -> bool:
    """Show the models and the judge's scores of an item that they have answered. What they change afterwards is marked.
    Returns whether this call did it.
    """
    require_open(item.queue, by)
    mine = item.slots.answered().filter(holder=by, revealed__isnull=True)
    return bool(item.queue.is_blind and mine.update(revealed=Now()))


def visible_items(user: "User | AnonymousUser") -> "QuerySet[ReviewItem]":
    """With all that their page reads of them."""
    rows = ReviewItem.objects.visible_to(user)
    return rows.select_related("queue__rubric", "queue__version", "run__experiment", "message", "judgment")


def place_of(item: ReviewItem, user: "User") -> ReviewSlot | None:
    """Their place at the item, whether they hold it or have answered."""
    return item.slots.filter(holder=user).select_related("answer").first()


def require_open(queue: ReviewQueue, user: "User") -> None:
    if not ReviewQueue.objects.assigned_to(user).filter(pk=queue.pk).exists():
        raise Forbidden(_("You are not a reviewer of this queue. Its owner can add you."))
    if not ReviewQueue.objects.open_to(user).filter(pk=queue.pk).exists():
        raise Forbidden(_("This queue is closed. Its owner can open it again."))


def _left(queue: ReviewQueue, user: "User") -> "QuerySet[ReviewSlot]":
    """Free places at what they have not seen, those with the fewest answers first."""
    reachable = ReviewItem.objects.open_to(user).filter(queue=queue)
    seen = ReviewSlot.objects.filter(item__queue=queue, holder=user).values("item")
    passed = ReviewSkip.objects.filter(item__queue=queue, person=user).values("item")
    rows = ReviewSlot.objects.free().filter(item__in=reachable.values("pk"))
    rows = rows.exclude(item__in=seen).exclude(item__in=passed).select_related("item__queue")
    return rows.annotate(answers=Count("item__slots__answer")).order_by("answers", "item__number", "number")


def _take(slot: ReviewSlot, user: "User") -> bool:
    """Whether this call got it: it was free, and they hold no other place at the same item."""
    fields = {"holder": user, "claimed": Now(), "until": _until(slot.item.queue), "revealed": None}
    try:
        with transaction.atomic():
            return bool(ReviewSlot.objects.free().filter(pk=slot.pk).update(**fields))
    except IntegrityError:
        return False


def _until(queue: ReviewQueue) -> Any:
    return clock.ahead(timedelta(minutes=queue.lock_minutes))


@dataclass(frozen=True, slots=True)
class Progress:
    """items, complete: how many there are, and how many have all their answers. places, answers: likewise, one for each
    person that an item is to have. mine, left: what this person has answered, and can still answer. eta_seconds: for
    what is left to them, None while nobody knows how long an item takes.
    """

    items: int
    complete: int
    places: int
    answers: int
    mine: int
    left: int
    skipped: int
    eta_seconds: int | None

    @property
    def is_done(self) -> bool:
        return self.items > 0 and self.answers == self.places


def progress(queue: ReviewQueue, user: "User") -> Progress:
    items, places = ReviewItem.objects.filter(queue=queue), ReviewSlot.objects.filter(item__queue=queue)
    own = Count("pk", filter=Q(holder=user, answer__isnull=False))
    counts = places.aggregate(places=Count("pk"), answers=Count("answer"), mine=own)
    unanswered = ReviewSlot.objects.filter(item=OuterRef("pk"), answer__isnull=True)
    held = places.held_by(user).values("item").distinct().count()
    left = held + _left(queue, user).order_by().values(of=F("item")).distinct().count()
    pace = seconds_per_item(queue, user)
    return Progress(
        items=items.count(),
        complete=items.filter(~Exists(unanswered)).count(),
        left=left,
        skipped=items.filter(skips__person=user).count(),
        eta_seconds=round(pace * left) if pace is not None else None,
        **counts,
    )


def other_queue(queue: ReviewQueue, user: "User") -> ReviewQueue | None:
    """Another one in which something is left for this person."""
    rows = ReviewQueue.objects.open_to(user).exclude(pk=queue.pk)
    return next((one for one in rows.order_by("created") if _left(one, user).exists()), None)


def seconds_per_item(queue: ReviewQueue, user: "User") -> float | None:
    """The median of their latest answers, or of everybody's; None while there is none."""
    rows = ReviewAnswer.objects.filter(item__queue=queue, seconds__isnull=False).order_by("-created")
    latest = rows.values_list("seconds", flat=True)
    found = list(latest.filter(author=user)[:LATEST]) or list(latest[:LATEST])
    return median(seconds for seconds in found if seconds is not None) if found else None
