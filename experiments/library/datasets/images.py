"""Pictures, kept once under the hash of their bytes: written beside their place, moved there whole, never changed."""

import hashlib
import os
import shutil
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path

from django.db import transaction

from experiments.models import Contestant, Dataset, DatasetImage, Image, Output, Sample, shared_files
from experiments.tasks import durable

THUMBNAILS = 4  # of one sample
MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}


class Spoiled(ValueError):
    """The bytes are not those that were checked."""


def store(data: bytes) -> Image:
    """Keep a picture of our own making. What others send is checked by the limited process instead."""
    open_ = import_module("PIL.Image").open  # it takes long to load, and few processes draw
    with open_(BytesIO(data), formats=tuple(MIMES)) as picture:
        mime, (width, height) = MIMES[picture.format or ""], picture.size
    image = Image(sha256=hashlib.sha256(data).hexdigest(), mime=mime, width=width, height=height, size=len(data))
    if not _is_whole(image):
        with _begun(image.path) as unfinished:
            unfinished.write_bytes(data)
            durable.place(unfinished, image.path)
            shared_files.keep(image.path)
    Image.objects.bulk_create([image], ignore_conflicts=True)
    return image


def belong(dataset: Dataset, hashes: Iterable[str]) -> None:
    """Whoever sees the dataset may see these pictures from now on."""
    rows = [DatasetImage(dataset=dataset, image_id=sha256) for sha256 in dict.fromkeys(hashes)]
    DatasetImage.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


def take_over(dataset: Dataset, found: Sequence[Image], spool: Path) -> None:
    """Move pictures that the limited process has checked from the spool to their places, with their rows. Raises
    Spoiled. Repeating it changes nothing.

    A forgotten picture's file may go at the same moment; so each is looked for again once its row is committed.
    """
    for image in found:
        _place(image, spool)
    with transaction.atomic():
        Image.objects.bulk_create(found, ignore_conflicts=True)
        belong(dataset, [image.sha256 for image in found])
    for image in found:
        _place(image, spool)


def forget_unused(most: int = 200) -> int:
    """Remove pictures that belong to no dataset any more. Returns how many."""
    unused = Image.objects.filter(datasets__isnull=True, outputs__isnull=True)
    removed = 0
    for image in list(unused[:most]):
        with transaction.atomic():
            if unused.filter(pk=image.pk).delete()[0]:
                shared_files.forget(image.path)
                removed += 1
    return removed


def _place(image: Image, spool: Path) -> None:
    """What lies in the spool was written by a process that reads strangers' files: it is read without following links
    and hashed again.
    """
    if _is_whole(image):
        return
    handle = os.open(spool / image.sha256, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file, _begun(image.path) as unfinished:
        with unfinished.open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
        with unfinished.open("rb") as copy:
            if hashlib.file_digest(copy, "sha256").hexdigest() != image.sha256:
                raise Spoiled(image.sha256)
        durable.place(unfinished, image.path)
        shared_files.keep(image.path)


def _is_whole(image: Image) -> bool:
    return shared_files.is_kept(image.path, image.size)


@contextmanager
def _begun(path: Path) -> Iterator[Path]:
    """A file beside it, of which nothing is left when it could not be written to its end."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """contestant: whose picture it is, None for one that was given with the sample."""

    sha256: str
    contestant: Contestant | None = None


def thumbnails(dataset: Dataset, samples: Sequence[Sample]) -> dict[int, list[Thumbnail]]:
    """By the key of the sample; a sample without any picture is left out."""
    found: dict[int, list[Thumbnail]] = defaultdict(list)
    for sample in samples:
        found[sample.pk] += [Thumbnail(sha) for sha in sample.images[:THUMBNAILS]]
    without = [sample.pk for sample in samples if not sample.images]
    if dataset.modality == Dataset.Modality.IMAGE and without:
        first = list(dataset.contestants.order_by("name")[:THUMBNAILS])
        made = Output.objects.filter(sample__in=without, contestant__in=first, image__isnull=False)
        for output in made.defer("text").select_related("contestant").order_by("contestant__name"):
            found[output.sample_id].append(Thumbnail(str(output.image_id), output.contestant))
    return {pk: thumbs for pk, thumbs in found.items() if thumbs}
