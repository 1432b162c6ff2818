"""Whether the accounts of budgets equal the sums over their calls, and how to make them so."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Sum

from experiments.engine.events import emit, reserve_numbers
from experiments.engine.recording import lose_calls
from experiments.lab.usage.days import cost_counted, tokens_counted
from experiments.models import TERMINAL_STATES, BudgetPeriod, Call, Run
from experiments.models.money import SMALLEST

COUNTERS = ("cost_spent", "cost_reserved", "tokens_spent", "tokens_reserved")


@dataclass(frozen=True, slots=True)
class Difference:
    """A counter that is not what its calls come to."""

    period: BudgetPeriod
    counter: str
    counted: Decimal | int
    found: Decimal | int

    def __str__(self) -> str:
        return f"{self.period.budget} {self.period.begins:%Y-%m-%d} {self.counter}: {self.counted}, calls: {self.found}"


def check(*, repair: bool = False) -> list[Difference]:
    """Every counter that is wrong. repair: it is put right, account by account, while calls go on."""
    differences = []
    for pk in BudgetPeriod.objects.order_by("pk").values_list("pk", flat=True):
        differences += _check(pk, repair=repair)
    return differences


def release_stranded() -> int:
    """Settle calls that still count as under way although their run is over. None should be there. Returns how many."""
    stranded = Call.objects.filter(state=Call.State.SENT, run__state__in=TERMINAL_STATES)
    runs = list(Run.objects.filter(pk__in=stranded.values("run")))
    return sum(map(_release, runs))


def _release(run: Run) -> int:
    with transaction.atomic():
        reserve_numbers(run.pk, 0)
        facts = lose_calls(run) if Run.objects.filter(pk=run.pk, state__in=TERMINAL_STATES).exists() else []
        emit(run.pk, *facts)
        return len(facts)


def _check(pk: int, *, repair: bool) -> list[Difference]:
    """Whoever changes an account holds its row until the commit: while we hold it, counters and calls agree."""
    with transaction.atomic():
        period = BudgetPeriod.objects.select_for_update().get(pk=pk)
        sums = dict(_sums(period))
        wrong = [name for name in COUNTERS if getattr(period, name) != sums[name]]
        found = [Difference(period, name, getattr(period, name), sums[name]) for name in wrong]
        if wrong and repair:
            BudgetPeriod.objects.filter(pk=pk).update(**{name: sums[name] for name in wrong})
    return found


def _sums(period: BudgetPeriod) -> Iterator[tuple[str, Decimal | int]]:
    calls = Call.objects.filter(reservations__period=period).order_by()
    sums = {"cost": Sum(cost_counted(), default=0), "tokens": Sum(tokens_counted(), default=0)}
    for name, rows in {
        "spent": calls.exclude(state=Call.State.SENT),
        "reserved": calls.filter(state=Call.State.SENT),
    }.items():
        found = rows.aggregate(**sums)
        yield f"cost_{name}", int(found["cost"]) * SMALLEST
        yield f"tokens_{name}", int(found["tokens"])
