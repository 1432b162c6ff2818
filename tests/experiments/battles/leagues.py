"""Small leagues whose battles are really judged, by a simulated model over HTTP."""

from typing import Any

from experiments import actions
from experiments.models import Contestant, Dataset, Experiment, Output, Sample
from tests.fixtures import add_model

JUDGE = "sim/judge:tps=0:first=0"
TEXTS = {
    "rich": "Rain falls because warm air rises, cools and lets its water go; the drops join until they are heavy.",
    "solid": "Rain falls because clouds hold water that grows heavy.",
    "terse": "It rains.",
    "none": "I do not know.",
}


def league(owner: Any, names: tuple[str, ...] = ("rich", "solid", "terse"), samples: int = 3, **fields: Any) -> Dataset:
    """A dataset of texts: each contestant has an output on every sample."""
    made = {"name": "League", "slug": f"league-{Dataset.objects.count()}", "state": "ready", **fields}
    dataset = Dataset.objects.create(owner=owner, **made)
    rows = [
        Sample(dataset=dataset, index=index, instruction=f"Why does it rain on day {index}?")
        for index in range(samples)
    ]
    Sample.objects.bulk_create(rows)
    for name in names:
        join(dataset, name)
    return dataset


def join(dataset: Dataset, name: str, **fields: Any) -> Contestant:
    one = Contestant.objects.create(dataset=dataset, name=name, **fields)
    text = TEXTS.get(name, f"Rain is water, says {name}.")
    Output.objects.bulk_create(
        Output(sample=sample, contestant=one, text=f"{text} ({sample.index})") for sample in dataset.samples.all()
    )
    return one


def battles(dataset: Dataset, judge: str = JUDGE, more: tuple[str, ...] = (), **config: Any) -> Experiment:
    """An experiment of the dataset's owner. more: further judges."""
    seats = {"judge": judge} | {f"judge-{number}": slug for number, slug in enumerate(more, 2)}
    cast = {seat: {"model": add_model(slug).slug} for seat, slug in seats.items()}
    asked = {"dataset": dataset.slug, "prompt": "text_quality", **config}
    return actions.create(owner=dataset.owner, workflow="battles", config=asked, cast=cast)
