"""Whether outputs fit a dataset, before the first of them is written."""

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from django.db.models import Count

from experiments.library.datasets.process import Refused
from experiments.library.datasets.records import OutputRecord, SampleRecord, records_in
from experiments.library.datasets.writing import outputs_in, samples_for
from experiments.models import Contestant, Dataset, Output

Warnings = list[dict[str, object]]
Alive = Callable[[], Any]  # told now and then while something takes long
SEEN_AT_ONCE = 1000  # records


class Fit(NamedTuple):
    """new: outputs to be written, by contestant. kept: those that are there already. unknown: those of no sample."""

    new: Counter[str]
    kept: int
    unknown: int


def fit(dataset: Dataset, spool: Path, alive: Alive) -> Fit:
    """Raises Refused when they are of another kind, or when it is not certain to which samples they belong."""
    subsets = set(dataset.samples.order_by().values_list("subset", flat=True).distinct())
    new: Counter[str] = Counter()
    kept = unknown = 0
    for found in outputs_in(spool):
        alive()
        for record in found:
            _refuse_kind(dataset, record)
            _refuse_subset(subsets, record)
        samples = samples_for(dataset, found)
        known = _known(dataset, found, [pk for keys in samples.values() for pk in keys])
        for record in found:
            keys = samples.get((record.subset, record.index), [])
            if len(keys) > 1:
                raise Refused("which_subset", number=record.index)
            if not keys:
                unknown += 1
            elif keys[0] in known[record.contestant]:
                kept += 1
            else:
                new[record.contestant] += 1
    if not new and not kept:
        raise Refused("nothing_fits")
    return Fit(new, kept, unknown)


def coverage(dataset: Dataset) -> Warnings:
    """A warning for each contestant that lacks outputs, most of all first; nobody who has none yet is meant."""
    wanted = dataset.samples.count()
    found = dataset.contestants.annotate(made=Count("outputs")).values_list("made", "name")
    lacking = sorted((made, name) for made, name in found if 0 < made < wanted)
    return [{"code": "missing", "contestant": name, "found": made, "wanted": wanted} for made, name in lacking[:50]]


def census(dataset: Dataset, spool: Path, alive: Alive) -> int:
    """How many records there are, all of them well-formed and their outputs of the right kind. Raises Refused."""
    records = 0
    for record in records_in(spool):
        records += 1
        if records % SEEN_AT_ONCE == 0:
            alive()
        if isinstance(record, OutputRecord):
            _refuse_kind(dataset, record)
        if isinstance(record, SampleRecord) and record.outputs and dataset.modality != Dataset.Modality.TEXT:
            raise Refused("wrong_kind_text")
    return records


def _refuse_kind(dataset: Dataset, record: OutputRecord) -> None:
    is_picture = bool(record.image)
    if is_picture != (dataset.modality == Dataset.Modality.IMAGE):
        raise Refused("wrong_kind_image" if is_picture else "wrong_kind_text")


def _refuse_subset(subsets: set[str], record: OutputRecord) -> None:
    if record.subset is not None and record.subset not in subsets:
        raise Refused("unknown_subset", subset=record.subset)


def _known(dataset: Dataset, found: list[OutputRecord], samples: list[int]) -> defaultdict[str, set[int]]:
    """The samples, of these, for which each contestant has an output already."""
    names = {record.contestant for record in found}
    contestants = dict(Contestant.objects.filter(dataset=dataset, name__in=names).values_list("pk", "name"))
    rows = Output.objects.filter(contestant__in=contestants, sample__in=set(samples))
    known: defaultdict[str, set[int]] = defaultdict(set)
    for contestant, sample in rows.values_list("contestant_id", "sample_id"):
        known[contestants[contestant]].add(sample)
    return known
