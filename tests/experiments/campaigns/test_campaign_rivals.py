"""Several hands on one campaign: who feeds it, who drives it, and who waits for a worker beside it."""

import threading
import time
from collections import Counter

import pytest
from django.db import connections

from experiments.engine import reservations
from experiments.engine.driver import Driver
from experiments.engine.events import LeaseLost
from experiments.models import Board, Call, Campaign, ModelPrice, ProviderModel, Run
from experiments.workflows.battles import rows
from experiments.workflows.battles.campaign import campaigns, counting
from experiments.workflows.battles.campaign.progress import progress
from experiments.workflows.shards import only_shards
from tests.experiments.campaigns.conftest import asked, of, runs_of, state_of

pytestmark = [pytest.mark.databases, pytest.mark.usefixtures("small_runs")]


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
    drivers = [threading.Thread(target=_drive) for _ in range(2)]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()

    assert 0 < Call.objects.filter(run__experiment=experiment).count() <= 3
    assert state_of(experiment) == Campaign.State.STOPPED


def _drive():
    Driver(threading.Event()).drive(1)
    connections.close_all()
