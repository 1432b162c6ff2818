"""Serializers that follow a dataclass, so that its fields are written down once."""

from collections.abc import Callable
from types import NoneType
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

from rest_framework import serializers

FIELDS: dict[Any, Callable[..., serializers.Field[Any, Any, Any, Any]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    bool: serializers.BooleanField,
    float: serializers.FloatField,
    UUID: serializers.UUIDField,
}


class DataclassSerializer(serializers.Serializer[Any]):
    # The fields of `dataclass`, in its order. Other dataclasses and sequences of them in it are written by the
    # serializers that were declared for them before. A subclass's docstring is its description in the schema.
    dataclass: ClassVar[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        FIELDS[cls.dataclass] = cls

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {name: _field(hint) for name, hint in get_type_hints(self.dataclass).items()}


def _field(hint: Any) -> serializers.Field[Any, Any, Any, Any]:
    kinds = get_args(hint)
    if get_origin(hint) is Literal:
        return serializers.CharField()
    if get_origin(hint) is tuple:
        return FIELDS[kinds[0]](many=True)
    return FIELDS[kinds[0]](allow_null=True) if NoneType in kinds else FIELDS[hint]()
