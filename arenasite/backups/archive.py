"""What a backup is: a zip archive whose manifest, its last entry, names the hash of every other one. The rows of the
database are in it as lines of JSON, which fit whichever database they come from.

It is written beside its place and moved there whole. Nobody but its owner may read it.
"""

import hashlib
import json
import os
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.apps.registry import Apps
from django.db import connections, models
from django.utils.duration import duration_string

from experiments.models.coding import ExactJSONField
from experiments.tasks import durable

FORMAT = 1
MANIFEST = "manifest.json"
SECRETS = "secrets.json"
FILES = "files/"
QUICK = 3  # of zlib's nine levels
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError, RuntimeError)
AT_ONCE = 1000  # rows that are read, or written, with one question to the database
LEFT_OUT = {  # sign-ins and one-time links, what is made again from the rest, and what earlier versions had in common
    "accounts.commonmark",
    "accounts.firstadminlink",
    "sessions.session",
    "usersessions.usersession",
    "experiments.passage",
    "experiments.sandboxhost",
}
OURS = ("accounts", "experiments", "leaderboard")
Row = list[Any]


class BackupRefused(Exception):
    """A backup cannot be taken, is not whole, or cannot be restored here. The message says what to do."""


# --- the file ---


class Hashing:
    """What is written to it is hashed."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner, self.hash = inner, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return self._inner.write(data)


class Writer:
    """entries: of each entry that is whole, {sha256}."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._zip = archive
        self.entries: dict[str, dict[str, str]] = {}

    @contextmanager
    def entry(self, name: str) -> Iterator[Hashing]:
        with self._zip.open(name, "w", force_zip64=True) as inner:
            hashing = Hashing(inner)
            yield hashing
        self.entries[name] = {"sha256": hashing.hash.hexdigest()}

    def finish(self, manifest: Mapping[str, object]) -> str:
        """The digest of the manifest, which holds for everything that it names."""
        whole = {"format": FORMAT, **manifest, "entries": self.entries}
        digest = digest_of(whole)
        self._zip.writestr(MANIFEST, json.dumps({**whole, "digest": digest}, ensure_ascii=False, indent=1))
        return digest


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """The file appears when the block has ended well, and not at all otherwise. Raises OSError."""
    draft = path.with_name(f".{path.name}.unfinished")
    try:
        with (
            open(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=QUICK) as archive,
        ):
            yield Writer(archive)
        durable.place(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


class Reader:
    """An archive whose every entry was found to be what the manifest says. Raises BackupRefused."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest: dict[str, Any] = json.loads(self._zip.read(MANIFEST))
            made_by = self.manifest.get("format")
            reason = self._damage() if made_by == FORMAT else ""
        except FileNotFoundError as error:
            raise BackupRefused(f"There is no file {path}.") from error
        except (*DAMAGED, AttributeError):
            made_by, reason = FORMAT, "it was cut off, altered, or is something else"
        if made_by != FORMAT:
            raise BackupRefused(
                f"{path} has the format {made_by}, and this version reads {FORMAT}: restore it with the version that "
                "made it."
            )
        if reason:
            raise BackupRefused(
                f"{path} is no whole backup: {reason}. Nothing was changed here. Take another copy of it, or an older "
                "backup."
            )

    def names(self, folder: str) -> list[str]:
        return [name for name in self.manifest["entries"] if name.startswith(folder)]

    def open(self, name: str) -> IO[bytes]:
        return self._zip.open(name)

    def lines(self, name: str) -> Iterator[Row]:
        with self._zip.open(name) as inner:
            for text in inner:
                yield json.loads(text)

    def _damage(self) -> str:
        """What is wrong with it; "" for nothing."""
        expected: dict[str, Any] = self.manifest["entries"]
        if self.manifest["digest"] != digest_of({n: v for n, v in self.manifest.items() if n != "digest"}):
            return "its list of contents was altered"
        if sorted(self._zip.namelist()) != sorted([*expected, MANIFEST]):
            return "it has other contents than its list says"
        for name, entry in expected.items():
            with self._zip.open(name) as inner:
                if hashlib.file_digest(inner, "sha256").hexdigest() != entry["sha256"]:  # type: ignore[arg-type]  # an entry of a zip can be read, and is no file
                    return f"{name} was altered"
        return ""


def digest_of(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


# --- the rows ---


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a model: today's, or that of an earlier state of the migrations."""

    model: type[models.Model]

    @property
    def name(self) -> str:
        return self.model._meta.label_lower

    @property
    def fields(self) -> list[Any]:
        return list(self.model._meta.concrete_fields)

    @property
    def columns(self) -> list[str]:
        return [field.attname for field in self.fields]

    def count(self, using: str) -> int:
        return self.model._base_manager.using(using).count()

    def lines(self, using: str) -> Iterator[bytes]:
        """In the order of their keys."""
        exact = [number for number, field in enumerate(self.fields) if isinstance(field, ExactJSONField)]
        found = self.model._base_manager.using(using).order_by("pk").values_list(*self.columns)
        for values in found.iterator(chunk_size=AT_ONCE):
            row = [_plain(value) for value in values]
            for number in exact:  # its names keep their order, as text
                row[number] = self.fields[number].get_prep_value(values[number])
            yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def write(self, columns: Sequence[str], rows: Iterable[Row], using: str) -> None:
        """columns: of the rows, in their sequence. Raises django.db.Error."""
        connection = connections[using]
        by_name = {field.attname: field for field in self.fields}
        fields = [by_name[name] for name in columns]
        names = ", ".join(connection.ops.quote_name(field.column) for field in fields)
        places = ", ".join(["%s"] * len(fields))
        into = f"INSERT INTO {connection.ops.quote_name(self.model._meta.db_table)} ({names}) VALUES ({places})"  # noqa: S608
        every = ([_stored(*pair, connection) for pair in zip(fields, row, strict=True)] for row in rows)
        with connection.cursor() as cursor:
            while some := list(islice(every, AT_ONCE)):
                cursor.executemany(into, some)


def tables(apps: Apps, using: str) -> list[Table]:
    """What is kept, in a fixed order. Tables that belong to other programs are not ours to keep."""
    there = set(connections[using].introspection.table_names())
    found = (Table(model) for model in apps.get_models(include_auto_created=True))
    ours = [t for t in found if t.model._meta.managed and t.model._meta.db_table in there and t.name not in LEFT_OUT]
    return sorted(ours, key=lambda table: table.name)


def _plain(value: Any) -> Any:
    match value:
        case None | str() | int() | float() | list() | dict():
            return value
        case datetime():
            return value.astimezone(UTC).isoformat()
        case UUID() | Decimal():
            return str(value)
        case date():
            return value.isoformat()
        case timedelta():
            return duration_string(value)
        case bytes() | memoryview():
            return b64encode(bytes(value)).decode("ascii")
    raise TypeError(f"{type(value).__name__} has no form in a backup")


def _stored(field: Any, value: Any, connection: Any) -> Any:
    """What the database is handed for a value of a line."""
    if isinstance(field, ExactJSONField):
        return value
    if value is None and isinstance(field, models.JSONField) and not field.null:
        return connection.ops.adapt_json_value(None, field.encoder)  # the null of JSON: a column without NULL has it
    return field.get_db_prep_save(field.to_python(value), connection)
