"""A dataset as a folder for the Hugging Face Hub, in a zip: tables as Parquet, a card (README.md) that says which is
what, and croissant.json, the same for programs. `load_dataset` and the upload page read such a folder.
"""

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from experiments.library.datasets.reader.card import CARD, CONTESTANTS, OUTPUTS, SAMPLES
from experiments.library.datasets.reader.limits import Limits
from experiments.models import Dataset, Image, Output, Sample
from experiments.runs import zipping

ROWS_AT_ONCE = 500
PICTURES = "images"
ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}
TYPES = {  # of a column in Parquet: for the card, and for croissant
    "VARCHAR": ("string", "sc:Text"),
    "BIGINT": ("int64", "sc:Integer"),
    "DOUBLE": ("float64", "sc:Float"),
    "BOOLEAN": ("bool", "sc:Boolean"),
    "VARCHAR[]": ("string", "sc:Text"),
}
CROISSANT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "recordSet": "cr:recordSet",
    "field": "cr:field",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "source": "cr:source",
    "extract": "cr:extract",
    "column": "cr:column",
    "fileObject": "cr:fileObject",
    "repeated": "cr:repeated",
}


class Column(NamedTuple):
    """type: of DuckDB. meaning: a sentence for the card."""

    type: str
    meaning: str


class Table(NamedTuple):
    """A config of the card. rows: in the names of the columns. path: of its file, or patterns of several; of
    one in Parquet it follows from the name.
    """

    name: str
    columns: Mapping[str, Column]
    rows: Iterable[Mapping[str, Any]] = ()
    path: str | list[str] = ""


SAMPLE_COLUMNS = {
    "subset": Column("VARCHAR", "Subset of the sample, or empty"),
    "index": Column("BIGINT", "Number of the sample within its subset"),
    "instruction": Column("VARCHAR", "What contestants were asked"),
    "images": Column("VARCHAR[]", "Pictures that belong to the instruction, as paths"),
    "category": Column("VARCHAR", "Kind of task"),
    "source": Column("VARCHAR", "Where the instruction comes from"),
    "language": Column("VARCHAR", "Language of the instruction"),
    "metadata": Column("VARCHAR", "Further fields, as JSON"),
}
OUTPUT_COLUMNS = {
    "subset": Column("VARCHAR", "Subset of the sample"),
    "index": Column("BIGINT", "Number of the sample within its subset"),
    "contestant": Column("VARCHAR", "Who made it"),
    "experiment": Column("VARCHAR", "With which it joined, as name_yyyymmdd"),
    "text": Column("VARCHAR", "The output, where it is a text"),
    "image": Column("VARCHAR", "The output as a path, where it is a picture"),
}


CONTESTANT_COLUMNS = {
    "contestant": Column("VARCHAR", "Name of the contestant"),
    "label": Column("VARCHAR", "What it is shown as, or empty"),
    "link": Column("VARCHAR", "Where more about it is told"),
    "variant_of": Column("VARCHAR", "The contestant that it is a variant of, or empty"),
    "base_model": Column("VARCHAR", "The model that it is made from, as curators entered it"),
    "released": Column("VARCHAR", "When it was released, as 2026-01-31"),
    "quantization": Column("VARCHAR", "As served"),
    "upstream": Column("VARCHAR", "Who serves it"),
    "prompt": Column("VARCHAR", "What it is told before each task"),
}


class About(NamedTuple):
    """What a card says of the whole. name, slug: what it is called, for people and in addresses; text: Markdown."""

    name: str
    slug: str
    text: str


def zipped(about: About, tables: Iterable[Table], pictures: Iterable[Image] = ()) -> Iterator[bytes]:
    """A zip of README.md, croissant.json, data/NAME.parquet for each table, and images/."""
    return zipping.zipped(lambda archive: _write(archive, about, list(tables), pictures))


def dataset_zip(dataset: Dataset) -> Iterator[bytes]:
    """The samples and the outputs of a dataset, and what its contestants are shown as and made from. Pictures are files
    of their own, which the tables name. Ratings, reasons and models of contestants are not part of it.
    """
    about = About(dataset.name, dataset.slug, dataset.description)
    pictures = Image.objects.filter(pk__in=dataset.pictures.values("image")).order_by("pk")
    names = {one.pk: picture_path(one) for one in pictures.iterator()}
    return zipped(about, [_samples(dataset, names), _outputs(dataset, names), _contestants(dataset)], pictures)


def _samples(dataset: Dataset, names: Mapping[str, str]) -> Table:
    rows = dataset.samples.order_by("subset", "index").iterator(chunk_size=ROWS_AT_ONCE)
    return Table(SAMPLES, SAMPLE_COLUMNS, (sample_row(one, names) for one in rows))


def sample_row(sample: Sample, names: Mapping[str, str]) -> dict[str, Any]:
    """A line of the table of samples. names: paths of pictures by their hashes."""
    row = {name: getattr(sample, name) for name in SAMPLE_COLUMNS}
    pictures = [names[sha256] for sha256 in sample.images if sha256 in names]
    return {**row, "images": pictures, "metadata": json.dumps(sample.metadata, ensure_ascii=False)}


def _outputs(dataset: Dataset, names: Mapping[str, str]) -> Table:
    rows = Output.objects.filter(sample__dataset=dataset).order_by(
        "contestant__name", "sample__subset", "sample__index"
    )
    values = rows.values_list(
        *("sample__subset", "sample__index", "contestant__name", "contestant__version", "text", "image_id")
    )
    told = (
        dict(zip(OUTPUT_COLUMNS, (*row, names.get(image or "")), strict=True))
        for *row, image in values.iterator(chunk_size=ROWS_AT_ONCE)
    )
    return Table(OUTPUTS, OUTPUT_COLUMNS, told)


def _contestants(dataset: Dataset) -> Table:
    """Of whom more is known than the name."""
    rows = dataset.contestants.order_by("name").values_list(
        "name", "label", "link", "variant_of__name", "base_model", "released", "quantization", "upstream", "prompt"
    )
    told = ([str(cell or "") for cell in row] for row in rows)
    known = (dict(zip(CONTESTANT_COLUMNS, row, strict=True)) for row in told if any(row[1:]))
    return Table(CONTESTANTS, CONTESTANT_COLUMNS, known)


def picture_path(picture: Image) -> str:
    """Where it lies in a folder: under the hash of its bytes."""
    return f"{PICTURES}/{picture.sha256}{ENDINGS[picture.mime]}"


# --- the files ---


def _write(archive: zipfile.ZipFile, about: About, tables: list[Table], pictures: Iterable[Image]) -> Iterator[None]:
    from experiments.library.datasets.reader.tables import write_parquet  # noqa: PLC0415 - DuckDB is loaded where it is used

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        counts = {table.name: _write_lines(folder / f"{table.name}.jsonl", table) for table in tables}
        kept = [table for table in tables if counts[table.name]]  # a table without a row has no types to be read by
        types = {table.name: {name: column.type for name, column in table.columns.items()} for table in kept}
        write_parquet(folder, types, Limits())
        files = {table.name: (folder / f"{table.name}.parquet").read_bytes() for table in kept}
    archive.writestr(zipping.entry(CARD), card(about, kept, counts))
    archive.writestr(zipping.entry("croissant.json"), json.dumps(croissant(about, kept, files), indent=2))
    yield
    for name, data in files.items():
        archive.writestr(zipping.entry(f"data/{name}.parquet"), data)
        yield
    for picture in pictures:
        archive.writestr(zipping.entry(picture_path(picture)), picture.content())
        yield


def _write_lines(path: Path, table: Table) -> int:
    written = 0
    with path.open("w", encoding="utf-8") as lines:
        for row in table.rows:
            lines.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
            written += 1
    return written


def card(about: About, tables: Iterable[Table], counts: Mapping[str, int]) -> str:
    """README.md: `configs` and `dataset_info` as the Hub reads them, then the columns for people."""
    front: dict[str, Any] = {"pretty_name": about.name, "configs": [], "dataset_info": []}
    parts = [f"# {about.name}", about.text]
    for table in tables:
        path = table.path or f"data/{table.name}.parquet"
        front["configs"].append({"config_name": table.name, "data_files": [{"split": "train", "path": path}]})
        features = [
            {"name": name, ("sequence" if column.type.endswith("[]") else "dtype"): TYPES[column.type][0]}
            for name, column in table.columns.items()
        ]
        splits = [{"name": "train", "num_examples": counts[table.name]}]
        front["dataset_info"].append({"config_name": table.name, "features": features, "splits": splits})
        lines = [f"| `{name}` | {column.meaning} |" for name, column in table.columns.items()]
        parts.append("\n".join([f"## {table.name}", "", "| column | meaning |", "|---|---|", *lines]))
    written = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return f"---\n{written}---\n\n" + "\n\n".join(filter(None, parts)) + "\n"


def croissant(about: About, tables: Iterable[Table], files: Mapping[str, bytes]) -> dict[str, object]:
    """croissant.json (MLCommons, version 1.0): each file with its SHA-256, and each table as a record set."""
    tables = list(tables)
    distribution = [
        {
            "@type": "cr:FileObject",
            "@id": f"{table.name}.parquet",
            "name": f"{table.name}.parquet",
            "contentUrl": f"data/{table.name}.parquet",
            "encodingFormat": "application/x-parquet",
            "sha256": hashlib.sha256(files[table.name]).hexdigest(),
        }
        for table in tables
    ]
    return {
        "@context": CROISSANT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": about.slug,
        "description": about.text or about.name,
        "distribution": distribution,
        "recordSet": [_record_set(table) for table in tables],
    }


def _record_set(table: Table) -> dict[str, object]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table.name}/{name}",
            "name": name,
            "description": column.meaning,
            "dataType": TYPES[column.type][1],
            "source": {"fileObject": {"@id": f"{table.name}.parquet"}, "extract": {"column": name}},
            **({"repeated": True} if column.type.endswith("[]") else {}),
        }
        for name, column in table.columns.items()
    ]
    return {"@type": "cr:RecordSet", "@id": table.name, "name": table.name, "field": fields}
