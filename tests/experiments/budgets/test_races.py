"""Whoever asks at the same time, in however many processes: no more is ever set aside than there is."""

from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction

from experiments.engine.jobs import wake
from experiments.engine.reservations import Amount, OverBudget, accounts_of, applying, reserve
from experiments.lab.budgets import budgeting
from experiments.models import Call, ModelPrice, Run, Step
from experiments.models.ids import new_id
from experiments.runs import actions
from tests.experiments.budgets.conftest import account, assert_right
from tests.fixtures import Worker, wait_until
from tests.making import maker
from tests.rivals import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

STARTS, THAT_FIT = 40, 3
A_CALL = {"max_tokens": 100}  # sixty words and no more: what it may cost is known beforehand


@maker
def starts(arena, priced, alice, woken_runs, /) -> list[Run]:
    """Forty runs whose first call costs next to nothing beside what is set aside for it."""
    experiment = arena("sim/cooperative:first=0:words=40", max_turns=2, judge=False, filter=False)
    experiment.participants.update(params=A_CALL)
    priced()
    ModelPrice.objects.update(input=0, per_request=Decimal("0.01"))
    return [run for _ in range(2) for run in actions.start(experiment, by=alice, repeats=STARTS // 2)]


@pytest.mark.system
def test_forty_parallel_starts_with_money_for_three_calls(starts, allow, provider):
    runs = starts()
    budget = allow(runs[0].experiment.owner, Decimal("0.01") * THAT_FIT + Decimal("0.0012"))
    for run in runs[:16]:
        wake(run.pk)
    workers = [Worker(lease_seconds=60) for _ in range(3)]
    try:
        ended = Run.objects.filter(pk__in=[run.pk for run in runs], state=Run.State.STOPPED)
        wait_until(lambda: ended.count() == STARTS, "all of them to end")
    finally:
        for worker in workers:
            worker.kill()

    assert Call.objects.count() == THAT_FIT, "however slow the machine, whose lost calls are not made up for"
    assert len(provider.ledger()) <= THAT_FIT
    assert set(ended.values_list("stop_reason", flat=True)) == {"budget_person"}
    assert_right(budget)


def test_threads_that_set_aside_at_once_never_pass_the_limit(starts, allow):
    """Of budgets in several orders: nobody waits for somebody who waits for them."""
    runs = starts()[:12]
    experiment = runs[0].experiment
    budgets = [allow(experiment, 5), allow(experiment.owner, "0.5"), allow(experiment, 9, period="day")]
    amount, model = Amount(Decimal("0.1"), 10), experiment.participants.first().model

    def ask(run: Run) -> str:
        accounts = accounts_of(applying(experiment.pk), account(budgets[0]).budget.since)
        step = Step.objects.create(run=run, key="turn/1/A", kind="ask", purpose="reply")
        fields = {"reserved": amount.cost, "reserved_tokens": amount.tokens, "request": {}, "attempt": 1}
        with transaction.atomic():
            call = Call.objects.create(id=new_id(), run=run, step=step, model=model, **fields)
            reserve(call.pk, accounts, amount)
        return "fits"

    given = at_once(*(partial(ask, run) for run in runs), refused=OverBudget)

    results = sorted(one.over_limit.reason if isinstance(one, OverBudget) else one for one in given)
    assert results == ["budget_person"] * 7 + ["fits"] * 5
    assert {account(budget).cost_reserved for budget in budgets} == {Decimal("0.5")}


def test_two_who_set_the_same_budget_at_once(admin, django_user_model):
    owner = django_user_model.objects.create_user("otto")
    setting = [partial(budgeting.set_budget, owner, by=admin, cost=Decimal(cost)) for cost in (1, 2)]

    given = at_once(*setting, refused=budgeting.Conflict)

    assert owner.budgets.count() == 1
    assert sum(isinstance(one, budgeting.Conflict) for one in given) <= 1
