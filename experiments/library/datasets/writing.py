"""What the limited process has found becomes rows: a whole dataset, or outputs for one that is there. All of it is
checked before the first row is written, a few hundred rows at a time.
"""

import errno
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from experiments.library.datasets import images
from experiments.library.datasets.process import Found, Refused
from experiments.library.datasets.records import (
    AnyRecord,
    ContestantRecord,
    OutputRecord,
    Picture,
    SampleRecord,
    records_in,
)
from experiments.models import Contestant, Dataset, Output, Sample

READ_SHARE = 0.7  # of the progress; the rest is writing
BATCH = 400  # records of one transaction
HEAVY = 8 << 20  # characters of texts of one transaction
SEEN_AT_ONCE = 1000  # records
REMOVED_AT_ONCE = 500
Held = Callable[[float], object]  # called with the progress, and in each transaction; raises when the claim is lost


class Added(NamedTuple):
    """What outputs have become. new: how many, by contestant. kept: there already. unknown: of no sample."""

    new: dict[str, int]
    kept: int
    unknown: int
    warnings: list[dict[str, object]]


def take_samples(dataset: Dataset, found: Found, held: Held, version: str = "") -> None:
    """Write all of it into a dataset that holds nothing yet. Raises Refused before the first row."""
    records = 0
    for record in records_in(found.spool):
        records += 1
        if records % SEEN_AT_ONCE == 0:
            held(READ_SHARE)
        if isinstance(record, OutputRecord):
            _refuse_kind(dataset, record)
        if isinstance(record, SampleRecord) and record.outputs and dataset.modality != Dataset.Modality.TEXT:
            raise Refused("wrong_kind_text")
    Writer(dataset, found.spool, held, version, records).write(records_in(found.spool))
    dataset.columns = found.said.get("columns", {})
    dataset.warnings = _stored_warnings(found.warnings)


def take_outputs(dataset: Dataset, found: Found, held: Held, version: str = "") -> Added:
    """Write those that are not there yet. Raises Refused before the first row, when they are of another kind, or when
    it is not certain to which samples they belong.
    """
    subsets = set(dataset.samples.order_by().values_list("subset", flat=True).distinct())
    new: Counter[str] = Counter()
    kept = unknown = 0
    for records in batches(one for one in records_in(found.spool) if isinstance(one, OutputRecord)):
        held(READ_SHARE)
        for record in records:
            _refuse_kind(dataset, record)
            if record.subset is not None and record.subset not in subsets:
                raise Refused("unknown_subset", subset=record.subset)
        samples = _samples_for(dataset, records)
        known = _known(dataset, records, [pk for keys in samples.values() for pk in keys])
        for record in records:
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
    Writer(dataset, found.spool, held, version, sum(new.values())).write(records_in(found.spool))
    counted = _stored_warnings({**found.warnings, "kept": kept, "unknown_numbers": unknown})
    return Added(dict(new), kept, unknown, [*counted, *_missing(dataset)])


def empty(dataset: Dataset, alive: Callable[[], object]) -> None:
    """Take away whatever was written of it. alive: called again and again."""
    while keys := list(dataset.samples.order_by().values_list("pk", flat=True)[:REMOVED_AT_ONCE]):
        alive()
        Sample.objects.filter(pk__in=keys).delete()
    dataset.contestants.all().delete()
    dataset.pictures.all().delete()


class Writer:
    """Writes the records of a spool for one dataset. version: of contestants that are new; the dataset's name and today
    unless given. records: about how many there are, for the progress.
    """

    def __init__(self, dataset: Dataset, spool: Path, held: Held, version: str, records: int) -> None:
        self._dataset, self._spool, self._held = dataset, spool, held
        self._version = version or f"{dataset.slug}_{timezone.now():%Y%m%d}"
        self._batches = max(1, records // BATCH + 1)
        self._contestants = {one.name: one for one in dataset.contestants.all()}

    def write(self, records: Iterable[AnyRecord]) -> None:
        """Raises Refused when the records are not what they should be."""
        for done, items in enumerate(batches(records)):
            self._take_pictures([one for one in items if isinstance(one, Picture)])
            with transaction.atomic():
                self._held(READ_SHARE + (1 - READ_SHARE) * min(1.0, done / self._batches))
                self._write_samples([one for one in items if isinstance(one, SampleRecord)])
                self._write_outputs([one for one in items if isinstance(one, OutputRecord)])
                self._describe([one for one in items if isinstance(one, ContestantRecord)])

    def _take_pictures(self, found: list[Picture]) -> None:
        try:
            images.take_over(self._dataset, [picture.row for picture in found], self._spool)
        except (images.Spoiled, OSError) as error:
            if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise Refused("disk_full") from error
            raise Refused("reader_died", said="not the pictures that it checked") from error

    def _check_pictures(self, hashes: set[str]) -> None:
        """A hash is no right to see a picture: only what came with this dataset may be named. Raises Refused."""
        known = self._dataset.pictures.filter(image__in=hashes).values_list("image", flat=True) if hashes else ()
        if hashes - set(known):
            raise Refused("reader_died", said="a picture that it did not bring")

    def _write_samples(self, found: list[SampleRecord]) -> None:
        self._check_pictures({sha256 for record in found for sha256 in record.images})
        rows = [
            Sample(dataset=self._dataset, **record.model_dump(exclude={"kind", "outputs"}, mode="json"))
            for record in found
        ]
        Sample.objects.bulk_create(rows)
        outputs = [
            Output(sample=sample, contestant=self._contestant(name, ""), text=text)
            for sample, record in zip(rows, found, strict=True)
            for name, text in record.outputs.items()
        ]
        Output.objects.bulk_create(outputs, ignore_conflicts=True)

    def _write_outputs(self, found: list[OutputRecord]) -> None:
        """Those that are there already stay as they are."""
        self._check_pictures({record.image for record in found if record.image})
        samples = _samples_for(self._dataset, found)
        outputs = [
            Output(
                sample_id=samples[record.subset, record.index][0],
                contestant=self._contestant(record.contestant, record.version),
                text=record.text,
                image_id=record.image or None,
            )
            for record in found
            if (record.subset, record.index) in samples
        ]
        Output.objects.bulk_create(outputs, ignore_conflicts=True)

    def _describe(self, found: list[ContestantRecord]) -> None:
        """As the folder says it. Who would be a variant of itself, through whomever, is a variant of nobody."""
        for record in found:
            one, told = self._contestant(record.name, ""), record.model_dump(exclude={"kind", "name", "variant_of"})
            for name, value in {**told, "released": record.released or None}.items():
                setattr(one, name, value)
            parent = above = self._contestant(record.variant_of, "") if record.variant_of else None
            while above is not None and above.pk != one.pk:
                above = above.variant_of
            one.variant_of = parent if above is None else None
            one.save(update_fields=[*told, "variant_of"])

    def _contestant(self, name: str, version: str) -> Contestant:
        if name not in self._contestants:
            new = {"version": version or self._version}
            self._contestants[name] = self._dataset.contestants.get_or_create(name=name, defaults=new)[0]
        return self._contestants[name]


def batches(records: Iterable[Any]) -> Iterator[list[Any]]:
    """Some hundred records at a time, fewer of them where they are long."""
    items: list[Any] = []
    weight = 0
    for record in records:
        items.append(record)
        weight += record.weight
        if len(items) >= BATCH or weight > HEAVY:
            yield items
            items, weight = [], 0
    if items:
        yield items


def _refuse_kind(dataset: Dataset, record: OutputRecord) -> None:
    is_picture = bool(record.image)
    if is_picture != (dataset.modality == Dataset.Modality.IMAGE):
        raise Refused("wrong_kind_image" if is_picture else "wrong_kind_text")


def _samples_for(dataset: Dataset, found: list[OutputRecord]) -> dict[tuple[str | None, int], list[int]]:
    """Keys of samples by subset and number; under subset None all that have the number."""
    numbers = {record.index for record in found}
    samples: dict[tuple[str | None, int], list[int]] = {}
    rows = dataset.samples.filter(index__in=numbers).order_by("pk").values_list("pk", "subset", "index")
    for pk, subset, index in rows:
        samples[subset, index] = [pk]
        samples.setdefault((None, index), []).append(pk)
    return samples


def _known(dataset: Dataset, found: list[OutputRecord], samples: list[int]) -> defaultdict[str, set[int]]:
    """The samples, of these, for which each contestant has an output already."""
    names = {record.contestant for record in found}
    rows = Output.objects.filter(contestant__dataset=dataset, contestant__name__in=names, sample__in=set(samples))
    known: defaultdict[str, set[int]] = defaultdict(set)
    for contestant, sample in rows.values_list("contestant__name", "sample_id"):
        known[contestant].add(sample)
    return known


def _missing(dataset: Dataset) -> list[dict[str, object]]:
    """A warning for each contestant that lacks outputs, most of all first; none for one that has no output yet."""
    wanted = dataset.samples.count()
    found = dataset.contestants.annotate(made=Count("outputs")).values_list("made", "name")
    lacking = sorted((made, name) for made, name in found if 0 < made < wanted)
    return [{"code": "missing", "contestant": name, "found": made, "wanted": wanted} for made, name in lacking[:50]]


def _stored_warnings(times: Mapping[str, int]) -> list[dict[str, object]]:
    return [{"code": code, "times": number} for code, number in times.items() if number]
