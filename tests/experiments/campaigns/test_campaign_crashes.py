"""Kill all workers in the middle of a campaign: every battle is fought once, nothing recorded is repeated."""

from collections import Counter

import pytest

from experiments.models import Board, Call, Campaign, Run, Step
from experiments.workflows.battles.campaign import campaigns, counting
from experiments.workflows.battles.campaign.progress import progress
from tests.experiments.campaigns.conftest import of, runs_of, state_of
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases, pytest.mark.system]

BATTLES = 60
PAIRS = 10
WORKERS = 2
LEASE_SECONDS = 4


def test_workers_that_are_killed_and_replaced_fight_every_battle_once(field, battles, alice, provider):
    experiment = battles(field(contestants=5, samples=BATTLES // PAIRS), judge="sim/judge:tps=0:first=0.05")
    campaigns.start(experiment, by=alice)

    workers = [Worker(LEASE_SECONDS) for _ in range(WORKERS)]
    wait_until(lambda: of(experiment).count() >= BATTLES / 3, "a part of the battles")
    for worker in workers:
        worker.kill()
    assert state_of(experiment) == Campaign.State.RUNNING
    workers = [Worker(LEASE_SECONDS) for _ in range(WORKERS)]
    wait_until(lambda: state_of(experiment) != Campaign.State.RUNNING, "the campaign's end")
    for worker in workers:
        worker.kill()

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert_every_battle_is_there_once(experiment)
    assert_no_recorded_call_was_repeated(experiment, provider)
    assert_runs_were_shared(experiment)


def assert_every_battle_is_there_once(experiment):
    assert of(experiment).count() == of(experiment).exclude(winner="").count() == BATTLES
    judged = Step.objects.filter(run__experiment=experiment, purpose="battle_judged")
    assert Counter(judged.values_list("key", flat=True)).most_common(1)[0][1] == 1
    assert judged.count() == BATTLES
    [board] = Board.objects.all()
    changes = board.changes
    assert counting.recount(board) == BATTLES
    board.refresh_from_db()
    assert board.changes == changes, "the counts were right"
    assert progress(experiment).decided == BATTLES


def assert_no_recorded_call_was_repeated(experiment, provider):
    """What the provider has seen is what we know of, and a step was asked again only while it was not recorded."""
    calls = {str(call.pk): call for call in Call.objects.filter(run__experiment=experiment).select_related("step")}
    seen = [row["request_id"] for row in provider.ledger()]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(calls)
    assert {pk for pk, call in calls.items() if call.state == Call.State.COMPLETED} <= set(seen)
    states: dict[int, list[str]] = {}
    for call in sorted(calls.values(), key=lambda call: call.attempt):
        states.setdefault(call.step_id, []).append(call.state)
    for of_step in states.values():
        assert of_step[-1] == Call.State.COMPLETED
        assert set(of_step[:-1]) <= {Call.State.LOST}
    keys = Counter(call.step.key for call in calls.values() if call.state == Call.State.COMPLETED)
    assert len(keys) == 2 * BATTLES
    assert set(keys.values()) == {1}


def assert_runs_were_shared(experiment):
    assert all(run.state == Run.State.COMPLETED for run in runs_of(experiment))
    assert runs_of(experiment).count() > 1
    assert runs_of(experiment).filter(fence__gt=1).exists(), "another worker took over a run of a killed one"
