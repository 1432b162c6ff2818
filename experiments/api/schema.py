"""How each operation and each type of event is described: what every operation may answer is added in one place."""

import re
from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from rest_framework.permissions import SAFE_METHODS

from accounts.permissions import HasScope, scope_of
from experiments.api.problems import PROBLEM_TYPE, ProblemSerializer
from experiments.api.requests import IDEMPOTENCY_KEY
from experiments.workflows import event_classes

PREFIX = "Event"  # of the parts of an event's data: rows that the API shows by themselves have schemas of their own
OTHER = "OtherEvent"

Schema = dict[str, Any]


class Untitled(GenerateJsonSchema):
    """Without titles, which would repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class KeyHeaderScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular has it untyped
    target_class = "accounts.authentication.KeyHeaderAuthentication"
    name = "keyHeader"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "X-API-Key"}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular has it untyped
    target_class = "accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


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


SENTENCE = re.compile(r"\.(?=\s|$)")
ANSWERS = {
    200: "The request succeeded.",
    201: "Created: the body is the new object.",
    202: "Accepted: a worker does the work.",
    204: "Done. The response has no body.",
    304: "Not modified since the version that `If-None-Match` names.",
    400: "The request is malformed or a field is invalid: see `errors`.",
    401: "The token is missing or invalid.",
    403: "Your role, your place in the project or the scopes of your token do not allow this.",
    404: "There is no such thing, or none that you may know of.",
    406: "Not available in the type that `Accept` requests.",
    409: "The request conflicts with the current state, or the `Idempotency-Key` was used for a different request.",
    413: "The request is too large.",
    415: "The type of the body is not supported.",
    429: "Too many requests: retry after the seconds in `Retry-After`.",
    502: "The provider failed to answer: see `detail`.",
    503: "A part of the platform is down: the answer says which.",
    504: "The answer takes longer than the request waits; the work continues.",
}
ANY_BODY = (413, 415)
HEADERS = {
    "ETag": ("string", "Send it as `If-None-Match` to get 304 while nothing has changed."),
    "X-RateLimit-Limit": ("integer", "Requests allowed in this minute."),
    "X-RateLimit-Remaining": ("integer", "Requests left in this minute."),
    "X-RateLimit-Reset": ("integer", "Seconds until the count starts again."),
    "Retry-After": ("integer", "Seconds to wait before the next request."),
}
LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


class Described(AutoSchema):
    """An operation of the API, with its summary, its scope, and every status that it can answer."""

    def get_summary(self) -> str:
        return SENTENCE.split(self._words(), maxsplit=1)[0].replace("\n", " ").strip()

    def get_description(self) -> str:  # type: ignore[override]  # the stub says that it takes nothing else
        scope = f"\n\nScope of a token: `{found}`." if (found := self._scope()) else ""
        return f"{self._words()}{scope}"

    def get_override_parameters(self) -> list[Any]:
        own = list(super().get_override_parameters())
        return [*own, IDEMPOTENCY_KEY] if self._spends() else own

    def _words(self) -> str:
        return str(super().get_description()).strip()

    def _handler(self) -> Any:
        return getattr(self.view, getattr(self.view, "action", None) or self.method.lower(), None)

    def _spends(self) -> bool:
        return bool(getattr(self._handler(), "spends", False))

    def _scope(self) -> str | None:
        if HasScope not in self.view.permission_classes:
            return None
        return str(getattr(self._handler(), "scope", None) or scope_of(self.view, self.method))

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        found = super()._get_response_bodies(direction)
        for status in self.statuses_of_problems():
            found.setdefault(str(status), self._get_response_for_code(ProblemSerializer, str(status)))
        if self.method in SAFE_METHODS and "200" in found and self._scope():
            found.setdefault("304", {"description": ANSWERS[304]})
        return dict(sorted(found.items()))

    def statuses_of_problems(self) -> list[int]:
        """Which of them are added to those that the operation names itself."""
        if not self._scope():
            return [406, 429] if self.view.throttle_classes else [406]
        has_body = self.method in {"POST", "PUT", "PATCH"}
        return [400, 401, 403, 404, 406, 429, *(ANY_BODY if has_body else ()), *([409] if self._spends() else ())]

    def _get_response_for_code(
        self, serializer: Any, status_code: Any, media_types: Any = None, direction: Any = "response"
    ) -> Any:
        if serializer is None and str(status_code).startswith("4"):
            serializer = ProblemSerializer
        types = [PROBLEM_TYPE] if serializer is ProblemSerializer else media_types
        found = super()._get_response_for_code(serializer, status_code, types, direction)  # type: ignore[no-untyped-call]  # drf-spectacular has it untyped
        if not found["description"] or found["description"] == "No response body":
            found["description"] = ANSWERS.get(int(status_code)) or HTTPStatus(int(status_code)).phrase
        return found


def with_headers(result: Any, generator: Any, request: Any, public: bool) -> Any:
    """What stands in the headers of answers, once for all; and the words of each group of operations."""
    headers = {name: {"description": said, "schema": {"type": type_}} for name, (type_, said) in HEADERS.items()}
    result.setdefault("components", {})["headers"] = headers
    for methods in result["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                if "429" not in operation["responses"] or not (status.startswith(("2", "3")) or status == "429"):
                    continue
                has_etag = status in {"200", "304"} and "304" in operation["responses"]
                first = ["Retry-After"] if status == "429" else ["ETag"] if has_etag else []
                told = {name: {"$ref": f"#/components/headers/{name}"} for name in (*first, *LIMITS)}
                answer["headers"] = {**told, **answer.get("headers", {})}
    return result


def with_plain_values(result: Any, generator: Any, request: Any, public: bool) -> Any:
    """A field that may be any JSON may be null too: said twice, null would fit both, which `oneOf` forbids."""
    for schema in result["components"].get("schemas", {}).values():
        for field in schema.get("properties", {}).values():
            if {} in field.get("oneOf", ()):
                del field["oneOf"]
    return result
