"""Files of an arena folder: how they are named and written, and what `load_dataset` reads of it: the samples, and the
outputs of each contestant under `models/`, as GenArena has them.
"""

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from experiments.library.datasets.hub import ENDINGS, OUTPUT_COLUMNS, picture_path, sample_row
from experiments.models import Contestant, Dataset, Image, Output
from experiments.runs import zipping
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.logs.exporting import encoded

SAMPLES_FILE = "data/samples.jsonl"
MODELS = "models"
UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
JOINT = "_vs_"
LONGEST = 80  # bytes: two of them, the joint and the ending fit into what file systems allow
ROWS_AT_ONCE = 200


# --- names, and how they are written ---


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Names to names of files: without what file systems forbid, as earlier arenas wrote them, and with a mark of
    their own where that alone would not tell them apart.

    Marked is what comes out like another name (whatever the case of letters), what holds the joint of two names, what
    is too long and what would be empty. The mark depends on the name alone.
    """
    files = {name: re.sub("_+", "_", UNSAFE.sub("_", name)).strip("_. ") for name in names}
    alike = Counter(short.casefold() for short in files.values())
    for name, short in files.items():
        is_alike = alike[short.casefold()] > 1
        if not short or is_alike or JOINT in f"_{short}_" or len(short.encode()) > LONGEST:
            mark = hashlib.sha256(name.encode()).hexdigest()[:8]
            files[name] = f"{short.encode()[: LONGEST - 9].decode(errors='ignore')}~{mark}"
    return files


def pair_file(first: str, second: str, files: Mapping[str, str]) -> str:
    """The name of a pair's log. files: of `file_names`."""
    return f"{files[first]}{JOINT}{files[second]}.jsonl"


def folder_name(name: str) -> str:
    return file_names([name])[name]


def write_lines(archive: zipfile.ZipFile, name: str, rows: Iterator[JsonObject]) -> Iterator[None]:
    """An entry line by line; none where there is no line."""
    first = next(rows, None)
    if first is None:
        return
    with archive.open(zipping.entry(name), "w") as file:
        file.write(encoded(first))
        for number, row in enumerate(rows):
            file.write(encoded(row))
            if number % 100 == 0:
                yield
    yield


def write_json(archive: zipfile.ZipFile, name: str, content: Mapping[str, object]) -> None:
    archive.writestr(zipping.entry(name), json.dumps(content, ensure_ascii=False, indent=2))


def subset_folder(subset: str) -> str:
    """What the paths of a subset's files begin with."""
    return f"{folder_name(subset)}/" if subset else ""


# --- samples and outputs ---


def write_samples(archive: zipfile.ZipFile, dataset: Dataset) -> Iterator[None]:
    """The samples as a table, and the pictures that they show, under the hashes of their bytes."""
    shown = {
        sha256 for images in dataset.samples.exclude(images=[]).values_list("images", flat=True) for sha256 in images
    }
    pictures = {one.pk: one for one in Image.objects.filter(pk__in=dataset.pictures.values("image")) if one.pk in shown}
    names = {sha256: picture_path(one) for sha256, one in pictures.items()}
    yield from write_lines(archive, SAMPLES_FILE, (sample_row(one, names) for one in _pages(dataset.samples.all())))
    for one in pictures.values():
        archive.writestr(zipping.entry(picture_path(one)), one.content())
        yield


def write_outputs(archive: zipfile.ZipFile, subset: str, contestants: Iterable[Contestant]) -> Iterator[None]:
    """A table for each contestant with an output in the subset, models/EXPERIMENT/CONTESTANT.jsonl, and pictures as
    files in a folder of the same name.
    """
    chosen = list(contestants)
    files = file_names({one.name for one in chosen})
    for one in chosen:
        path = f"{models_folder(subset, one.version)}/{files[one.name]}"
        rows = one.outputs.filter(sample__subset=subset).select_related("sample", "image")
        told = (_output_row(output, one, files[one.name]) for output in _pages(rows))
        yield from write_lines(archive, f"{path}.jsonl", told)
        for output in _pages(rows.exclude(image=None)):
            archive.writestr(zipping.entry(f"{path}/{_picture_file(output)}"), output.image.content())
            yield


def models_folder(subset: str, version: str) -> str:
    """Where the outputs of those lie who joined with this experiment."""
    return "/".join(filter(None, (f"{subset_folder(subset)}{MODELS}", folder_name(version) if version else "")))


def _output_row(output: Output, contestant: Contestant, folder: str) -> dict[str, Any]:
    """image: its path from the folder of the table."""
    sample, image = output.sample, f"{folder}/{_picture_file(output)}" if output.image else None
    cells = (sample.subset, sample.index, contestant.name, contestant.version, output.text, image)
    return dict(zip(OUTPUT_COLUMNS, cells, strict=True))


def _picture_file(output: Any) -> str:
    return f"{output.sample.index:06}{ENDINGS[output.image.mime]}"


def _pages(rows: QuerySet[Any]) -> Iterator[Any]:
    """The rows, some at a time, by their keys: no cursor stays open while somebody reads slowly."""
    last = 0
    while page := list(rows.filter(pk__gt=last).order_by("pk")[:ROWS_AT_ONCE]):
        yield from page
        last = page[-1].pk
