"""Datasets in which words are found: by name and description, in samples and outputs, in what judges said of battles.

These texts are in no index: of each table the newest rows are looked through.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from django.db.models import BigIntegerField, Model, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from experiments.library.search.excerpts import Part, excerpt, holds
from experiments.library.search.query import Asked
from experiments.library.search.words import words
from experiments.models import Dataset, Output, Sample, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Row = TypeVar("Row", bound=Model)

PLACE = "datasets"  # as `in:` names it
SAMPLES = 20_000  # that are looked through
LONG_TEXTS = 5_000  # outputs and judgments likewise
MOST = 50  # of each table
SHOWN = 5  # of one dataset


@dataclass(frozen=True, slots=True)
class DatasetHit:
    """kind: dataset, sample, output or battle. label: what the page calls it. address: of the page that shows it."""

    kind: str
    label: str
    address: str
    parts: list[Part]


@dataclass(slots=True)
class DatasetGroup:
    """A dataset with the first places in which something was found. count: of all of them."""

    dataset: Dataset
    hits: list[DatasetHit] = field(default_factory=list)
    count: int = 0

    def add(self, hit: DatasetHit) -> None:
        self.count += 1
        if len(self.hits) < SHOWN:
            self.hits.append(hit)


def find_datasets(asked: Asked, person: "User | AnonymousUser") -> list[DatasetGroup]:
    """What fits in the datasets that the person may see, the newest first. Filters other than `in:` are of runs."""
    places = {value.lower() for value in asked.filters.get("in", (PLACE,))}
    if not asked.phrases or not places & {PLACE, "all"} or asked.excluded or asked.filters.keys() - {"in"}:
        return []
    groups: dict[UUID, DatasetGroup] = {}
    for dataset, hit in _hits(asked, person):
        groups.setdefault(dataset.pk, DatasetGroup(dataset)).add(hit)
    return list(groups.values())


def _hits(asked: Asked, person: "User | AnonymousUser") -> Iterator[tuple[Dataset, DatasetHit]]:
    ready = Dataset.objects.visible_to(person).ready()
    for dataset in ready.filter(_contain(asked, "name", "description")).order_by("-created", "pk")[:MOST]:
        if parts := _found([dataset.description, dataset.name], asked):
            yield dataset, DatasetHit("dataset", _("Name and description"), dataset.get_absolute_url(), parts)
    samples = _newest(Sample.objects.filter(dataset__in=ready), SAMPLES)
    for sample in samples.filter(_contain(asked, "instruction")).select_related("dataset")[:MOST]:
        if parts := _found([sample.instruction], asked):
            label = _("Sample %(number)s") % {"number": sample}
            yield sample.dataset, DatasetHit("sample", label, _sample_address(sample), parts)
    outputs = _newest(Output.objects.filter(sample__dataset__in=ready), LONG_TEXTS)
    for output in outputs.filter(_contain(asked, "text")).select_related("sample__dataset", "contestant")[:MOST]:
        if parts := _found([output.text], asked):
            label = _("Output of %(name)s") % {"name": output.contestant}
            address = f"{_sample_address(output.sample)}#output-{output.contestant_id}"
            yield output.sample.dataset, DatasetHit("output", label, address, parts)
    voted = Q(battle__shown_left_first__isnull=True) | Q(battle__judged__isnull=False) | ~Q(battle__winner="")
    verdicts = _newest(Verdict.objects.filter(voted, battle__board__dataset__in=ready), LONG_TEXTS)
    contestants = ("battle__board__dataset", "battle__left", "battle__right")
    for verdict in verdicts.filter(_contain(asked, "rationale")).select_related(*contestants)[:MOST]:
        battle = verdict.battle
        if parts := _found([verdict.rationale], asked):
            label = _("Battle: %(left)s against %(right)s") % {"left": battle.left, "right": battle.right}
            address = reverse("battle", args=[battle.pk])
            yield battle.board.dataset, DatasetHit("battle", label, address, parts)


def _newest(rows: QuerySet[Row], count: int) -> QuerySet[Row]:
    newest = Subquery(rows.model._default_manager.order_by("-pk").values("pk")[:1], output_field=BigIntegerField())
    return rows.filter(pk__gt=newest - count).order_by("-pk")


def _contain(asked: Asked, *fields: str) -> Q:
    """That each word is somewhere in one of the fields. What a database compares is coarser than what `holds` does:
    SQLite takes no account of case in ASCII alone, and no database of accents.
    """
    as_typed = {word.folded: asked.text[word.start : word.end] for word in words(asked.text)}
    found = Q()
    for word in {word for one in asked.phrases for word in one.words}:
        typed = as_typed.get(word, word)
        forms = {word} if typed.isascii() else {word, typed, typed.lower(), typed.capitalize()}
        found &= reduce(or_, (Q(**{f"{name}__icontains": form}) for name in fields for form in forms))
    return found


def _found(texts: Sequence[str], asked: Asked) -> list[Part]:
    if not holds(texts, asked.phrases) or any(holds(texts, [one]) for one in asked.without):
        return []
    return excerpt(texts, asked.phrases)


def _sample_address(sample: Sample) -> str:
    return reverse("dataset-sample", args=[sample.dataset.slug, sample.pk])
