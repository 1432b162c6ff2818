"""Samples that fit a filter, and what there is to choose from. There are few samples where there are many battles."""

import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Func, IntegerField, Q, QuerySet, TextField
from django.db.models.functions import Cast

from experiments.models import Dataset, Sample
from leaderboard.boards.caching import remembered
from leaderboard.pages.battle_filters import Filter

MOST_CHOICES = 200


class JSONLength(Func):
    """How many entries a JSON list has."""

    output_field = IntegerField()
    function = "json_array_length"

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="jsonb_array_length")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the samples of a dataset differ in, each in sequence. count: how many samples there are."""

    subsets: tuple[str, ...]
    categories: tuple[str, ...]
    sources: tuple[str, ...]
    images: tuple[int, ...]
    count: int


def choices(dataset: Dataset) -> Choices:
    """The samples of a dataset that is ready do not change, so that this is found out once."""
    return remembered("sample-choices", (str(dataset.pk), dataset.state), lambda: _choices(dataset))


def fitting(dataset_id: Any, chosen: Filter) -> QuerySet[Sample]:
    """The samples that the filter lets through, in no sequence."""
    exact = {name: value for name in ("subset", "category", "source") if (value := getattr(chosen, name))}
    rows = Sample.objects.filter(dataset=dataset_id, **exact).order_by()
    if chosen.sample:
        rows = rows.filter(pk=int(chosen.sample))
    if chosen.images:
        rows = rows.alias(pictures=JSONLength("images")).filter(pictures=int(chosen.images))
    return containing(rows, chosen.search) if chosen.search else rows


def containing(rows: QuerySet[Sample], text: str) -> QuerySet[Sample]:
    """Those that have the text in their instruction, category, source or further fields, in whatever case.

    A database that keeps JSON as text writes what is not ASCII with escapes, so that these are looked for as well.
    """
    rows = rows.alias(further=Cast("metadata", TextField()))
    found = Q(instruction__icontains=text) | Q(category__icontains=text) | Q(source__icontains=text)
    found |= Q(further__icontains=text) | Q(further__icontains=json.dumps(text)[1:-1])
    return rows.filter(found)


def _choices(dataset: Dataset) -> Choices:
    rows = Sample.objects.filter(dataset=dataset).order_by()

    def words(name: str) -> tuple[str, ...]:
        return tuple(rows.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()[:MOST_CHOICES])

    pictures = rows.annotate(pictures=JSONLength("images")).order_by("pictures")
    numbers = tuple(pictures.values_list("pictures", flat=True).distinct()[:MOST_CHOICES])
    return Choices(words("subset"), words("category"), words("source"), numbers, rows.count())
