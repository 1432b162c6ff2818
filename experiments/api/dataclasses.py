"""Serializers whose fields are those of a dataclass."""

from types import NoneType
from typing import Any, ClassVar, get_args, get_type_hints
from uuid import UUID

from rest_framework import serializers

AnyField = serializers.Field[Any, Any, Any, Any]
FIELDS: dict[Any, type[AnyField]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    bool: serializers.BooleanField,
    float: serializers.FloatField,
    UUID: serializers.UUIDField,
}


class DataclassSerializer(serializers.Serializer[Any]):
    # The fields of `dataclass`, in its order, then those that a subclass declares; one declared with the name of a
    # field takes its place. nested: the serializer of a field's own dataclass. A subclass's docstring is its
    # description in the schema, as that of any serializer.
    dataclass: ClassVar[Any]
    nested: ClassVar[dict[Any, type[serializers.Serializer[Any]]]] = {}

    def get_fields(self) -> dict[str, AnyField]:
        found: dict[str, AnyField] = {}
        declared = super().get_fields()
        kinds = {**FIELDS, **self.nested}
        for name, hint in get_type_hints(self.dataclass).items():
            options = get_args(hint) or (hint,)
            if name not in declared:
                found[name] = kinds[options[0]](allow_null=True) if NoneType in options else kinds[options[0]]()
            else:
                found[name] = declared[name]
        return found | declared
