"""What tests of batches share: a provider that has them, prices, and the background work, done when a test says so."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.engine import batch_sending
from experiments.gateway.simulated.batches import Batches
from experiments.models import Batch, Experiment, ModelPrice, Provider, ProviderModel, Run
from tests.making import maker
from tests.parts import virtual_time

INPUT, OUTPUT = "0.000002", "0.000006"  # dollars per token


@pytest.fixture
def batches(provider, monkeypatch):
    """The simulated provider's, which are done after a minute."""
    made = Batches(seconds=60)
    monkeypatch.setattr(provider.app, "batches", made)
    Provider.objects.update(batch_api="openai")
    return made


def send():
    """What the background does, as far as it is time."""
    batch_sending.advance(threading.Event())


def later(seconds=61):
    virtual_time.skip(seconds)
    send()


@maker
def batched(batches, start, drive, /, experiment, **started):
    """Starts runs of an experiment that uses batches, and drives them until they wait."""
    Experiment.objects.filter(pk=experiment.pk).update(uses_batches=True)
    experiment.refresh_from_db()
    add_prices()
    run = start(experiment, **started)
    until_all_wait(drive)
    return run


@maker
def to_the_end(drive, /, *runs):
    """Drives runs, and the background, until they are over."""
    for _ in range(40):
        until_all_wait(drive)
        if not Run.objects.live().filter(pk__in=[run.pk for run in runs]).exists():
            return [Run.objects.select_related("experiment").get(pk=run.pk) for run in runs]
        later()
    raise AssertionError(f"{[run.state for run in Run.objects.all()]}, {list(Batch.objects.values())}")


def until_all_wait(drive):
    """A busy machine may end a driver before it has claimed every run."""
    while Run.objects.claimable().exists():
        drive()


def add_prices():
    since = timezone.now() - timedelta(days=1)
    for model in ProviderModel.objects.filter(prices__isnull=True):
        ModelPrice.objects.create(model=model, since=since, input=INPUT, output=OUTPUT)
