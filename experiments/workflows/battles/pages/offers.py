"""What a set-up form of battles or outputs offers: datasets, and of the chosen one its subsets and contestants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count

from experiments.lab.catalog.menu import askable_models
from experiments.models import Contestant, Dataset, ProviderModel

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

    Person = User | AnonymousUser


@dataclass(frozen=True, slots=True)
class Subset:
    """Part of a dataset. name: "" for samples that stand in no subset."""

    name: str
    samples: int


@dataclass(frozen=True, slots=True)
class Entrant:
    """A contestant as the form shows it. outputs: of how many samples it has one; model: who could make the rest."""

    name: str
    label: str
    outputs: int
    void_reason: str
    model: ProviderModel | None


@dataclass(frozen=True, slots=True)
class Offer:
    """A dataset with what can be chosen of it."""

    dataset: Dataset
    subsets: tuple[Subset, ...]
    entrants: tuple[Entrant, ...]

    @property
    def samples(self) -> int:
        return sum(subset.samples for subset in self.subsets)

    @property
    def has_subsets(self) -> bool:
        return len(self.subsets) > 1

    @property
    def comparable(self) -> tuple[Entrant, ...]:
        """Those that have outputs to be compared, and are not left out."""
        return tuple(one for one in self.entrants if one.outputs and not one.void_reason)

    @property
    def makers(self) -> tuple[Entrant, ...]:
        """Those whose model can be asked here for the outputs that are missing."""
        return tuple(one for one in self.entrants if one.model and not one.void_reason)


def datasets(person: "Person") -> Sequence[Dataset]:
    """Those whose samples a person may have compared, the newest first."""
    return list(Dataset.objects.visible_to(person).filter(state=Dataset.State.READY).order_by("-created", "slug"))


def offer(offered: Sequence[Dataset], slug: str) -> Offer | None:
    """Of the dataset of this name; None where it is not among those offered."""
    found = next((dataset for dataset in offered if dataset.slug == slug), None)
    return offer_of(found) if found else None


def first(offered: Sequence[Dataset]) -> Offer | None:
    """The newest dataset with outputs to compare; the newest of all where none has."""
    for dataset in offered:
        if dataset.contestants.filter(void_reason="", outputs__isnull=False).distinct().count() > 1:
            return offer_of(dataset)
    return offer_of(offered[0]) if offered else None


def offer_of(dataset: Dataset) -> Offer:
    rows = dataset.samples.order_by("subset").values("subset").annotate(samples=Count("pk"))
    subsets = tuple(Subset(row["subset"], row["samples"]) for row in rows)
    contestants = dataset.contestants.select_related("model__provider").annotate(made=Count("outputs"))
    return Offer(dataset, subsets, tuple(_entrant(one) for one in contestants.order_by("name")))


def _entrant(one: Contestant) -> Entrant:
    return Entrant(one.name, str(one), one.made, one.void_reason, one.model)  # type: ignore[attr-defined]  # annotated by the query


@dataclass(frozen=True, slots=True)
class Judges:
    """Models that can judge a kind of output, and the labels of those that cannot because they take no images."""

    offered: tuple[ProviderModel, ...]
    blind: tuple[str, ...]


def judges(modality: str) -> Judges:
    usable = askable_models()
    if modality != Dataset.Modality.IMAGE:
        return Judges(tuple(usable), ())
    sees = [one.accepts.images for one in usable]
    seeing = tuple(one for one, can in zip(usable, sees, strict=True) if can)
    blind = (one.label for one, can in zip(usable, sees, strict=True) if not can and not one.is_tool)
    return Judges(seeing, tuple(blind))
