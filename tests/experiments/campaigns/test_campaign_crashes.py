"""Kill all workers in the middle of a campaign: every battle is fought once, nothing recorded is repeated."""

from collections import Counter

import pytest

from experiments.models import Board, Call, Campaign, Run, Step
from experiments.workflows.battles.campaign import campaigns, counting
from experiments.workflows.battles.campaign.progress import progress
from tests.experiments.campaigns.conftest import of, runs_of, state_of
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases, pytest.mark.system]


def test_workers_that_are_killed_and_replaced_fight_every_battle_once(field, battles, alice, provider):
    experiment, lease_seconds = battles(field(contestants=5, samples=6), judge="sim/judge:tps=0:first=0.05"), 4
    campaigns.start(experiment, by=alice)
    workers = [Worker(lease_seconds) for _ in range(2)]
    wait_until(lambda: of(experiment).count() >= 20, "a part of the battles")
    for worker in workers:
        worker.kill()
    assert state_of(experiment) == Campaign.State.RUNNING
    workers = [Worker(lease_seconds) for _ in range(2)]
    wait_until(lambda: state_of(experiment) != Campaign.State.RUNNING, "the campaign's end")
    for worker in workers:
        worker.kill()

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).count() == of(experiment).exclude(winner="").count() == 60
    judged = Step.objects.filter(run__experiment=experiment, purpose="battle_judged")
    assert Counter(judged.values_list("key", flat=True)).most_common(1)[0][1] == 1
    [board] = Board.objects.all()
    changes = board.changes
    assert counting.recount(board) == judged.count() == progress(experiment).decided == 60
    board.refresh_from_db()
    assert board.changes == changes, "the counts were right"
    assert all(run.state == Run.State.COMPLETED for run in runs_of(experiment))
    assert runs_of(experiment).count() > 1
    assert runs_of(experiment).filter(fence__gt=1).exists(), "another worker took over a run of a killed one"

    calls = {str(call.pk): call for call in Call.objects.filter(run__experiment=experiment).select_related("step")}
    seen = [row["request_id"] for row in provider.ledger()]
    assert len(seen) == len(set(seen))
    assert set(seen) <= set(calls)
    completed = {pk: call.step.key for pk, call in calls.items() if call.state == Call.State.COMPLETED}
    assert completed.keys() <= set(seen)
    assert len(completed) == len(set(completed.values())) == 2 * 60, "no recorded call was repeated"
    states = {}
    for call in sorted(calls.values(), key=lambda call: call.attempt):
        states.setdefault(call.step_id, []).append(call.state)
    for of_step in states.values():
        assert of_step[-1] == Call.State.COMPLETED
        assert set(of_step[:-1]) <= {Call.State.LOST}
