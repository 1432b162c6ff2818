"""Months and days are those of UTC: at their border a budget is reset, and what has begun stays there."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial

import pytest

from experiments.engine import reservations
from experiments.engine.reservations import Accounts, Amount, OverBudget, reserve, settle
from experiments.lab.budgets import standing as budget_standing
from experiments.models import Budget, Call, Run, Step
from experiments.models.budget import BEGINNING
from experiments.models.ids import new_id
from tests.cases import each_case

LAST = datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC)
utc = partial(datetime, tzinfo=UTC)
AMOUNT = Amount(Decimal("0.6"), 100)


@each_case(
    ("period", "moment", "begins", "ends"),
    [
        ("day", LAST, utc(2026, 2, 28), utc(2026, 3, 1)),
        ("month", LAST, utc(2026, 2, 1), utc(2026, 3, 1)),
        ("month", utc(2026, 12, 31, 23), utc(2026, 12, 1), utc(2027, 1, 1)),
        ("month", utc(2024, 2, 29, 12), utc(2024, 2, 1), utc(2024, 3, 1)),
        ("total", LAST, BEGINNING, None),
        ("day", datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=8))), utc(2026, 2, 28), utc(2026, 3, 1)),
    ],
)
def test_a_period_begins_and_ends_by_the_calendar_of_utc(period, moment, begins, ends):
    budget = Budget(period=period)

    assert (budget.begins(moment), budget.ends(moment)) == (begins, ends)


@pytest.fixture
def clock(monkeypatch):
    """The moment that everybody takes to be now; a function sets it."""
    shown = [LAST]
    for module in (reservations, budget_standing):
        monkeypatch.setattr(module.clock, "now", lambda: shown[0])
    return lambda moment: shown.__setitem__(0, moment)


@pytest.fixture
def begin(arena):
    run = None

    def call(accounts):
        nonlocal run
        run = run or Run.objects.create(experiment=arena(), seed=1)
        step = Step.objects.create(run=run, key=str(new_id()), kind="ask", purpose="reply")
        model = run.experiment.participants.first().model
        fields = {"reserved": AMOUNT.cost, "reserved_tokens": AMOUNT.tokens, "request": {}, "attempt": 1}
        made = Call.objects.create(run=run, step=step, model=model, **fields)
        return reserve(made.pk, accounts.now(), AMOUNT)

    return call


@pytest.mark.databases
@pytest.mark.parametrize("period", ["month", "day"])
def test_at_the_border_there_is_room_and_calls_are_settled_where_they_began(alice, arena, allow, clock, begin, period):
    experiment = arena()
    budget = allow(alice, 1, period=period)
    accounts = Accounts(experiment.pk)
    first = begin(accounts)
    with pytest.raises(OverBudget) as refused:
        begin(accounts)
    name = {"month": "monthly", "day": "daily"}[period]
    assert f"{name} budget of person alice" in refused.value.over_limit.message

    clock(LAST + timedelta(seconds=2))
    second = begin(accounts)
    settle(first, AMOUNT, Amount(Decimal("0.2"), 10))

    new, old = budget.periods.all()
    assert (first, second) == ((old.pk,), (new.pk,))
    assert (old.cost_spent, old.cost_reserved) == (Decimal("0.2"), 0)
    assert (new.cost_spent, new.cost_reserved) == (0, Decimal("0.6"))
    [standing] = budget_standing.standings(Budget.objects.applying_to(person_id=alice.pk))
    assert standing.cost.left == Decimal("0.4")
    assert standing.ends > LAST + timedelta(seconds=2)


def test_a_budget_that_was_removed_is_looked_up_no_more_after_some_seconds(alice, arena, allow, admin, begin):
    accounts = Accounts(arena().pk, seconds=0)
    budget = allow(alice, "0.1")
    with pytest.raises(OverBudget):
        begin(accounts)

    Budget.objects.filter(pk=budget.pk).update(active=False)

    assert begin(accounts) == ()


def test_without_a_budget_one_look_serves_all_calls_of_some_seconds(arena, django_assert_num_queries):
    accounts = Accounts(arena().pk)

    with django_assert_num_queries(1):
        assert [accounts.now() for _ in range(50)] == [()] * 50
