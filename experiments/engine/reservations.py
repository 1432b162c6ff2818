"""Whether the next call fits into its run's limits and the budgets that runs share, what is set aside for it, and what
the runs of a campaign have cost together.

Accounts are changed while the run's row is locked, and the rows of their periods are locked in the order of their ids,
so that no two transactions wait for each other.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, Count, Exists, ExpressionWrapper, F, OuterRef, Q, Sum
from django.db.models.functions import Coalesce

from accounts.models import Membership, User
from experiments.models import CALLS_UNDER_WAY, Budget, BudgetPeriod, Call, Campaign, Experiment, Reservation
from experiments.models.budget import SUBJECTS
from experiments.models.money import MoneyField, money
from experiments.tasks import clock
from experiments.workflows.base.events import BudgetReached, JsonObject

LEAST_ANSWER = 64  # tokens; a call that has no room for as many beside its prompt is not made
PERIODS = {"total": "", "month": "monthly ", "day": "daily "}
REACHED = "budget_"  # how the stop reason begins of what a budget has ended

MOST_NAMED = 5  # administrators in a sentence
APPLYING_SECONDS = 3.0  # for how long a run under way may not know of a budget that was set


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used so far; money includes what is reserved for calls whose cost is not known. under_way: tokens
    set aside for calls that have not ended.
    """

    tokens: int
    cost: Decimal
    under_way: int = 0


@dataclass(frozen=True, slots=True)
class OverLimit:
    """Why the next call is not made: the stop reason, and the sentence that people read. budget: which one it was and
    what is left of it, as the event tells it; None for a limit of the run itself.
    """

    reason: str
    message: str
    budget: BudgetReached | None = None


def refuse(
    spent: Spent, reservation: Decimal | None, least: int, *, tokens: int | None, cost: Decimal | None
) -> OverLimit | None:
    """The reason not to make a call for which `reservation` US dollars would be set aside, and that takes `least`
    tokens at least, its prompt included; None when it fits.
    """
    if tokens is not None and (left := tokens - spent.tokens - spent.under_way) < least:
        return OverLimit(
            "limit_tokens",
            f"The next call needs at least {least} tokens; {max(left, 0)} are left of the limit of {tokens} tokens.",
        )
    if cost is None:
        return None
    if reservation is None:
        return OverLimit("limit_cost", "The run has a limit of cost, but the price of the next model is unknown.")
    if spent.cost + reservation > cost:
        return OverLimit(
            "limit_cost",
            f"The next call could cost up to ${reservation:.4f}; with ${spent.cost:.4f} spent or set aside, "
            f"that is over the limit of ${cost:.4f}.",
        )
    return None


def over_budget(reached: BudgetReached) -> OverLimit:
    """Why a call is not made for which a budget has no room, and whom to ask for more."""
    name = f"the {PERIODS[reached.period]}budget of {reached.kind} {reached.name}"
    admins = f" ({', '.join(reached.admins)})" if reached.admins else ""
    whom = ", ".join([*reached.ask, f"an administrator{admins}"])
    if reached.is_unpriced:
        needs = f"The price of the next model is unknown, and {name} allows known prices only."
        advice = f"Ask {whom} to allow unknown prices there, then resume."
    else:
        wanted, left = [], []
        if reached.cost_left is not None and reached.cost is not None:
            wanted.append(f"${Decimal(reached.cost):.4f}")
            left.append(f"${max(Decimal(reached.cost_left), Decimal(0)):.4f} is")
        if reached.tokens_left is not None:
            wanted.append(f"{reached.tokens} tokens")
            left.append(f"{max(reached.tokens_left, 0)} tokens are")
        needs = f"The next call could take up to {' and '.join(wanted)}; {' and '.join(left)} left of {name}."
        advice = f"Ask {whom} to raise it, then resume."
    return OverLimit(f"{REACHED}{reached.kind}", f"{needs} {advice}", reached)


class Amount(NamedTuple):
    """cost None: unknown."""

    cost: Decimal | None
    tokens: int

    @property
    def known_cost(self) -> Decimal:
        return self.cost or Decimal(0)


@dataclass(frozen=True, slots=True)
class Account:
    """A period of a budget that applies to a call. needs_price: no call of an unknown price is made from it."""

    period_id: int
    budget: Budget

    @property
    def needs_price(self) -> bool:
        return self.budget.cost_limit is not None and not self.budget.allows_unknown_prices


class OverBudget(Exception):
    """The next call does not fit into a budget; nothing was written."""

    def __init__(self, over_limit: OverLimit) -> None:
        super().__init__(over_limit.message)
        self.over_limit = over_limit


class Accounts:
    """Those that apply to the calls of experiments, looked up anew every few seconds and at midnight UTC. While no
    budget is in force at all, that is one look for all experiments.
    """

    def __init__(self, seconds: float = APPLYING_SECONDS) -> None:
        self._seconds = seconds
        self._known: dict[UUID, tuple[float, date, tuple[Account, ...]]] = {}  # until when, and on which day
        self._none_until = float("-inf")

    def of(self, experiment_id: UUID) -> tuple[Account, ...]:
        """In the order in which their rows are taken."""
        now, moment = time.monotonic(), clock.now()
        if now < self._none_until:
            return ()
        until, day, found = self._known.get(experiment_id, (0.0, None, ()))
        if now < until and day == moment.date():
            return found
        self._known = {key: known for key, known in self._known.items() if now < known[0]}
        if not Budget.objects.active().exists():
            self._none_until = now + self._seconds
            return ()
        found = accounts_of(applying(experiment_id), moment)
        self._known[experiment_id] = now + self._seconds, moment.date(), found
        return found


def applying(experiment_id: UUID) -> list[Budget]:
    """The budgets that the calls of an experiment count against, as it is owned and placed now."""
    this = Experiment.objects.filter(pk=experiment_id)
    subject = Q(experiment=experiment_id) | Q(person__in=this.values("owner")) | Q(project__in=this.values("project"))
    return list(Budget.objects.active().filter(subject))


def accounts_of(budgets: Sequence[Budget], moment: datetime) -> tuple[Account, ...]:
    """Their accounts of the period that holds a moment; one that is not there yet begins empty."""
    if not budgets:
        return ()
    wanted = {(budget.pk, budget.begins(moment)): budget for budget in budgets}
    rows = BudgetPeriod.objects.filter(budget__in=budgets, begins__in={begins for _pk, begins in wanted})
    found = {(row.budget_id, row.begins): row.pk for row in rows}
    for (pk, begins), _budget in sorted(wanted.items(), key=lambda item: str(item[0])):
        if (pk, begins) not in found:
            row, _is_new = BudgetPeriod.objects.get_or_create(budget_id=pk, begins=begins)
            found[pk, begins] = row.pk
    return tuple(sorted((Account(found[key], budget) for key, budget in wanted.items()), key=lambda a: a.period_id))


def reserve(call_id: UUID, accounts: Sequence[Account], amount: Amount) -> tuple[int, ...]:
    """Set an amount aside in every account, or in none. Returns the ids of the periods. Raises OverBudget. Call inside
    the transaction that writes the call down.
    """
    for account in accounts:
        is_unpriced = amount.cost is None and account.needs_price
        if is_unpriced or not _set_aside(account.period_id, amount):
            budget = Budget.objects.select_related(*SUBJECTS, "created_by").get(pk=account.budget.pk)
            period = BudgetPeriod.objects.get(pk=account.period_id)
            raise OverBudget(over_budget(_reached(budget, period, amount)))
    periods = tuple(account.period_id for account in accounts)
    Reservation.objects.bulk_create(Reservation(period_id=period_id, call_id=call_id) for period_id in periods)
    return periods


def settle(periods: Sequence[int], reserved: Amount, spent: Amount) -> None:
    """What was set aside for a call becomes what it has come to."""
    for period_id in periods:
        BudgetPeriod.objects.filter(pk=period_id).update(
            cost_reserved=F("cost_reserved") - money(reserved.known_cost),
            cost_spent=F("cost_spent") + money(spent.known_cost),
            tokens_reserved=F("tokens_reserved") - reserved.tokens,
            tokens_spent=F("tokens_spent") + spent.tokens,
        )


def settle_lost(call_ids: Collection[UUID]) -> None:
    """What became of these calls is unknown: what was set aside counts as spent."""
    columns = ("period_id", "call__reserved", "call__reserved_tokens")
    lost: dict[int, Amount] = {}
    for period_id, cost, tokens in Reservation.objects.filter(call__in=call_ids).values_list(*columns):
        before = lost.get(period_id, Amount(Decimal(0), 0))
        lost[period_id] = Amount(before.known_cost + (cost or 0), before.tokens + (tokens or 0))
    for period_id, amount in sorted(lost.items()):
        settle([period_id], amount, amount)


def periods_of(call_id: UUID) -> tuple[int, ...]:
    return tuple(Reservation.objects.filter(call=call_id).order_by("period").values_list("period_id", flat=True))


def leads_of(project_id: UUID | None) -> list[str]:
    """Who decides on what the experiments of a project may spend."""
    leads = Membership.objects.filter(project=project_id, role=Membership.Role.LEAD, user__is_active=True)
    return list(leads.order_by("user__username").values_list("user__username", flat=True)) if project_id else []


def _set_aside(period_id: int, amount: Amount) -> bool:
    """The condition stands in the UPDATE itself, so that of two who ask at once the second sees the first. The limit is
    read from its own row: one that was lowered a moment ago holds already.
    """
    cost = OuterRef("cost_earlier") + OuterRef("cost_spent") + OuterRef("cost_reserved") + money(amount.known_cost)
    tokens = OuterRef("tokens_earlier") + OuterRef("tokens_spent") + OuterRef("tokens_reserved") + amount.tokens
    has_money = Q(cost_limit=None) | Q(cost_limit__gte=ExpressionWrapper(cost, MoneyField()))
    has_tokens = Q(token_limit=None) | Q(token_limit__gte=ExpressionWrapper(tokens, BigIntegerField()))
    fits = Exists(Budget.objects.filter(Q(active=False) | has_money & has_tokens, pk=OuterRef("budget")))
    updated = BudgetPeriod.objects.filter(fits, pk=period_id).update(
        cost_reserved=F("cost_reserved") + money(amount.known_cost),
        tokens_reserved=F("tokens_reserved") + amount.tokens,
    )
    return bool(updated)


def _reached(budget: Budget, period: BudgetPeriod, amount: Amount) -> BudgetReached:
    """Left: with what is set aside taken off. Administrators alone decide on the budgets of people and projects; on one
    of an experiment also the leads of its project, and who has set it.
    """
    cost_left = period.cost_left(budget.cost_limit)
    asked: list[str] = []
    if budget.experiment:
        asked = leads_of(budget.experiment.project_id)
        asked += [budget.created_by.get_username()] if budget.created_by else []
    return BudgetReached(
        id=str(budget.pk),
        kind=budget.kind,
        name=str(budget.subject),
        period=budget.period,
        cost_left=None if cost_left is None else str(cost_left),
        tokens_left=period.tokens_left(budget.token_limit),
        cost=None if amount.cost is None else str(amount.cost),
        tokens=amount.tokens,
        is_unpriced=amount.cost is None and cost_left is not None,
        ask=list(dict.fromkeys(asked)),
        admins=[] if budget.experiment else administrators(),
    )


def administrators() -> list[str]:
    rows = User.objects.filter(role=User.Role.ADMIN, is_active=True).order_by("username")
    return list(rows.values_list("username", flat=True)[:MOST_NAMED])


@dataclass(frozen=True, slots=True)
class Totals:
    """Calls, those of them that failed, tokens, US dollars (with what is set aside), and calls at an unknown cost.
    under_way: tokens set aside for calls that have not ended.
    """

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    under_way: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def data(self) -> JsonObject:
        return {**asdict(self), "cost": str(self.cost)}

    @staticmethod
    def read(data: Mapping[str, Any]) -> "Totals":
        return Totals(**{**data, "cost": Decimal(data.get("cost", 0))})


def spent_by_runs(runs: Collection[UUID | str]) -> Totals:
    if not runs:
        return Totals()
    failed = Q(state__in=(Call.State.FAILED, Call.State.LOST))
    unpriced = Q(cost__isnull=True) & ~Q(state__in=CALLS_UNDER_WAY)
    found = Call.objects.filter(run__in=list(runs)).aggregate(
        calls=Count("pk"),
        failed=Count("pk", filter=failed),
        input_tokens=Sum("input_tokens", default=0),
        output_tokens=Sum("output_tokens", default=0),
        unpriced=Count("pk", filter=unpriced),
        under_way=Sum("reserved_tokens", filter=Q(state__in=CALLS_UNDER_WAY), default=0),
        money=Sum(Coalesce("cost", "reserved"), default=Decimal(0)),
    )
    return Totals(cost=found.pop("money"), **found)


def spent_by_campaign(campaign: Campaign) -> Totals:
    """Everything so far, calls under way included."""
    cursor = campaign.cursor
    return Totals.read(cursor.get("spent", {})) + spent_by_runs(cursor.get("live", ()))


def spent_by_campaign_of(experiment_id: UUID) -> Totals:
    """What all runs of an experiment's campaign have used together."""
    campaign = Campaign.objects.only("cursor").filter(pk=experiment_id).first()
    return spent_by_campaign(campaign) if campaign else Totals()


@contextmanager
def campaign_locked(experiment_id: UUID) -> Iterator[None]:
    """A transaction in which nobody else begins a call of the campaign: of two workers that see room for one more call,
    one makes it. The campaign's row is taken before that of any run.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update().only("pk").filter(pk=experiment_id).first()
        yield


def campaign_began(experiment_id: UUID) -> datetime | None:
    """When the campaign began, or was last resumed."""
    row = Campaign.objects.filter(pk=experiment_id).values_list("resumed", "created").first()
    return (row[0] or row[1]) if row else None
