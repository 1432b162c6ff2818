"""Datasets with contestants whose outputs are there, and battles between them."""

from collections.abc import Callable
from typing import Any

import pytest

from experiments.models import (
    Battle,
    Campaign,
    Contestant,
    Dataset,
    Experiment,
    Output,
    ProviderModel,
    Run,
    Sample,
    Step,
)
from experiments.runs import actions
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.campaign.planning import BattleGround, Place, draw
from experiments.workflows.battles.campaign.scope import scope_of
from tests.fixtures import add_model
from tests.making import maker

JUDGE = "sim/judge:tps=0:first=0"
DEAD = "sim/judge:fail=401"
RISEN = "sim/judge:first=0:tps=0"  # the same judge under another name: one provider has each name once
NAMES = ("ash", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel")


@maker
def field(alice: Any, /, contestants: int = 3, samples: int = 6, slug: str = "trees", **fields: Any) -> Dataset:
    """Makes a dataset of Alice's: so many contestants, each with an output for so many samples."""
    dataset = Dataset.objects.create(owner=alice, name=slug, slug=slug, state=Dataset.State.READY, **fields)
    Sample.objects.bulk_create(
        Sample(dataset=dataset, index=number, instruction=f"Describe tree number {number}.", category="tree")
        for number in range(samples)
    )
    for name in NAMES[:contestants]:
        join(dataset, name)
    return dataset


def join(dataset: Dataset, name: str, **fields: Any) -> Contestant:
    contestant = Contestant.objects.create(dataset=dataset, name=name, **fields)
    Output.objects.bulk_create(
        Output(sample=sample, contestant=contestant, text=f"{name.capitalize()} says: tree {sample.index} is tall.")
        for sample in dataset.samples.all()
    )
    return contestant


def missing(experiment: Experiment, limit: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """The first `limit` battles that are not decided on every judge's board, in the sequence in which a campaign with
    this seed begins them.
    """
    ground = BattleGround(scope_of(experiment), seed)
    tasks: list[dict[str, Any]] = []
    place: Place | None = Place()
    lanes = ground.survey().lanes
    while place is not None and len(tasks) < limit:
        drawn = draw(ground, lanes, place, limit - len(tasks))
        tasks += drawn.tasks
        place = drawn.place
    return tasks


@maker
def battles(provider: Any, alice: Any, /, dataset: Dataset, **config: Any) -> Experiment:
    """Makes an experiment of Alice's in which a dataset's contestants battle. `judge`, `judge-2` … name models."""
    seats = {seat: config.pop(seat) for seat in list(config) if seat.partition("-")[0] in ("judge", "mirror")}
    cast = {seat: {"model": add_model(model).slug} for seat, model in ({"judge": JUDGE} | seats).items()}
    asked = {"dataset": dataset.slug, "prompt": "text_quality", **config}
    return actions.create(owner=alice, workflow="battles", config=asked, cast=cast)


@pytest.fixture
def small_runs(settings: Any) -> None:
    """Campaigns of a few dozen battles take several runs."""
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 3, 3


@maker
def campaign(woken_runs: Any, alice: Any, /, experiment: Experiment, **how: Any) -> Experiment:
    campaigns.start(experiment, by=alice, **how)
    return experiment


@maker
def play(drive: Callable[..., None], /, experiment: Experiment) -> None:
    """Drives a campaign's runs until it is not running any more."""
    for _ in range(50):
        drive(0.3)
        if state_of(experiment) != Campaign.State.RUNNING:
            return
    raise AssertionError("the campaign does not come to its end")


def state_of(experiment: Experiment) -> str:
    return str(type(experiment).objects.get(pk=experiment.pk).campaign.state)


def asked(experiment: Experiment) -> list[str]:
    """The keys of all that was asked, over all runs."""
    return list(Step.objects.filter(run__experiment=experiment, kind="ask").values_list("key", flat=True))


def serve(slug: str, upstream: str) -> None:
    """Whoever asks for the one model is answered by the other from now on."""
    ProviderModel.objects.filter(slug=slug).update(upstream=upstream)


def of(experiment: Experiment) -> Any:
    return Battle.objects.filter(experiment=experiment)


def runs_of(experiment: Experiment) -> Any:
    return Run.objects.filter(experiment=experiment)
