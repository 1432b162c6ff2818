"""`manage.py check_budgets` finds counters that are wrong, and puts them right."""

import io
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from experiments.models import BudgetPeriod, Call, Run

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


def said(*options):
    out = io.StringIO()
    call_command("check_budgets", *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def counted(arena, allow, priced):
    """A budget, and what a run of its experiment has spent of it."""
    experiment = arena(max_turns=1, judge=False, filter=False)
    priced()
    budget = allow(experiment, 1)
    return budget, experiment


def test_wrong_counters_are_named_and_put_right(counted):
    budget, _experiment = counted
    assert said() == "All accounts are right.\n"
    BudgetPeriod.objects.update(cost_spent=Decimal("0.25"), tokens_reserved=7)

    with pytest.raises(CommandError, match="2 counters are wrong"):
        said()
    assert "2 counters were put right" in said("--repair")
    assert said() == "All accounts are right.\n"
    assert budget.periods.get().cost_spent == 0


def test_a_call_left_under_way_by_a_run_that_is_over_is_settled(counted):
    budget, experiment = counted
    run = Run.objects.create(experiment=experiment, seed=1, state=Run.State.COMPLETED)
    step = run.steps.create(key="turn/1/A", kind="ask", purpose="reply")
    model = experiment.participants.first().model
    fields = {"reserved": Decimal("0.5"), "reserved_tokens": 3, "request": {}, "attempt": 1}
    call = Call.objects.create(run=run, step=step, model=model, **fields)
    period = budget.periods.get()
    period.reservations.create(call=call)
    BudgetPeriod.objects.update(cost_reserved=Decimal("0.5"), tokens_reserved=3)

    assert "1 calls of runs that are over were settled" in said("--repair")

    period.refresh_from_db()
    assert (period.cost_reserved, period.cost_spent, period.tokens_spent) == (0, Decimal("0.5"), 3)
    assert Call.objects.get().state == Call.State.LOST
    assert said() == "All accounts are right.\n"
