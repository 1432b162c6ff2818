"""Several hands on one campaign: who feeds and drives it, who waits beside it; killed, every battle is fought once."""

import threading
import time
from collections import Counter

import pytest
from django.db import connections

from experiments.engine import reservations
from experiments.engine.driver import Driver
from experiments.engine.events import LeaseLost
from experiments.models import Board, Call, Campaign, ModelPrice, ProviderModel, Run, Step
from experiments.workflows.battles import rows
from experiments.workflows.battles.campaign import campaigns, counting
from experiments.workflows.battles.campaign.progress import progress
from experiments.workflows.shards import only_shards
from tests.experiments.campaigns.conftest import asked, of, runs_of, state_of
from tests.fixtures import Worker, wait_until

pytestmark = pytest.mark.databases
small_runs = pytest.mark.usefixtures("small_runs")


@small_runs
def test_of_two_that_feed_a_campaign_at_once_one_does_it(field, battles, woken_runs, monkeypatch):
    experiment = battles(field(contestants=4, samples=3))
    Campaign.objects.create(experiment=experiment)
    found = campaigns._found
    rivals = 3

    def slowly(campaign):
        """Whoever has found what is to be done, and comes too late to do it."""
        nonlocal rivals
        move = found(campaign)
        if rivals:
            rivals -= 1
            campaigns.feed(experiment.pk)
        return move

    monkeypatch.setattr(campaigns, "_found", slowly)
    campaigns.feed(experiment.pk)

    tasks = [tuple(sorted(task.items())) for run in runs_of(experiment) for task in run.overrides["tasks"]]
    assert runs_of(experiment).count() == 3
    assert len(tasks) == len(set(tasks)) == 9
    assert set(Campaign.objects.get().cursor["live"]) == {str(run.pk) for run in runs_of(experiment)}


@small_runs
def test_a_driver_that_dies_after_the_answer_pays_only_once(
    field, battles, campaign, play, monkeypatch, settings, provider
):
    settings.LEASE_SECONDS = 1
    experiment = campaign(battles(field(contestants=3, samples=3)))
    written = rows._written
    deaths = Counter()

    def dying(same, found):
        deaths[found["run_id"]] += 1
        if deaths[found["run_id"]] == 2:  # the first battle of each run is written, the second one is not
            raise LeaseLost(found["run_id"])
        return written(same, found)

    monkeypatch.setattr(rows, "_written", dying)
    play(experiment)

    assert state_of(experiment) == Campaign.State.COMPLETED
    assert of(experiment).exclude(winner="").count() == of(experiment).count() == 9
    assert runs_of(experiment).filter(fence__gt=1).count() == runs_of(experiment).count()
    repeated = Call.objects.filter(run__experiment=experiment, attempt__gt=1)
    assert all(call.step.calls.get(attempt=call.attempt - 1).state == Call.State.LOST for call in repeated)
    assert len(asked(experiment)) == len(set(asked(experiment))) == 18
    completed = Call.objects.filter(run__experiment=experiment, state=Call.State.COMPLETED)
    assert Counter(completed.values_list("step__key", flat=True)) == Counter(asked(experiment))
    seen = [row["request_id"] for row in provider.ledger()]
    assert len(seen) == len(set(seen)) == Call.objects.filter(run__experiment=experiment).count()
    [board] = Board.objects.all()
    assert counting.recount(board) == board.changes == progress(experiment).decided == 9


@small_runs
def test_a_run_of_its_own_is_taken_before_the_shards_that_wait(field, battles, campaign, arena, start, settings):
    campaign(battles(field(contestants=4, samples=3)))
    waiting = start(arena())
    driver = Driver(threading.Event())

    first, *shards = driver._waiting()
    assert first == waiting.pk
    assert 0 < len(shards) < 3, "the other workers take their part"
    settings.RUNS_PER_WORKER = 1
    assert driver._waiting() == [waiting.pk]
    Run.objects.filter(pk=waiting.pk).update(state=Run.State.STOPPED)
    assert set(driver._waiting()) <= set(only_shards(Run.objects.claimable()).values_list("pk", flat=True))
    assert len(driver._waiting()) == 1


@small_runs
@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_two_workers_together_begin_no_more_calls_than_the_limit_allows(field, battles, campaign, play, monkeypatch):
    for model in ProviderModel.objects.all():
        ModelPrice.objects.create(model=model, since="2026-01-01T00:00Z", input="0.000002", output="0.00001")
    play(campaign(battles(field(contestants=2, samples=1), limits={"cost": 100})))
    one = Call.objects.first().reserved
    slow = {"judge": "sim/judge:tps=0:first=12", "side_by_side": 4, "limits": {"cost": float(one) * 3.5}}
    experiment = campaign(battles(field(contestants=3, samples=8, slug="slow"), **slow))
    ModelPrice.objects.create(
        model=experiment.participants.get().model, since="2026-01-01T00:00Z", input="0.000002", output="0.00001"
    )
    read = reservations.spent_by_campaign_of

    def slowly(experiment_id):
        found = read(experiment_id)
        time.sleep(0.2)  # so that both have read before either has written
        return found

    monkeypatch.setattr(reservations, "spent_by_campaign_of", slowly)
    drivers = [
        threading.Thread(target=lambda: (Driver(threading.Event()).drive(1), connections.close_all())) for _ in range(2)
    ]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()

    assert 0 < Call.objects.filter(run__experiment=experiment).count() <= 3
    assert state_of(experiment) == Campaign.State.STOPPED


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
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
