"""Rows as lines of JSON, which fit whichever database they come from, and back into rows."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.apps.registry import Apps
from django.db import connections, models
from django.utils.duration import duration_string

from experiments.models.coding import ExactJSONField

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


def _stored(field: Any, value: Any, connection: Any) -> Any:
    """What the database is handed for a value of a line."""
    if isinstance(field, ExactJSONField):
        return value
    if value is None and isinstance(field, models.JSONField) and not field.null:
        return connection.ops.adapt_json_value(None, field.encoder)  # the null of JSON: a column without NULL has it
    return field.get_db_prep_save(field.to_python(value), connection)
