"""Whoever asks at the same time, in however many processes: no more is ever set aside than there is."""

import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection

from experiments import actions
from experiments.budgets import budgeting
from experiments.engine.jobs import wake
from experiments.engine.reservations import Amount, OverBudget, accounts_of, applying, reserve
from experiments.models import Call, ModelPrice, Run, Step
from experiments.models.ids import new_id
from tests.experiments.budgets.accounts import account, assert_right
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

STARTS, THAT_FIT = 100, 3
A_CALL = {"max_tokens": 100}  # sixty words and no more: what it may cost is known beforehand


@pytest.fixture
def starts(arena, priced, alice, quiet_doorbell) -> Callable[[], list[Run]]:
    """A hundred runs whose first call costs next to nothing beside what is set aside for it."""

    def make() -> list[Run]:
        experiment = arena("sim/cooperative:first=0:words=40", max_turns=2, judge=False, filter=False)
        experiment.participants.update(params=A_CALL)
        priced()
        ModelPrice.objects.update(input=0, per_request=Decimal("0.01"))
        return [run for _ in range(2) for run in actions.start(experiment, by=alice, repeats=STARTS // 2)]

    return make


@pytest.mark.system
def test_a_hundred_parallel_starts_with_money_for_three_calls(starts, allow, provider):
    runs = starts()
    budget = allow(runs[0].experiment.owner, Decimal("0.01") * THAT_FIT + Decimal("0.0012"))
    for run in runs[:32]:
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


@pytest.mark.system
def test_workers_killed_in_the_middle_leave_right_accounts_after_the_sweep(arena, priced, start, allow):
    experiment = arena("sim/cooperative:first=0:tps=60:words=60", max_turns=2, judge=False, filter=False)
    experiment.participants.update(params=A_CALL)
    priced()
    budget = allow(experiment.owner, 1)
    runs = [start(experiment, seed=seed) for seed in range(6)]
    wake(runs[0].pk)
    for _ in range(3):
        worker = Worker(lease_seconds=1)
        wait_until(lambda: Call.objects.filter(state=Call.State.SENT).exclude(text="").count() > 2, "calls under way")
        assert account(budget).cost_reserved > 0
        worker.kill()
    worker = Worker(lease_seconds=1)
    try:
        wait_until(lambda: not Run.objects.live().exists(), "all of them to end")
    finally:
        worker.kill()

    assert set(Run.objects.values_list("state", flat=True)) == {Run.State.COMPLETED}
    assert Call.objects.filter(state=Call.State.LOST).exists()
    assert_right(budget)


def test_threads_that_set_aside_at_once_never_pass_the_limit(starts, allow, ada):
    """Of budgets in several orders: nobody waits for somebody who waits for them."""
    runs = starts()[:12]
    experiment = runs[0].experiment
    budgets = [allow(experiment, 5), allow(experiment.owner, "0.5"), allow(experiment, 9, period="day")]
    amount, results = Amount(Decimal("0.1"), 10), []

    def ask(run: Run) -> None:
        try:
            accounts = accounts_of(applying(experiment.pk), account(budgets[0]).budget.since)
            step = Step.objects.create(run=run, key="turn/1/A", kind="ask", purpose="reply")
            from_model = experiment.participants.first().model
            with budgeting.transaction.atomic():
                fields = {"reserved": amount.cost, "reserved_tokens": amount.tokens, "request": {}, "attempt": 1}
                call = Call.objects.create(id=new_id(), run=run, step=step, model=from_model, **fields)
                reserve(call.pk, accounts, amount)
            results.append("fits")
        except OverBudget as over:
            results.append(over.refusal.reason)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(results) == ["budget_person"] * 7 + ["fits"] * 5
    assert account(budgets[1]).cost_reserved == Decimal("0.5")
    assert {account(budget).cost_reserved for budget in budgets} == {Decimal("0.5")}


def test_two_who_set_the_same_budget_at_once(starts, ada, django_user_model):
    owner = django_user_model.objects.create_user("otto")
    done, barrier = [], threading.Barrier(2)

    def set_(cost: int) -> None:
        try:
            barrier.wait(10)
            budgeting.set_budget(owner, by=ada, cost=Decimal(cost))
            done.append("set")
        except budgeting.Rivalled:
            done.append("rivalled")
        finally:
            connection.close()

    threads = [threading.Thread(target=set_, args=(cost,)) for cost in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert owner.budgets.count() == 1
    assert "set" in done
    assert set(done) <= {"set", "rivalled"}
