"""Adding up the days that are over."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from experiments.lab.usage.call_sums import parts
from experiments.models import Call, UsageDay
from experiments.models.money import SMALLEST
from experiments.models.run import RECORDS

MOST_DAYS = 50  # at one sweep
LATEST = timedelta(minutes=10)  # that a call written down before midnight may take to be seen
UNKNOWN = Q(cost__isnull=True) & ~Q(state=Call.State.SENT)
GROUP = ("day", "experiment_id", "model_id", "purpose")


def calls_since(day: date | None) -> QuerySet[Call]:
    """Calls of runs that were played here."""
    calls = Call.objects.exclude(run__origin__in=RECORDS).order_by()
    return calls if day is None else calls.filter(sent__gte=midnight(day))


def grouped(calls: QuerySet[Call]) -> Any:
    """Calls added up by day, experiment, model and purpose; money in its smallest parts."""
    utc = TruncDate("sent", tzinfo=UTC)
    named = calls.annotate(day=utc, experiment_id=F("run__experiment"), purpose=F("step__purpose"))
    return named.values(*GROUP).annotate(
        calls=Count("pk"),
        lost=Count("pk", filter=Q(state=Call.State.LOST)),
        unpriced=Count("pk", filter=UNKNOWN),
        input_tokens_=Coalesce(Sum("input_tokens"), 0),
        output_tokens_=Coalesce(Sum("output_tokens"), 0),
        cost_=Coalesce(Sum(parts(F("cost"))), 0),
        possible_cost=Coalesce(Sum(parts(F("reserved")), filter=UNKNOWN), 0),
    )


def last_day() -> date | None:
    """The last one that is added up."""
    found: date | None = UsageDay.objects.aggregate(last=Max("day"))["last"]
    return found


def roll_up() -> int:
    """Add up what days are over, one after the other, as far as every call of them has ended. Returns how many."""
    return next((done for done in range(MOST_DAYS) if not _roll_up_next()), MOST_DAYS)


def _roll_up_next() -> bool:
    last = last_day()
    calls = calls_since(None if last is None else last + timedelta(days=1))
    first = calls.order_by("sent").values_list("sent", flat=True).first()
    if first is None or first.astimezone(UTC).date() >= (timezone.now() - LATEST).astimezone(UTC).date():
        return False
    day = first.astimezone(UTC).date()
    of_day = calls_since(day).filter(sent__lt=midnight(day + timedelta(days=1)))
    if of_day.filter(state=Call.State.SENT).exists():
        return False
    try:
        with transaction.atomic():
            UsageDay.objects.bulk_create([_row(found) for found in grouped(of_day)], batch_size=500)
    except IntegrityError:
        return False  # another worker was faster
    return True


def _row(found: dict[str, Any]) -> UsageDay:
    counted = {name: found[name] for name in (*GROUP, "calls", "lost", "unpriced")}
    tokens = {"input_tokens": found["input_tokens_"], "output_tokens": found["output_tokens_"]}
    money: dict[str, Any] = {
        "cost": int(found["cost_"]) * SMALLEST,
        "possible_cost": int(found["possible_cost"]) * SMALLEST,
    }
    return UsageDay(**counted, **tokens, **money)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
