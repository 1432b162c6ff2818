"""Whether the accounts of budgets equal the sums over their calls, and how to make them so."""

from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Q

from experiments.engine.events import emit, reserve_numbers
from experiments.engine.recording import lose_calls
from experiments.lab.usage.days import amount_of
from experiments.models import CALLS_UNDER_WAY, TERMINAL_STATES, BudgetPeriod, Call, Run


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
    """Every counter that is wrong. repair: it is put right, account by account, while calls go on.

    Every change of an account locks its row until the commit: while we hold the lock, counters and calls agree.
    """
    differences = []
    for pk in BudgetPeriod.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            period = BudgetPeriod.objects.select_for_update().get(pk=pk)
            sums = _sums(period)
            wrong = [name for name in sums if getattr(period, name) != sums[name]]
            differences += [Difference(period, name, getattr(period, name), sums[name]) for name in wrong]
            if wrong and repair:
                BudgetPeriod.objects.filter(pk=pk).update(**{name: sums[name] for name in wrong})
    return differences


def _sums(period: BudgetPeriod) -> dict[str, Decimal | int]:
    """By the names of the counters, what the calls of a period come to."""
    calls = Call.objects.filter(reservations__period=period).order_by()
    under_way = Q(state__in=CALLS_UNDER_WAY)
    spent, reserved = amount_of(calls.exclude(under_way)), amount_of(calls.filter(under_way))
    return {
        "cost_spent": spent.known_cost,
        "cost_reserved": reserved.known_cost,
        "tokens_spent": spent.tokens,
        "tokens_reserved": reserved.tokens,
    }


def release_stranded() -> int:
    """Settle calls that still count as under way although their run is over. None should be there. Returns how many."""
    stranded = Call.objects.filter(state=Call.State.SENT, run__state__in=TERMINAL_STATES)
    settled = 0
    for run in list(Run.objects.filter(pk__in=stranded.values("run"))):
        with transaction.atomic():
            reserve_numbers(run.pk, 0)
            facts = lose_calls(run) if Run.objects.filter(pk=run.pk, state__in=TERMINAL_STATES).exists() else []
            emit(run.pk, *facts)
            settled += len(facts)
    return settled
