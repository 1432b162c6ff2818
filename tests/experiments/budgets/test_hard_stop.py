"""A budget without room for the next call stops the run; raised, or in its next month or day, it has room again."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial

import pytest

from accounts.errors import Forbidden
from accounts.models import AuditEntry
from experiments.engine import reservations
from experiments.engine.reservations import Accounts, Amount, OverBudget, reserve, settle
from experiments.lab.budgets import standing as budget_standing
from experiments.models import Budget, Call, Experiment, Run, Step
from experiments.models.budget import BEGINNING
from experiments.models.ids import new_id
from experiments.runs import actions
from tests.cases import each_case
from tests.experiments.budgets.conftest import account, assert_right, spent
from tests.experiments.debating import asked
from tests.fixtures import signed_in
from tests.making import maker

TALK = {"max_turns": 6, "judge": False, "filter": False}
ROOM = "0.04"  # for some turns: a call may cost some 0.033, and costs a tenth of that


@maker
def talk(arena, priced, project, /, **config):
    experiment = arena(**{**TALK, **config})
    Experiment.objects.filter(pk=experiment.pk).update(project=project)
    experiment.refresh_from_db()
    priced()
    return experiment


@maker
def play(start, drive, /, experiment):
    run = start(experiment)
    drive()
    run.refresh_from_db()
    return run


@pytest.mark.databases
@each_case("kind", ["person", "project", "experiment"])
def test_the_run_stops_keeps_what_was_said_and_says_which_budget_it_was(talk, play, allow, kind, alice):
    experiment = talk()
    budget = allow({"person": experiment.owner, "project": experiment.project, "experiment": experiment}[kind], ROOM)

    run = play(experiment)

    assert (run.state, run.stop_reason) == (Run.State.STOPPED, f"budget_{kind}")
    assert run.messages.count() == run.calls.filter(state=Call.State.COMPLETED).count() > 0
    ending = run.events.get(type="experiment_stopped").data
    assert ending["budget"]["id"] == str(budget.pk)
    assert Decimal(ending["budget"]["cost_left"]) == Decimal(ROOM) - spent(budget)
    whom = "lena, ada, an administrator" if kind == "experiment" else "an administrator (ada)"
    assert f"Ask {whom} to raise it" in ending["message"]
    assert ending["refused"]["key"] not in asked(run)
    assert_right(budget)
    entry = AuditEntry.objects.get(action="budget_reached")
    assert (entry.target, entry.detail["run"]) == (f"budget:{budget.pk}", str(run.pk))
    page = signed_in(alice).get(run.get_absolute_url()).content.decode()
    assert ("is left of the budget of" in page, "resume-button" in page) == (True, True)


@pytest.mark.databases
def test_it_is_resumed_while_anything_is_left_and_pays_for_nothing_twice(talk, start, drive, allow, alice):
    run = start(experiment := talk())
    budget = allow(experiment, ROOM)
    drive()
    before = asked(run)

    assert actions.resume(Run.objects.get(pk=run.pk), by=alice) is True, "something is left, only not enough"
    drive()
    run.refresh_from_db()
    assert (run.stop_reason, asked(run)) == ("budget_experiment", before)

    allow(experiment, spent(budget))
    for verb in (lambda: actions.resume(run, by=alice), lambda: actions.start(experiment, by=alice)):
        with pytest.raises(Forbidden, match="Nothing is left of the budget of experiment"):
            verb()
    assert Run.objects.get(pk=run.pk).state == Run.State.STOPPED

    allow(experiment, "1")
    assert actions.resume(run, by=alice) is True
    drive()
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (Run.State.COMPLETED, "max_turns")
    assert asked(run)[: len(before)] == before
    assert len(set(asked(run))) == len(asked(run)) == 12
    budget.refresh_from_db()
    assert_right(budget)


def test_the_tightest_of_several_budgets_decides_and_all_are_counted_also_one_that_comes_later(talk, play, allow):
    experiment = talk()
    wide = [allow(experiment.owner, 5), allow(experiment, 5, period="month")]
    tight = allow(experiment.project, ROOM)

    run = play(experiment)

    assert run.stop_reason == "budget_project"
    assert {spent(budget) for budget in (*wide, tight)} == {spent(tight)}
    assert_right(*wide, tight)
    cost = Run.objects.with_totals().get(pk=run.pk).total_cost
    assert account(allow(experiment, 5)).cost_earlier == cost > 0


def test_an_unknown_price_stops_a_run_unless_it_is_allowed_or_only_tokens_are_limited(
    arena, start, drive, play, allow, provider, alice
):
    experiment = arena(max_turns=1, judge=False, filter=False)
    under_way = start(experiment)
    allow(experiment, 1)
    drive()
    under_way.refresh_from_db()
    assert under_way.stop_reason == "budget_experiment"
    assert "price of the next model is unknown" in under_way.error
    assert provider.ledger() == []

    with pytest.raises(Forbidden, match=r"is unknown, and the budget of experiment .* allows known prices only"):
        actions.start(experiment, by=alice)

    budget = allow(experiment, 1, allows_unknown_prices=True)
    run = play(experiment)
    assert run.state == Run.State.COMPLETED
    assert spent(budget) == 0
    assert_right(budget)

    budget = allow(experiment := arena(**TALK), tokens=10_000)
    run = play(experiment)
    assert run.stop_reason == "budget_experiment"
    assert "tokens are left of the budget" in run.error
    assert 0 < account(budget).tokens_spent <= 10_000
    assert_right(budget)


def test_an_answer_dearer_than_what_was_set_aside_is_paid_and_nothing_more_begins(arena, play, allow, scripted, priced):
    speaker = scripted.model("scripted/endless", ["on and "] * 1000)
    experiment = arena(speaker, speaker, max_turns=3, judge=False, filter=False)
    experiment.participants.update(params={"max_tokens": 10})
    priced()
    budget = allow(experiment, "0.003")

    run = play(experiment)

    assert (run.stop_reason, run.calls.count()) == ("budget_experiment", 1), "the provider ignored max_tokens once"
    found, call = account(budget), run.calls.get()
    assert found.cost_spent == call.cost > budget.cost_limit
    assert -found.cost_left(budget.cost_limit) <= call.cost - call.reserved


LAST = datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC)
utc = partial(datetime, tzinfo=UTC)
AMOUNT = Amount(Decimal("0.6"), 100)


def test_a_period_begins_and_ends_by_the_calendar_of_utc():
    for period, moment, begins, ends in (
        ("day", LAST, utc(2026, 2, 28), utc(2026, 3, 1)),
        ("month", LAST, utc(2026, 2, 1), utc(2026, 3, 1)),
        ("month", utc(2026, 12, 31, 23), utc(2026, 12, 1), utc(2027, 1, 1)),
        ("month", utc(2024, 2, 29, 12), utc(2024, 2, 1), utc(2024, 3, 1)),
        ("total", LAST, BEGINNING, None),
        ("day", datetime(2026, 3, 1, 1, tzinfo=timezone(timedelta(hours=8))), utc(2026, 2, 28), utc(2026, 3, 1)),
    ):
        budget = Budget(period=period)
        assert (budget.begins(moment), budget.ends(moment)) == (begins, ends), (period, moment)


@pytest.mark.databases
@pytest.mark.parametrize(("period", "name"), [("month", "monthly"), ("day", "daily")])
def test_at_the_border_is_room_and_calls_are_settled_where_they_began(alice, arena, allow, monkeypatch, period, name):
    now, run, accounts = [LAST], Run.objects.create(experiment=arena(), seed=1), Accounts()
    for module in (reservations, budget_standing):
        monkeypatch.setattr(module.clock, "now", lambda: now[0])
    budget, model = allow(alice, 1, period=period), run.experiment.participants.first().model
    fields = {"reserved": AMOUNT.cost, "reserved_tokens": AMOUNT.tokens, "request": {}, "attempt": 1}

    def begin():
        step = Step.objects.create(run=run, key=str(new_id()), kind="ask", purpose="reply")
        call = Call.objects.create(run=run, step=step, model=model, **fields)
        return reserve(call.pk, accounts.of(run.experiment_id), AMOUNT)

    first = begin()
    with pytest.raises(OverBudget) as refused:
        begin()
    assert f"{name} budget of person alice" in refused.value.over_limit.message

    now[0] = LAST + timedelta(seconds=2)
    second = begin()
    settle(first, AMOUNT, Amount(Decimal("0.2"), 10))

    new, old = budget.periods.all()
    assert (first, second) == ((old.pk,), (new.pk,))
    assert (old.cost_spent, old.cost_reserved) == (Decimal("0.2"), 0)
    assert (new.cost_spent, new.cost_reserved) == (0, Decimal("0.6"))
    [standing] = budget_standing.standings(Budget.objects.applying_to(person_id=alice.pk))
    assert (standing.cost.left, standing.ends > now[0]) == (Decimal("0.4"), True)


def test_one_look_serves_all_experiments_of_some_seconds_and_each_is_held_to_its_own_budgets(
    arena, allow, django_assert_num_queries
):
    accounts, own, other = Accounts(), arena().pk, arena().pk
    with django_assert_num_queries(1):
        assert [accounts.of(experiment) for experiment in [own, other] * 25] == [()] * 50

    accounts, budget = Accounts(), allow(Experiment.objects.get(pk=own), 1)
    for experiment, expected in ((own, [budget]), (other, []), (own, [budget])):
        assert [account.budget for account in accounts.of(experiment)] == expected
    accounts = Accounts(seconds=0)
    assert accounts.of(own) != ()
    Budget.objects.filter(pk=budget.pk).update(active=False)
    assert accounts.of(own) == (), "what was removed is looked up no more after some seconds"
