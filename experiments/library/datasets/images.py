"""Pictures, kept once under the hash of their bytes: written beside their place, moved there whole, never changed."""

import hashlib
import os
import shutil
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from PIL import Image as Picture

from experiments.models import Contestant, Dataset, DatasetImage, Image, Output, Sample

THUMBNAILS = 4  # of one sample
MIMES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}


class Checked(NamedTuple):
    """A picture that the limited process has looked at. width, height in pixels, size in bytes."""

    sha256: str
    mime: str
    width: int
    height: int
    size: int


class Spoiled(ValueError):
    """The bytes are not those that were checked."""


def store(data: bytes) -> Image:
    """Keep a picture of our own making. What others send is checked by the limited process instead."""
    with Picture.open(BytesIO(data), formats=tuple(MIMES)) as picture:
        mime, (width, height) = MIMES[picture.format or ""], picture.size
    checked = Checked(hashlib.sha256(data).hexdigest(), mime, width, height, len(data))
    path = path_of(checked.sha256)
    if not _is_whole(path, len(data)):
        with _begun(path) as unfinished:
            unfinished.write_bytes(data)
            unfinished.replace(path)
    return Image.objects.get_or_create(sha256=checked.sha256, defaults=checked._asdict())[0]


def belong(dataset: Dataset, hashes: Iterable[str]) -> None:
    """Whoever sees the dataset may see these pictures from now on."""
    rows = [DatasetImage(dataset=dataset, image_id=sha256) for sha256 in dict.fromkeys(hashes)]
    DatasetImage.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)


def take_over(dataset: Dataset, checked: Iterable[Checked], spool: Path) -> None:
    """Move pictures from the spool to their places, with their rows. Raises Spoiled. Repeating it changes nothing.

    A forgotten picture's file may go at the same moment; so each is looked for again once its row is committed.
    """
    found = list(checked)
    for picture in found:
        _place_file(picture, spool)
    with transaction.atomic():
        Image.objects.bulk_create([Image(**picture._asdict()) for picture in found], ignore_conflicts=True)
        belong(dataset, [picture.sha256 for picture in found])
    for picture in found:
        _place_file(picture, spool)


def forget_unused(most: int = 200) -> int:
    """Remove pictures that belong to no dataset any more. Returns how many."""
    unused = Image.objects.filter(datasets__isnull=True, outputs__isnull=True)
    removed = 0
    for sha256 in list(unused.values_list("pk", flat=True)[:most]):
        with transaction.atomic():
            if Image.objects.filter(pk=sha256, datasets__isnull=True, outputs__isnull=True).delete()[0]:
                path_of(sha256).unlink(missing_ok=True)
                removed += 1
    return removed


def path_of(sha256: str) -> Path:
    return Path(settings.IMAGES_DIR) / sha256[:2] / sha256


def _place_file(picture: Checked, spool: Path) -> None:
    """What lies in the spool was written by a process that reads strangers' files: it is read without following links
    and hashed again.
    """
    path = path_of(picture.sha256)
    if _is_whole(path, picture.size):
        return
    handle = os.open(spool / picture.sha256, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file, _begun(path) as unfinished:
        with unfinished.open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
        with unfinished.open("rb") as copy:
            if hashlib.file_digest(copy, "sha256").hexdigest() != picture.sha256:
                raise Spoiled(picture.sha256)
        unfinished.replace(path)


def _is_whole(path: Path, size: int) -> bool:
    """A machine that lost its power may have kept the name and not the bytes."""
    return path.is_file() and path.stat().st_size == size


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
