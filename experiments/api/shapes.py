"""Serializers of what the API answers, derived from dataclasses and types: a field is written down once."""

from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

from rest_framework import serializers

FIELDS: dict[Any, Callable[..., serializers.Field[Any, Any, Any, Any]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    UUID: serializers.UUIDField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
    Decimal: partial(serializers.DecimalField, max_digits=20, decimal_places=10),
    dict: serializers.DictField,
}


def shape(name: str, /, *of: type, doc: str = "", **fields: Any) -> Any:
    """A serializer class that only shows. name: of its schema, doc: the schema's description. of: dataclasses whose
    fields it shows, and shapes that it extends. fields: more of them, each a type (`str | None` may be null) or a field
    of REST framework; one with the name of a dataclass's field takes its place, as it has to for a nested dataclass.
    """
    typed: dict[str, Any] = {}
    for dataclass in filter(is_dataclass, of):
        typed |= get_type_hints(dataclass)
    made = {field: _field(type_) for field, type_ in {**typed, **fields}.items()}
    for place, field in enumerate(made.values()):
        field._creation_counter = place  # type: ignore[attr-defined]  # by which REST framework puts fields in order
    bases = tuple(one for one in of if not is_dataclass(one)) or (serializers.Serializer,)
    return type(name, bases, {"__doc__": doc or None, "__module__": __name__, **made})


def _field(type_: Any) -> serializers.Field[Any, Any, Any, Any]:
    if isinstance(type_, serializers.Field):
        return type_
    if get_origin(type_) is Literal:
        return serializers.CharField()
    if get_origin(type_) in (list, tuple):
        return serializers.ListField(child=_field(get_args(type_)[0]))
    parts = get_args(type_)
    if NoneType not in parts:
        return FIELDS[get_origin(type_) or type_]()
    [shown] = [part for part in parts if part is not NoneType]
    return FIELDS[shown](allow_null=True)
