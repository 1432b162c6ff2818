"""A budget that has no room for the next call stops the run, which goes on from there once there is room again."""

from decimal import Decimal

import pytest

from accounts.errors import Forbidden
from accounts.models import AuditEntry
from experiments.models import Call, Experiment, Run
from experiments.runs import actions
from tests.experiments.budgets.conftest import account, assert_right, paid, spent
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
    """The run of an experiment, as it is when it has ended."""
    run = start(experiment)
    drive()
    run.refresh_from_db()
    return run


def subject_of(kind, experiment):
    return {"person": experiment.owner, "project": experiment.project, "experiment": experiment}[kind]


@pytest.mark.databases
@pytest.mark.parametrize("kind", ["person", "project", "experiment"])
def test_the_run_stops_keeps_what_was_said_and_says_which_budget_it_was(talk, play, allow, kind, alice):
    experiment = talk()
    budget = allow(subject_of(kind, experiment), ROOM)

    run = play(experiment)

    assert (run.state, run.stop_reason) == (Run.State.STOPPED, f"budget_{kind}")
    assert run.messages.count() == run.calls.filter(state=Call.State.COMPLETED).count() > 0
    ending = run.events.get(type="experiment_stopped").data
    assert ending["budget"]["id"] == str(budget.pk)
    assert Decimal(ending["budget"]["cost_left"]) == Decimal(ROOM) - spent(budget)
    whom = "lena, ada, an administrator" if kind == "experiment" else "an administrator (ada)"
    assert f"Ask {whom} to raise it" in ending["message"]
    assert ending["refused"]["key"] not in paid(run)
    assert_right(budget)
    entry = AuditEntry.objects.get(action="budget_reached")
    assert (entry.target, entry.detail["run"]) == (f"budget:{budget.pk}", str(run.pk))
    page = signed_in(alice).get(run.get_absolute_url()).content.decode()
    assert "is left of the budget of" in page
    assert "resume-button" in page


@pytest.mark.databases
def test_it_is_resumed_while_anything_is_left_and_pays_for_nothing_twice(talk, start, drive, allow, alice):
    run = start(experiment := talk())
    budget = allow(experiment, ROOM)
    drive()
    before = paid(run)

    assert actions.resume(Run.objects.get(pk=run.pk), by=alice) is True, "something is left, only not enough"
    drive()
    run.refresh_from_db()
    assert (run.stop_reason, paid(run)) == ("budget_experiment", before)

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
    assert paid(run)[: len(before)] == before
    assert len(set(paid(run))) == len(paid(run)) == 12
    budget.refresh_from_db()
    assert_right(budget)


def test_the_tightest_of_several_budgets_decides_and_all_are_counted(talk, play, allow):
    experiment = talk()
    wide = [allow(experiment.owner, 5), allow(experiment, 5, period="month")]
    tight = allow(experiment.project, ROOM)

    run = play(experiment)

    assert run.stop_reason == "budget_project"
    assert {spent(budget) for budget in (*wide, tight)} == {spent(tight)}
    assert_right(*wide, tight)


def test_a_limit_of_tokens_holds_as_well_and_needs_no_price(arena, play, allow):
    budget = allow(experiment := arena(**TALK), tokens=10_000)

    run = play(experiment)

    assert run.stop_reason == "budget_experiment"
    assert "tokens are left of the budget" in run.error
    assert 0 < account(budget).tokens_spent <= 10_000
    assert_right(budget)


def test_an_unknown_price_stops_a_run_unless_it_is_allowed(arena, start, drive, play, allow, provider, alice):
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


def test_what_was_spent_before_there_was_a_budget_counts(talk, play, allow):
    run = play(talk(max_turns=1))
    cost = Run.objects.with_totals().get(pk=run.pk).total_cost

    budget = allow(run.experiment, 1)

    assert account(budget).cost_earlier == cost > 0


def test_an_answer_dearer_than_what_was_set_aside_is_paid_and_nothing_more_begins(arena, play, allow, scripted, priced):
    speaker = scripted.model("scripted/endless", ["on and "] * 1000)
    experiment = arena(speaker, speaker, max_turns=3, judge=False, filter=False)
    experiment.participants.update(params={"max_tokens": 10})
    priced()
    budget = allow(experiment, "0.003")

    run = play(experiment)

    assert run.stop_reason == "budget_experiment"
    assert run.calls.count() == 1, "the provider ignored max_tokens once"
    found = account(budget)
    call = run.calls.get()
    assert found.cost_spent == call.cost > budget.cost_limit
    assert -found.cost_left(budget.cost_limit) <= call.cost - call.reserved
