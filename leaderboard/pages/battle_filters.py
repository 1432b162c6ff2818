"""A filter of a board's battles, read from an address and written into one, and the samples that fit it."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Func, IntegerField, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import QueryDict
from django.utils.http import urlencode

from experiments.models import Board, Contestant, Dataset, Sample
from leaderboard.boards.caching import memoize

MOST_CONTESTANTS = 8
LONGEST_SEARCH = 200
RESULTS = ("won", "lost", "decisive", "tie", "both_bad")
CONSISTENCIES = {"yes": True, "no": False}
STATES = ("open", "void")
MOST_CHOICES = 200
OF_SAMPLES = ("subset", "category", "source", "images", "sample", "search")


@dataclass(frozen=True, slots=True)
class Filter:
    """contestants: with one, the battles it is in; with more, those among them. result: in terms of the first one.

    consistency: "yes", "no" or empty. state: empty for what counts, "open" or "void". images: how many pictures the
    sample has, sample: its key, both as digits. unknown: names of contestants that the dataset does not have.
    """

    contestants: tuple[Contestant, ...] = ()
    result: str = ""
    consistency: str = ""
    state: str = ""
    subset: str = ""
    category: str = ""
    source: str = ""
    images: str = ""
    sample: str = ""
    search: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def keys(self) -> list[int]:
        return sorted(one.pk for one in self.contestants)

    @property
    def restricts_samples(self) -> bool:
        return any(getattr(self, name) for name in OF_SAMPLES)

    @property
    def is_empty(self) -> bool:
        return not self.address

    @property
    def address(self) -> str:
        """The query of a page that shows this; empty when nothing is looked for."""
        names = [one.name for one in self.contestants] + list(self.unknown)
        words = {"result": self.result, "consistent": self.consistency, "state": self.state}
        words |= {name: getattr(self, name) for name in OF_SAMPLES}
        pairs = [("contestant", name) for name in names] + [(name, word) for name, word in words.items() if word]
        return urlencode(pairs)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the samples of a dataset differ in, each in sequence. count: how many samples there are."""

    subsets: tuple[str, ...]
    categories: tuple[str, ...]
    sources: tuple[str, ...]
    images: tuple[int, ...]
    count: int


class JSONLength(Func):
    """How many entries a JSON list has."""

    output_field = IntegerField()
    function = "json_array_length"

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="jsonb_array_length")


def read_filter(query: QueryDict, board: Board) -> Filter:
    """What an address asks for. Words that mean nothing here are left out, unknown contestants are kept as such."""
    names = list(dict.fromkeys(name.replace("\0", "") for name in query.getlist("contestant") if name))
    known = {one.name: one for one in Contestant.objects.filter(dataset=board.dataset_id, name__in=names[:50])}
    contestants = tuple(known[name] for name in names if name in known)[:MOST_CONTESTANTS]
    words = {name: query.get(name, "").replace("\0", "").strip()[:LONGEST_SEARCH] for name in OF_SAMPLES}
    for name in ("images", "sample"):
        word = words[name]
        words[name] = word if word.isascii() and word.isdigit() and len(word) <= 18 else ""

    def one_of(name: str, offered: Collection[str]) -> str:
        return word if (word := query.get(name, "")) in offered else ""

    return Filter(
        contestants,
        # Winning and losing is said of one contestant, or of the first of two.
        one_of("result", RESULTS if len(contestants) in {1, 2} else ("decisive", "tie", "both_bad")),
        one_of("consistent", CONSISTENCIES),
        one_of("state", STATES),
        unknown=tuple(name[:LONGEST_SEARCH] for name in names if name not in known)[:MOST_CONTESTANTS],
        **words,
    )


def sample_choices(dataset: Dataset) -> Choices:
    """The samples of a dataset that is ready do not change, so that this is found out once."""

    def find() -> Choices:
        rows = Sample.objects.filter(dataset=dataset).order_by()

        def words(name: str) -> tuple[str, ...]:
            found = rows.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
            return tuple(found[:MOST_CHOICES])

        pictures = rows.annotate(pictures=JSONLength("images")).order_by("pictures")
        numbers = tuple(pictures.values_list("pictures", flat=True).distinct()[:MOST_CHOICES])
        return Choices(words("subset"), words("category"), words("source"), numbers, rows.count())

    return memoize("sample-choices", (str(dataset.pk), dataset.state), find)


def fitting_samples(dataset_id: Any, chosen: Filter) -> QuerySet[Sample]:
    """The samples that the filter lets through, in no sequence. The search finds a text in the instruction, category,
    source and further fields, in whatever case.
    """
    exact = {name: value for name in ("subset", "category", "source") if (value := getattr(chosen, name))}
    rows = Sample.objects.filter(dataset=dataset_id, **exact).order_by()
    if chosen.sample:
        rows = rows.filter(pk=int(chosen.sample))
    if chosen.images:
        rows = rows.alias(pictures=JSONLength("images")).filter(pictures=int(chosen.images))
    if text := chosen.search:
        # A database that keeps JSON as text writes what is not ASCII with escapes, so these are looked for as well.
        found = Q(instruction__icontains=text) | Q(category__icontains=text) | Q(source__icontains=text)
        found |= Q(further__icontains=text) | Q(further__icontains=json.dumps(text)[1:-1])
        rows = rows.alias(further=Cast("metadata", TextField())).filter(found)
    return rows
