"""How many outputs each contestant that is asked here has, of those that are wanted."""

from dataclasses import dataclass

from experiments.models import Dataset, Experiment, Output, Participant, Sample
from experiments.workflows.battles.campaign.outputs import name_of


@dataclass(frozen=True, slots=True)
class Made:
    """A contestant and the model that answers for it."""

    name: str
    model: str
    done: int
    wanted: int


def of(shown: Experiment) -> list[Made]:
    config = shown.parsed_config()
    dataset = Dataset.objects.get(slug=config.dataset)
    samples = Sample.objects.filter(dataset=dataset)
    if config.subsets:
        samples = samples.filter(subset__in=config.subsets)
    wanted = samples.count()
    return [_made(dataset, name_of(config, one), one, config.subsets, wanted) for one in _seated(shown)]


def _seated(shown: Experiment) -> list[Participant]:
    return list(shown.participants.select_related("model"))


def _made(dataset: Dataset, name: str, one: Participant, subsets: list[str], wanted: int) -> Made:
    outputs = Output.objects.filter(contestant__dataset=dataset, contestant__name=name)
    if subsets:
        outputs = outputs.filter(sample__subset__in=subsets)
    return Made(name, one.model.label, outputs.count(), wanted)
