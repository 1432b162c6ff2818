"""Whatever happens in whatever order: counters equal the sums over the calls, and no limit is passed."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.engine import recording
from experiments.engine.executor import CallResult
from experiments.engine.recording import OpenCall
from experiments.engine.requests import PreparedCall
from experiments.engine.reservations import OverBudget, accounts_of, applying
from experiments.gateway.errors import Interrupted, RateLimited
from experiments.gateway.types import ChatMessage, ChatRequest, Completion, Usage
from experiments.lab.budgets import budgeting
from experiments.lab.budgets import checks as budget_checks
from experiments.models import Budget, BudgetPeriod, Call, Run, Step
from experiments.models.ids import new_id
from experiments.workflows.base.steps import Ask

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

MONEY = st.decimals("0", "0.5", places=10)
TOKENS = st.integers(0, 500)
ENDS = st.sampled_from(["answered", "unknown", "turned away", "broken", "stopped", "unsent"])
EVENTS = st.one_of(
    st.tuples(st.just("begin"), st.none() | MONEY, TOKENS),
    st.tuples(st.just("end"), ENDS, MONEY, TOKENS),
    st.tuples(st.just("crash")),
    st.tuples(st.just("later"), st.integers(1, 40)),
    st.tuples(st.just("limit"), st.sampled_from(["person", "experiment", "month"]), MONEY, st.none() | TOKENS),
    st.tuples(st.just("remove"), st.integers(0, 2)),
)


class Books:
    """A run whose calls begin and end as they are told to."""

    def __init__(self, run, admin):
        self.run, self.admin, self.now = run, admin, datetime(2026, 1, 30, 23, 0, tzinfo=UTC)
        self.model = run.experiment.participants.first().model
        self.open: list[tuple[OpenCall, Decimal | None]] = []

    @property
    def lease(self):
        return recording.Lease(self.run.pk, Run.objects.get(pk=self.run.pk).fence, lambda event: None)

    def begin(self, cost, tokens):
        accounts = accounts_of(applying(self.run.experiment_id), self.now)
        request = ChatRequest(model="m", messages=(ChatMessage("user", "Hello."),))
        order = PreparedCall(self.model, None, request, cost, tokens)
        ask = Ask(f"step/{new_id()}", "A", (), purpose="judge")
        try:
            with transaction.atomic():
                self.open.append((recording.open_call(self.lease, ask, order, new_id(), accounts), cost))
        except OverBudget:
            assert not Step.objects.filter(run=self.run, key=ask.key).exists()
        else:
            for one in accounts:
                period = BudgetPeriod.objects.get(pk=one.period_id)
                assert cost is None or (period.cost_left(one.budget.cost_limit) or 0) >= 0
                assert (period.tokens_left(one.budget.token_limit) or 0) >= 0

    def end(self, how, cost, tokens):
        if not self.open:
            return
        call, reserved = self.open.pop(0)
        cost = cost if reserved is None else min(cost, reserved)
        usage = Usage(0, min(tokens, call.order.reserved_tokens), provider_cost=cost) if how == "answered" else None
        completion = Completion() if how in ("turned away", "unsent") else Completion(text="Yes.", usage=usage)
        error = {"turned away": RateLimited("later"), "broken": Interrupted("gone")}.get(how)
        flags = {"is_stopped": how in ("stopped", "unsent"), "was_sent": how != "unsent"}
        recording.close_call(self.lease, call, CallResult(call.id, self.run.pk, completion, error, 0.1, None, **flags))

    def crash(self):
        with transaction.atomic():
            recording.lose_calls(self.run)
        self.open.clear()

    def later(self, hours):
        self.now += timedelta(hours=hours)

    def limit(self, kind, cost, tokens):
        subject = self.run.experiment if kind == "experiment" else self.run.experiment.owner
        how = {"period": "month", "allows_unknown_prices": True} if kind == "month" else {"period": "total"}
        budgeting.set_budget(subject, by=self.admin, cost=cost * 4, tokens=tokens, **how)

    def remove(self, place):
        for budget in list(Budget.objects.active())[place : place + 1]:
            budgeting.remove_budget(budget, by=self.admin)

    def check(self):
        assert budget_checks.check() == []
        counted = {call.id for call, _cost in self.open}
        assert set(Call.objects.filter(state=Call.State.SENT).values_list("pk", flat=True)) == counted


@given(events=st.lists(EVENTS, max_size=25))
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
def test_counters_equal_the_sums_after_any_sequence_of_events(arena, admin, events):
    with transaction.atomic():
        run = Run.objects.create(experiment=arena(), seed=1)
        books = Books(run, admin)
        for name, *details in events:
            getattr(books, name)(*details)
            books.check()
        while books.open:
            books.end("unknown", Decimal(0), 0)
        books.check()
        assert not BudgetPeriod.objects.exclude(cost_reserved=0, tokens_reserved=0).exists()
        transaction.set_rollback(True)
