"""Values that satisfy a JSON schema as pydantic writes them. What a value should be is asked of an informant first."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

Schema = dict[str, Any]
Informant = Callable[[tuple[str, ...], Schema], Any]

UNKNOWN: Final = object()
_DEEP: Final = 6
_FORMATS: Final = {
    "date-time": "2025-01-01T12:00:00Z",
    "date": "2025-01-01",
    "time": "12:00:00Z",
    "duration": "PT5M",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "email": "simulated@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


class Generator:
    """informant(path, schema) gives a value or UNKNOWN; path holds the property names from the root."""

    def __init__(self, root: Schema, rng: Random, informant: Informant) -> None:
        self._root = root
        self._rng = rng
        self._informant = informant

    def generate(self) -> object:
        return self._value(self._root, ())

    def _value(self, schema: Schema, path: tuple[str, ...]) -> object:
        schema = self._resolve(schema, len(path))
        if "const" in schema:
            return schema["const"]
        informed = self._informant(path, schema)
        if informed is not UNKNOWN:
            return informed
        if "enum" in schema:
            return self._rng.choice(schema["enum"])
        return self._by_type(_type_of(schema), schema, path)

    def _by_type(self, kind: str, schema: Schema, path: tuple[str, ...]) -> object:
        match kind:
            case "object":
                return self._object(schema, path)
            case "array":
                return self._array(schema, path)
            case "integer" | "number":
                return fit_number(schema, self._rng.random())
            case "boolean":
                return self._rng.random() < 0.5
            case "null":
                return None
            case _:
                return fit_string(schema, "A simulated answer.")

    def _object(self, schema: Schema, path: tuple[str, ...]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        names = [name for name in properties if name in required or len(path) < _DEEP]
        value = {name: self._value(properties[name], (*path, name)) for name in names}
        extra = schema.get("additionalProperties")
        if not properties and isinstance(extra, dict):
            value = {name: self._value(extra, (*path, name)) for name in ("first", "second")}
        return value

    def _array(self, schema: Schema, path: tuple[str, ...]) -> list[Any]:
        fixed = [self._value(item, path) for item in schema.get("prefixItems", [])]
        items = schema.get("items") if isinstance(schema.get("items"), dict) else None
        low, high = schema.get("minItems", 0), schema.get("maxItems", 12)
        count = min(max(low, 2 if len(path) < _DEEP and items else 0), high)
        if items is None:
            return fixed
        choices = self._resolve(items, len(path)).get("enum")
        if choices and (schema.get("uniqueItems") or count > 1):
            return self._rng.sample(choices, min(len(choices), max(high if high < 12 else len(choices), low)))
        return [*fixed, *(self._value(items, path) for _ in range(count - len(fixed)))]

    def _resolve(self, schema: Schema, depth: int) -> Schema:
        """Follows $ref, joins allOf, and takes one branch of anyOf: null only where it would go too deep."""
        while True:
            if "$ref" in schema:
                schema = {**self._lookup(schema["$ref"]), **_without(schema, "$ref")}
            elif "allOf" in schema:
                schema = _join(schema["allOf"], _without(schema, "allOf"))
            elif branches := schema.get("anyOf") or schema.get("oneOf"):
                schema = {**_branch(branches, depth), **_without(schema, "anyOf", "oneOf", "default", "discriminator")}
            else:
                return schema

    def _lookup(self, reference: str) -> Schema:
        target: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            target = target.get(step, {}) if step else target
        return dict(target)


def fit_number(schema: Schema, share: float) -> float:
    """The number that lies at `share` (0 to 1) of the schema's range; 0 to 10 where it names none."""
    low, high = bounds(schema, (0.0, 10.0))
    value = low + (high - low) * min(max(share, 0.0), 1.0)
    step = schema.get("multipleOf") or (1 if _type_of(schema) == "integer" else None)
    if step:
        value = min(max(-(-low // step), round(value / step)), high // step) * step
    open_end = value in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
    value = (low + high) / 2 if open_end and not step else value
    return int(value) if _type_of(schema) == "integer" else round(value, 4)


def bounds(schema: Schema, default: tuple[float, float]) -> tuple[float, float]:
    """The schema's inclusive range; a missing end is taken from the default, or ten away from the other one."""
    step = 1 if _type_of(schema) == "integer" else 0
    low = schema.get("minimum", schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else None)
    high = schema.get("maximum", schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else None)
    if low is None:
        low = default[0] if high is None or high >= default[0] else high - 10
    if high is None:
        high = default[1] if low <= default[1] else low + 10
    return float(low), float(high)


def fit_string(schema: Schema, text: str) -> str:
    """The text cut or repeated to the schema's length, or an example of its format."""
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    low = schema.get("minLength", 0)
    while len(text) < low:
        text = f"{text} {text}" if text else "x" * low
    return text[: schema.get("maxLength", len(text))]


def _type_of(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
    return str(kind)


def _branch(branches: list[Schema], depth: int) -> Schema:
    empty = [branch for branch in branches if branch.get("type") == "null"]
    return (empty if empty and depth >= _DEEP else [b for b in branches if b.get("type") != "null"] or empty)[0]


def _join(parts: list[Schema], rest: Schema) -> Schema:
    joined: Schema = {}
    for part in (*parts, rest):
        properties = {**joined.get("properties", {}), **part.get("properties", {})}
        required = [*joined.get("required", []), *part.get("required", [])]
        joined = {**joined, **part, "properties": properties, "required": required}
    return joined if joined["properties"] else _without(joined, "properties", "required")


def _without(schema: Schema, *names: str) -> Schema:
    return {name: value for name, value in schema.items() if name not in names}
