"""Rows as lines of JSON that are the same whichever database they come from, and back into rows.

What PostgreSQL and SQLite hold of the same row is equal as values, not as bytes: jsonb sorts names and writes 1e+22 as
a whole number. So a row's hash is that of its values, with names sorted, and a table's hash is the sum of its rows'
hashes, which no order of rows and no collation changes.
"""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypedDict
from uuid import UUID

from django.apps.registry import Apps
from django.db import connections, models
from django.utils.duration import duration_string

from experiments.models.coding import ExactJSONField

AT_ONCE = 1000  # rows that are read, or written, with one question to the database
LEFT_OUT = {  # sign-ins and one-time links, what machines have in common, and what is made again from the rest
    "accounts.commonmark",
    "accounts.firstadminlink",
    "sessions.session",
    "usersessions.usersession",
    "experiments.passage",
    "experiments.sandboxhost",
}
OURS = ("accounts", "experiments", "leaderboard")
ODD_NUMBERS = re.compile(r"\de\+|-0\.0")
HASHES = 2**256
Row = list[Any]


class Tallied(TypedDict):
    rows: int
    digest: str


@dataclass(slots=True)
class Tally:
    """How many rows there were, and the sum of their hashes."""

    rows: int = 0
    total: int = 0

    def add(self, canonical: str) -> None:
        self.rows += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(canonical.encode()).digest(), "big")) % HASHES

    @property
    def digest(self) -> str:
        return f"{self.total:064x}"

    def said(self) -> Tallied:
        return {"rows": self.rows, "digest": self.digest}


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

    def rows(self, using: str) -> Iterator[Row]:
        """As values that JSON knows, in the order of their keys."""
        exact = [number for number, field in enumerate(self.fields) if isinstance(field, ExactJSONField)]
        found = self.model._base_manager.using(using).order_by("pk").values_list(*self.columns)
        for values in found.iterator(chunk_size=AT_ONCE):
            row = [plain(value) for value in values]
            for number in exact:  # its names keep their order, as text
                row[number] = self.fields[number].get_prep_value(values[number])
            yield row

    def write(self, rows: Iterable[Row], using: str) -> None:
        """Raises django.db.Error."""
        connection = connections[using]
        names = ", ".join(connection.ops.quote_name(field.column) for field in self.fields)
        places = ", ".join(["%s"] * len(self.fields))
        table = connection.ops.quote_name(self.model._meta.db_table)
        some: list[Row] = []
        with connection.cursor() as cursor:
            for row in rows:
                some.append([stored(field, value, connection) for field, value in zip(self.fields, row, strict=True)])
                if len(some) == AT_ONCE:
                    cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", some)  # noqa: S608
                    some = []
            if some:
                cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", some)  # noqa: S608


def tables(apps: Apps, using: str) -> list[Table]:
    """What is kept, in a fixed order. Tables that belong to other programs are not ours to keep."""
    there = set(connections[using].introspection.table_names())
    found = (Table(model) for model in apps.get_models(include_auto_created=True))
    ours = [t for t in found if t.model._meta.managed and t.model._meta.db_table in there and t.name not in LEFT_OUT]
    return sorted(ours, key=lambda table: table.name)


def line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def canonical(row: Row) -> str:
    """The line that is hashed."""
    text = line(row)
    if ODD_NUMBERS.search(text):
        row = _numbers_evened(row)
        text = line(row)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"), sort_keys=True) if "{" in text else text


def plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | list | dict):
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_string(value)
    if isinstance(value, bytes | memoryview):
        return b64encode(bytes(value)).decode("ascii")
    raise TypeError(f"{type(value).__name__} has no form in a backup")


def stored(field: Any, value: Any, connection: Any) -> Any:
    """What the database is handed for a value of a line."""
    if isinstance(field, ExactJSONField):
        return value
    if value is None and isinstance(field, models.JSONField) and not field.null:
        return connection.ops.adapt_json_value(None, field.encoder)  # the null of JSON: a column without NULL has it
    return field.get_db_prep_save(field.to_python(value), connection)


def _numbers_evened(value: Any) -> Any:
    """Numbers as PostgreSQL gives them back: no negative zero, and great ones written out."""
    if isinstance(value, dict):
        return {name: _numbers_evened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_numbers_evened(inner) for inner in value]
    if isinstance(value, float) and value == 0:
        return 0.0
    if isinstance(value, float) and abs(value) >= 1e16 and value.is_integer():
        return int(Decimal(repr(value)))
    return value
