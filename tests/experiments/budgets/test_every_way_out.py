"""However a call ends, what was set aside for it is settled, and the accounts equal the sums over the calls."""

import io
import threading
from contextlib import nullcontext
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from experiments.engine import driver, leases
from experiments.engine.run_execution import RunExecution
from experiments.models import BudgetPeriod, Call, Run
from experiments.runs import actions, admission
from tests.experiments.budgets.conftest import account, assert_right
from tests.experiments.engine import crashes
from tests.fixtures import wait_until
from tests.making import maker
from tests.parts import stepped_engine

SHORT = {"max_turns": 1, "judge": False, "filter": False}


@maker
def talk(arena, priced, allow, start, /, *speakers, **config):
    experiment = arena(*speakers, **{**SHORT, **config})
    priced()
    return start(experiment), allow(experiment, 1)


def test_a_call_stopped_in_mid_speech_or_failed_by_the_engine_counts_what_was_set_aside(
    talk, alice, drive, monkeypatch
):
    run, budget = talk("sim/cooperative:first=0:tps=20:words=2000")
    with stepped_engine.driving(threading.Event()):
        call = wait_until(lambda: run.calls.filter(state=Call.State.SENT).exclude(text="").first(), "a partial text")
        assert account(budget).cost_reserved == call.reserved > 0
        actions.stop(run, by=alice)
        wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "the run to stop")

    assert account(budget).cost_spent == call.reserved
    assert_right(budget)

    run, budget = talk("sim/cooperative:first=0:tps=5:words=500")
    monkeypatch.setattr(RunExecution, "notice", lambda *_: 1 / 0)
    drive()
    assert Run.objects.get(pk=run.pk).stop_reason == "internal_error"
    assert run.calls.get().state == Call.State.LOST
    assert_right(budget)


@pytest.mark.parametrize("is_stopped", [False, True], ids=["the next one", "a stop"])
def test_a_call_whose_worker_died_is_settled_by_the_next_one_or_a_stop(talk, drive, monkeypatch, alice, is_stopped):
    run, budget = talk()
    with monkeypatch.context() as patch:
        patch.setattr(RunExecution, "settle", lambda *_: (_ for _ in ()).throw(crashes.PowerCut))
        patch.setattr(leases, "release", lambda run_id, fence: None)
        with pytest.raises(crashes.PowerCut):
            drive()
    lost, before = run.calls.get(state=Call.State.SENT), account(budget)
    assert (before.cost_reserved > 0, before.cost_spent) == (True, 0)

    if is_stopped:
        Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED, lease_until=None)
        assert admission.stop(Run.objects.get(pk=run.pk), by=alice)
    else:
        crashes.expire_leases()
        drive()

    assert run.calls.get(pk=lost.pk).state == Call.State.LOST
    assert account(budget).cost_spent == lost.reserved + sum(c.cost for c in run.calls.exclude(pk=lost.pk))
    assert_right(budget)


@pytest.mark.django_db(transaction=True)
@pytest.mark.databases
@pytest.mark.parametrize(
    "moments",
    [crashes.one_of_each, pytest.param(crashes.all_of_them, marks=pytest.mark.exhaustive)],
    ids=["one of each kind", "all"],
)
def test_a_power_cut_or_an_unconfirmed_commit_at_a_write_leaves_the_accounts_right(
    arena, start, drive, priced, allow, monkeypatch, moments
):
    monkeypatch.setattr(driver, "DATABASE_PAUSE", 0)
    experiment = arena("sim/cooperative:first=0:words=20", "sim/deceptive:first=0:words=20", **SHORT)
    priced()
    budget = allow(experiment, 1)
    start(experiment)
    for moment, fault in moments(crashes.writes_of(monkeypatch, drive)):
        run = start(experiment)
        with monkeypatch.context() as patch:
            crashes.break_at(patch, moment, fault)
            with nullcontext() if fault == crashes.FAULTS[2] else pytest.raises(crashes.PowerCut):
                drive()
        crashes.expire_leases()
        drive()

        assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED, f"cut at write {moment}"
        assert_right(budget)


def said(*options):
    out = io.StringIO()
    call_command("check_budgets", *options, stdout=out)
    return out.getvalue()


@pytest.mark.databases
def test_wrong_counters_and_calls_left_under_way_by_runs_that_are_over_are_put_right(arena, allow, priced):
    experiment = arena(**SHORT)
    priced()
    period = allow(experiment, 1).periods.get()
    assert said() == "All accounts are right.\n"
    BudgetPeriod.objects.update(cost_spent=Decimal("0.25"), tokens_reserved=7)
    with pytest.raises(CommandError, match="2 counters are wrong"):
        said()
    assert "2 counters were put right" in said("--repair")
    assert said() == "All accounts are right.\n"
    period.refresh_from_db()
    assert (period.cost_spent, period.tokens_reserved) == (0, 0)

    run = Run.objects.create(experiment=experiment, seed=1, state=Run.State.COMPLETED)
    step = run.steps.create(key="turn/1/A", kind="ask", purpose="reply")
    fields = {"reserved": Decimal("0.5"), "reserved_tokens": 3, "request": {}, "attempt": 1}
    call = Call.objects.create(run=run, step=step, model=experiment.participants.first().model, **fields)
    period.reservations.create(call=call)
    BudgetPeriod.objects.update(cost_reserved=Decimal("0.5"), tokens_reserved=3)
    assert "1 calls of runs that are over were settled" in said("--repair")
    period.refresh_from_db()
    assert (period.cost_reserved, period.cost_spent, period.tokens_spent) == (0, Decimal("0.5"), 3)
    assert Call.objects.get().state == Call.State.LOST
    assert said() == "All accounts are right.\n"
