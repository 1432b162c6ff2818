"""Whoever asks at the same time, in however many processes: no more is ever set aside than there is."""

from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction

from experiments.engine.reservations import Amount, OverBudget, accounts_of, applying, reserve
from experiments.lab.budgets import budgeting
from experiments.models import Call, Run, Step
from experiments.models.ids import new_id
from tests.experiments.budgets.conftest import account
from tests.rivals import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def test_threads_that_set_aside_at_once_never_pass_the_limit(arena, start, allow):
    """Of budgets in several orders: nobody waits for somebody who waits for them."""
    experiment = arena()
    runs = [start(experiment) for _ in range(12)]
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
