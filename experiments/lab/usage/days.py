"""What calls count, in money and tokens, by one rule for budgets and for the usage page; and adding up past days."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import BigIntegerField, Case, Count, DecimalField, F, Max, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, Coalesce, Round, TruncDate
from django.utils import timezone

from experiments.engine.recording import NOT_BILLED, NOT_SENT
from experiments.engine.reservations import Amount
from experiments.models import CALLS_UNDER_WAY, Call, UsageDay
from experiments.models.money import PARTS, SMALLEST
from experiments.models.run import RECORDS

MOST_DAYS = 50  # at one sweep
LATEST = timedelta(minutes=10)  # that a call written down before midnight may take to be seen
UNKNOWN = Q(cost__isnull=True) & ~Q(state__in=CALLS_UNDER_WAY)
GROUP = ("day", "experiment_id", "model_id", "purpose")
COUNTED = ("calls", "lost", "unpriced", "input_tokens", "output_tokens")
MONEY = ("cost", "possible_cost")
_DOLLARS = DecimalField(max_digits=30, decimal_places=10)


def parts(amount: Any) -> Cast:
    """An amount in whole smallest parts, whose sum is exact on every database."""
    scaled = Coalesce(amount, Value(0), output_field=_DOLLARS) * Value(PARTS)
    return Cast(Round(scaled, output_field=_DOLLARS), BigIntegerField())


def cost_counted() -> Cast:
    """What a call counts, in smallest parts: its cost; while or where it is not known, what was set aside."""
    return parts(Coalesce("cost", "reserved", output_field=_DOLLARS))


def tokens_counted() -> Case:
    """Tokens likewise. What was never sent, or was turned away, has taken none."""
    return Case(
        When(input_tokens__isnull=False, then=F("input_tokens") + Coalesce(F("output_tokens"), 0)),
        When(cost_source__in=(NOT_SENT, NOT_BILLED), then=Value(0)),
        default=Coalesce(F("reserved_tokens"), 0),
        output_field=BigIntegerField(),
    )


def amount_of(calls: QuerySet[Call]) -> Amount:
    """What some calls count together."""
    found = calls.order_by().aggregate(cost=Sum(cost_counted(), default=0), tokens=Sum(tokens_counted(), default=0))
    return Amount(int(found["cost"]) * SMALLEST, int(found["tokens"]))


def calls_since(day: date | None) -> QuerySet[Call]:
    """Calls of runs that were played here."""
    calls = Call.objects.exclude(run__origin__in=RECORDS).order_by()
    return calls if day is None else calls.filter(sent__gte=midnight(day))


def grouped(calls: QuerySet[Call]) -> Any:
    """Calls added up by day, experiment, model and purpose: what is COUNTED, and MONEY in its smallest parts. Each name
    has `_` behind it, so that it is not that of a column.
    """
    utc = TruncDate("sent", tzinfo=UTC)
    named = calls.annotate(day=utc, experiment_id=F("run__experiment"), purpose=F("step__purpose"))
    return named.values(*GROUP).annotate(
        calls_=Count("pk"),
        lost_=Count("pk", filter=Q(state=Call.State.LOST)),
        unpriced_=Count("pk", filter=UNKNOWN),
        input_tokens_=Coalesce(Sum("input_tokens"), 0),
        output_tokens_=Coalesce(Sum("output_tokens"), 0),
        cost_=Coalesce(Sum(parts(F("cost"))), 0),
        possible_cost_=Coalesce(Sum(parts(F("reserved")), filter=UNKNOWN), 0),
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
    in_batch = Q(batched__isnull=False, batched__ended__isnull=True)  # of a run that was stopped, too: its cost comes
    if of_day.filter(Q(state__in=CALLS_UNDER_WAY) | in_batch).exists():
        return False
    rows = []
    for found in grouped(of_day):
        counted = {name: found[name] for name in GROUP} | {name: found[f"{name}_"] for name in COUNTED}
        rows.append(UsageDay(**counted, **{name: int(found[f"{name}_"]) * SMALLEST for name in MONEY}))
    try:
        with transaction.atomic():
            UsageDay.objects.bulk_create(rows, batch_size=500)
    except IntegrityError:
        return False  # another worker was faster
    return True


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
