"""What the battles of an experiment are about: the dataset, who takes part, who judges, and on which boards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.db.models import Exists, OuterRef

from experiments.models import Battle, Contestant, Dataset, Experiment, Output, Participant
from experiments.workflows.battles.campaign.boards import model_board
from experiments.workflows.battles.config import JUDGES

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Scope:
    """contestants: those that take part, by key. boards: seats of judges to their boards' keys."""

    dataset: Dataset
    config: Any
    contestants: tuple[Contestant, ...]
    boards: Mapping[str, int]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs to be compared, the smaller key first; with `pairs: new` those with somebody new in the version."""
        new = {one.pk for one in self.contestants if one.version == self.config.version}
        every = combinations([one.pk for one in self.contestants], 2)
        return [pair for pair in every if self.config.pairs == "all" or new.intersection(pair)]


def scope_of(experiment: Experiment) -> Scope:
    """Raises Dataset.DoesNotExist when its dataset is gone."""
    config = experiment.parsed_config()
    dataset = Dataset.objects.get(slug=config.dataset)
    judges = experiment.participants.filter(seat__in=JUDGES).select_related("model")
    boards = {judge.seat: board_of(dataset, config, judge) for judge in judges}
    return Scope(dataset, config, taking_part(dataset, config), boards)


def board_of(dataset: Dataset, config: Any, judge: Participant) -> int:
    """The key of the board on which this judge's battles stand; made when there is none."""
    version = config.prompt_version
    return model_board(dataset, judge.model, prompt=config.prompt, prompt_version=version, params=judge.params).pk


def taking_part(dataset: Dataset, config: Any) -> tuple[Contestant, ...]:
    """Who is compared, by key: those named, or all that have outputs and joined by then. Void ones never are."""
    rows = dataset.contestants.filter(void_reason="").filter(Exists(Output.objects.filter(contestant=OuterRef("pk"))))
    if config.contestants:
        return tuple(rows.filter(name__in=config.contestants).order_by("pk"))
    return tuple(one for one in rows.order_by("pk") if _had_joined(one.version, config.version))


def name_version(scope: Scope) -> None:
    """Whoever takes part for the first time, and says no other version, joins with that of the experiment."""
    version = scope.config.version
    newcomers = [one for one in scope.contestants if not one.version] if version else []
    for one in newcomers:
        if not _has_battles(one, scope.boards.values()):
            Contestant.objects.filter(pk=one.pk, version="").update(version=version)
            one.version = version


def _has_battles(one: Contestant, boards: Any) -> bool:
    battles = Battle.objects.filter(board__in=list(boards))
    return battles.filter(left=one).exists() or battles.filter(right=one).exists()


def _had_joined(version: str, by: str) -> bool:
    """Versions end in a date: a later one is not part of an earlier experiment."""
    return not version or not by or version == by or version[-8:] <= by[-8:]


def named_but_missing(dataset: Dataset, names: Sequence[str]) -> list[str]:
    known = set(dataset.contestants.filter(name__in=names).values_list("name", flat=True))
    return [name for name in names if name not in known]
