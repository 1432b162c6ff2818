"""What is known of contestants: entered by curators, or else looked up in the catalog and in their calls."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.db.models import Count

from experiments.gateway.types import QUANTIZATIONS, Routing
from experiments.models import Contestant, Dataset, Output
from leaderboard.boards.caching import memoize
from leaderboard.boards.contamination import published

QUANTIZED = re.compile(rf"/({'|'.join(QUANTIZATIONS)})\b")  # at the end of what a provider calls an upstream
DATED = re.compile(r"_(\d{8})$")


class Origin(StrEnum):
    """Where a value comes from."""

    ENTERED = "entered"
    PARENT = "parent"  # of the contestant that it is a variant of
    CATALOG = "catalog"
    CALLS = "calls"
    PINNED = "pinned"  # the upstreams that its parameters allow
    VERSION = "version"  # the date in the name of the experiment with which it joined
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Fact:
    value: str = ""
    origin: Origin = Origin.UNKNOWN


@dataclass(frozen=True, slots=True)
class Variant:
    """A contestant in the register. depth: 0 for one that is a variant of no other. variant_of, variants: names.
    released: a day as 2026-01-31. upstream: names with commas between them, those with most answers first. exposed: how
    many of the samples whose day of publication is known (`dated`) were public before it was released, so that it may
    have been trained on them; None where no curator has entered its date, or no sample has one.
    """

    contestant: Contestant
    depth: int
    variant_of: str
    variants: tuple[str, ...]
    base_model: Fact
    released: Fact
    quantization: Fact
    upstream: Fact
    prompt: Fact
    exposed: int | None
    dated: int

    @property
    def name(self) -> str:
        return self.contestant.name


@dataclass(frozen=True, slots=True)
class Family:
    """The contestants made from one base model, each before its variants. base_model: empty where it is not known."""

    base_model: str
    variants: tuple[Variant, ...] = field(default=())


def register(dataset: Dataset) -> tuple[Family, ...]:
    """The families of a dataset by their base models' names; those of unknown base models last."""
    rows = list(dataset.contestants.select_related("model__provider").order_by("name"))
    known, served, days = {one.pk: one for one in rows}, _served(dataset), sorted(published(dataset).values())
    children: dict[int | None, list[Contestant]] = defaultdict(list)
    for one in rows:
        children[one.variant_of_id if one.variant_of_id in known else None].append(one)
    families: dict[str, list[Variant]] = defaultdict(list)

    def add(one: Contestant, depth: int, parent: Variant | None, into: list[Variant] | None) -> None:
        base = _base(one, parent)
        into = families[base.value] if into is None else into
        found = Variant(
            contestant=one,
            depth=depth,
            variant_of=parent.name if parent else "",
            variants=tuple(child.name for child in children[one.pk]),
            base_model=base,
            released=_released(one),
            upstream=(upstream := _upstream(one, served.get(one.pk, ()))),
            quantization=_quantization(one, upstream),
            prompt=_entered(one.prompt),
            exposed=bisect_left(days, one.released) if one.released and days else None,
            dated=len(days),
        )
        into.append(found)
        for child in children[one.pk]:
            add(child, depth + 1, found, into)

    for root in children[None]:
        add(root, 0, None, None)
    return tuple(Family(base, tuple(families[base])) for base in sorted(families, key=lambda one: (not one, one)))


def parents_of(contestant: Contestant, rows: Iterable[Contestant]) -> list[Contestant]:
    """Those of the rows that it may be a variant of: neither itself nor a variant of it."""
    others = [one for one in rows if one.pk != contestant.pk]
    below = {contestant.pk}
    while new := {one.pk for one in others if one.variant_of_id in below} - below:
        below |= new
    return [one for one in others if one.pk not in below]


def _served(dataset: Dataset) -> Mapping[int, Sequence[str]]:
    """The upstreams that made each contestant's outputs here, looked up when outputs are new."""
    made = Output.objects.filter(sample__dataset=dataset, call__isnull=False).exclude(call__served_provider="")

    def find() -> Mapping[int, Sequence[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        counted = made.order_by().values_list("contestant", "call__served_provider").annotate(n=Count("pk"))
        for contestant, upstream, _n in sorted(counted, key=lambda one: (-one[2], one[1])):
            found[contestant].append(upstream)
        return dict(found)

    newest = Output.objects.filter(sample__dataset=dataset).order_by("-pk").values_list("pk", flat=True).first()
    return memoize("served", (dataset.pk, newest), find)


def _entered(value: str) -> Fact:
    return Fact(value, Origin.ENTERED) if value else Fact()


def _base(one: Contestant, parent: Variant | None) -> Fact:
    if one.base_model:
        return _entered(one.base_model)
    if one.model:
        return Fact(one.model.upstream, Origin.CATALOG)
    return Fact(parent.base_model.value, Origin.PARENT) if parent and parent.base_model.value else Fact()


def _released(one: Contestant) -> Fact:
    if one.released:
        return _entered(one.released.isoformat())
    try:
        dated = DATED.search(one.version)
        return Fact(datetime.strptime(dated[1], "%Y%m%d").date().isoformat(), Origin.VERSION) if dated else Fact()
    except ValueError:
        return Fact()


def _upstream(one: Contestant, served: Sequence[str]) -> Fact:
    if one.upstream:
        return _entered(one.upstream)
    if served:
        return Fact(", ".join(served), Origin.CALLS)
    if pinned := Routing.pinned(str(one.params.get("served_by", ""))).only:
        return Fact(", ".join(pinned), Origin.PINNED)
    return Fact(one.model.provider.name, Origin.CATALOG) if one.model else Fact()


def _quantization(one: Contestant, upstream: Fact) -> Fact:
    """Several upstreams with different ones have none."""
    if one.quantization:
        return _entered(one.quantization)
    pinned = Routing.pinned(str(one.params.get("served_by", "")))
    said = [QUANTIZED.search(name) for name in pinned.only or upstream.value.split(",")]
    found = set(pinned.quantizations) or {match[1] if match else "" for match in said}
    return Fact(found.pop(), Origin.PINNED) if len(found) == 1 and found != {""} else Fact()
