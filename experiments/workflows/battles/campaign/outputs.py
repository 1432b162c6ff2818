"""Outputs that are asked for here: which contestant is played by whom, and what they have not answered yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from experiments.models import Contestant, Dataset, Experiment
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.grid import Flags, Grid
from experiments.workflows.battles.campaign.lanes import Lane, laps_for
from experiments.workflows.battles.campaign.naming import SEAT, name_of
from experiments.workflows.battles.campaign.planning import Survey

__all__ = ["Asked", "OutputGround", "asked_in", "name_of"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A contestant and the seat that answers for it."""

    contestant: Contestant
    seat: str


def asked_in(experiment: Experiment) -> list[Asked]:
    """Who is asked, by key; contestants that the dataset does not know join it."""
    config = experiment.parsed_config()
    dataset = Dataset.objects.get(slug=config.dataset)
    found = []
    for participant in experiment.participants.select_related("model"):
        details = {"model": participant.model, "params": participant.params}
        contestant, _ = dataset.contestants.get_or_create(name=name_of(config, participant), defaults=details)
        found.append(Asked(contestant, participant.seat))
    return sorted(found, key=lambda one: one.contestant.pk)


class OutputGround:
    """Outputs that an experiment asks for: a lane is a contestant and the number of its seat."""

    def __init__(self, experiment: Experiment, seed: int) -> None:
        config = experiment.parsed_config()
        self.asked = asked_in(experiment)
        self.grid = Grid(Dataset.objects.values_list("pk", flat=True).get(slug=config.dataset), config.subsets, seed)

    def missing(self, lane: Lane, stretch: slice = slice(None)) -> Mapping[str, Flags]:
        return {f"{SEAT}{lane.right}": ~self.grid.outputs(lane.left)}

    def task(self, lane: Lane, sample: int, seats: Sequence[str]) -> JsonObject:
        return {"sample": sample, "contestant": lane.left, "seat": seats[0]}

    def survey(self) -> Survey:
        lanes, total = [], 0
        for one in self.asked:
            count = int((~self.grid.outputs(one.contestant.pk)).sum())
            if count:
                number = int(one.seat.removeprefix(SEAT))
                laps = laps_for(count, settings.BATTLES_PER_RUN)
                lanes.append(Lane(one.contestant.pk, number, len(self.grid), laps))
                total += count
        return Survey(lanes, total)
