"""Events in the description of the API: a schema for each type, from the class of its data, and one for other types."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from experiments.workflows import event_classes

PREFIX = "Event"  # of the parts of an event's data: rows that the API shows by themselves have schemas of their own
OTHER = "OtherEvent"

Schema = dict[str, Any]


class Untitled(GenerateJsonSchema):
    """Without titles, which would repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class EventSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # drf-spectacular has it untyped
    target_class = "experiments.api.serializers.EventSerializer"

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> Schema:
        """The envelope, which all types share, and what each type says in it."""
        types = {type_: f"{cls.__name__.removesuffix('Data')}Event" for type_, cls in event_classes().items()}
        refs = {name: _register(auto_schema, name, schema) for name, schema in _components(types).items()}
        return {
            **auto_schema._map_basic_serializer(self.target, direction),  # type: ignore[no-untyped-call]  # drf-spectacular has it untyped
            "oneOf": [refs[name] for name in (*types.values(), OTHER)],
            "discriminator": {
                "propertyName": "type",
                "mapping": {type_: refs[name]["$ref"] for type_, name in types.items()},
            },
        }


def _register(auto_schema: AutoSchema, name: str, schema: Schema) -> Schema:
    component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=schema)  # type: ignore[no-untyped-call]  # drf-spectacular has it untyped
    auto_schema.registry.register_on_missing(component)
    return component.ref


def _components(types: dict[str, str]) -> dict[str, Schema]:
    """The schemas of events by their names, and of the parts of their data."""
    classes = event_classes()
    definitions = _definitions()
    events = {name: _event({"const": type_}, definitions.pop(classes[type_].__name__)) for type_, name in types.items()}
    parts = {f"{PREFIX}{name}": schema for name, schema in definitions.items()}
    others = {"type": "object", "description": "Of a type that is not described here."}
    return {**events, OTHER: _event({"not": {"enum": list(types)}}, others), **parts}


def _definitions() -> dict[str, Schema]:
    """The schemas of the classes of data and of their parts, by the names of the classes. What a later release may add
    is no error, and a type stands in the envelope.
    """
    classes = [(cls, "serialization") for cls in event_classes().values()]
    template = f"#/components/schemas/{PREFIX}{{model}}"
    _refs, found = models_json_schema(classes, ref_template=template, schema_generator=Untitled)  # type: ignore[arg-type]  # a mode is a literal
    for schema in found["$defs"].values():
        schema.pop("additionalProperties", None)
        schema.pop("title", None)
    for cls in event_classes().values():
        found["$defs"][cls.__name__]["properties"].pop("type")
    return dict(found["$defs"])


def _event(type_: Schema, data: Schema) -> Schema:
    properties = {"type": {"type": "string", **type_}, "data": data}
    return {"type": "object", "properties": properties, "required": ["type", "data"]}
