"""What was found becomes rows, a few hundred at a time."""

import errno
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from experiments.library.datasets import images
from experiments.library.datasets.process import Refused
from experiments.library.datasets.records import OutputRecord, Picture, SampleRecord, records_in
from experiments.models import Contestant, Dataset, Output, Sample

BATCH = 400  # records of one transaction
HEAVY = 8 << 20  # characters of texts of one transaction
Hold = Callable[[], None]
Items = list[Picture | SampleRecord | OutputRecord]


class Writer:
    """Writes the records of a spool for one dataset. hold: called first in each transaction; raises when somebody else
    writes there now. versions: of contestants that are new.
    """

    def __init__(self, dataset: Dataset, spool: Path, hold: Hold, version: str) -> None:
        self._dataset, self._spool, self._hold, self._version = dataset, spool, hold, version
        self._contestants = {one.name: one for one in dataset.contestants.all()}
        self.written = 0

    def write(self, records: Iterable[Picture | SampleRecord | OutputRecord]) -> None:
        """Raises Refused when the records are not what they should be."""
        for items in batches(records):
            self._take_pictures([one for one in items if isinstance(one, Picture)])
            with transaction.atomic():
                self._hold()
                self._write_samples([one for one in items if isinstance(one, SampleRecord)])
                self._write_outputs([one for one in items if isinstance(one, OutputRecord)])

    def _take_pictures(self, found: list[Picture]) -> None:
        try:
            images.take_over(self._dataset, [picture.checked for picture in found], self._spool)
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
        self._add(outputs)

    def _write_outputs(self, found: list[OutputRecord]) -> None:
        """Those that are there already stay as they are."""
        self._check_pictures({record.image for record in found if record.image})
        samples = samples_for(self._dataset, found)
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
        self._add(outputs)

    def _add(self, outputs: list[Output]) -> None:
        Output.objects.bulk_create(outputs, ignore_conflicts=True)
        self.written += len(outputs)

    def _contestant(self, name: str, version: str) -> Contestant:
        if name not in self._contestants:
            new = {"version": version or self._version}
            self._contestants[name] = self._dataset.contestants.get_or_create(name=name, defaults=new)[0]
        return self._contestants[name]


def samples_for(dataset: Dataset, found: list[OutputRecord]) -> dict[tuple[str | None, int], list[int]]:
    """Keys of samples by subset and number; under subset None all that have the number."""
    numbers = {record.index for record in found}
    samples: dict[tuple[str | None, int], list[int]] = {}
    rows = dataset.samples.filter(index__in=numbers).order_by("pk").values_list("pk", "subset", "index")
    for pk, subset, index in rows:
        samples[subset, index] = [pk]
        samples.setdefault((None, index), []).append(pk)
    return samples


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


def outputs_in(spool: Path) -> Iterator[list[OutputRecord]]:
    """The outputs of a spool, some hundred at a time."""
    return batches(record for record in records_in(spool) if isinstance(record, OutputRecord))
