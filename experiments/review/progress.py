"""How far a queue is: done of all, one's own share, people per item, and how long the rest may take."""

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Q

from experiments.models import ReviewAnswer, ReviewItem, ReviewQueue, ReviewSlot
from experiments.review import slots

if TYPE_CHECKING:
    from accounts.models import User

LATEST = 20  # answers whose median tells how long one takes


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


def of(queue: ReviewQueue, user: "User") -> Progress:
    rows = ReviewSlot.objects.filter(item__queue=queue)
    counts = rows.aggregate(
        places=Count("pk"),
        answers=Count("answer"),
        mine=Count("pk", filter=Q(holder=user, answer__isnull=False)),
    )
    open_ones = ReviewSlot.objects.filter(item=OuterRef("pk"), answer__isnull=True)
    items = ReviewItem.objects.filter(queue=queue)
    left = slots.left_for(queue, user)
    pace = seconds_per_item(queue, user)
    return Progress(
        items=items.count(),
        complete=items.filter(~Exists(open_ones)).count(),
        left=left,
        skipped=items.filter(skips__person=user).count(),
        eta_seconds=round(pace * left) if pace is not None else None,
        **counts,
    )


def seconds_per_item(queue: ReviewQueue, user: "User") -> float | None:
    """The median of their latest answers, or of everybody's; None while there is none."""
    rows = ReviewAnswer.objects.filter(item__queue=queue, seconds__isnull=False).order_by("-created")
    mine = list(rows.filter(author=user).values_list("seconds", flat=True)[:LATEST])
    found = mine or list(rows.values_list("seconds", flat=True)[:LATEST])
    known = [seconds for seconds in found if seconds is not None]
    return median(known) if known else None
