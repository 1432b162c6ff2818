"""Records: frozen values read from JSON. What this version does not know of is kept in `extra`, so that an API which
has grown breaks nobody.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from arena_lab.errors import BadAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Money is a Decimal, a time an aware datetime, and what is missing None."""

    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, data: Any) -> Self:
        """From JSON. Raises BadAnswer when it is something else."""
        if not isinstance(data, Mapping):
            raise BadAnswer(f"{cls.__name__}: an object was expected, not {_shown(data)}.")
        known = fields_of(cls)
        values = {name: _field(cls, name, kind, data) for name, kind in known.items()}
        return cls(**values, extra={name: value for name, value in data.items() if name not in known})

    def to_json(self) -> dict[str, Any]:
        """What `read` was given, with every field."""
        return {name: _plain(getattr(self, name)) for name in fields_of(type(self))} | dict(self.extra)


_FIELDS: dict[type[Record], dict[str, Any]] = {}


def fields_of(cls: type[Record]) -> dict[str, Any]:
    """The fields that are known, with their types."""
    if cls not in _FIELDS:
        hints = get_type_hints(cls)
        _FIELDS[cls] = {one.name: hints[one.name] for one in fields(cls) if one.name != "extra"}
    return _FIELDS[cls]


def _default(cls: type[Record], name: str) -> Callable[[], Any] | None:
    [found] = [one for one in fields(cls) if one.name == name]
    if found.default_factory is not MISSING:
        return found.default_factory
    if found.default is not MISSING:
        return lambda: found.default
    return (lambda: None) if NoneType in get_args(fields_of(cls)[name]) else None


def _field(cls: type[Record], name: str, kind: Any, data: Mapping[str, Any]) -> Any:
    if name in data:
        return _value(kind, data[name], f"{cls.__name__}.{name}")
    default = _default(cls, name)
    if default is None:
        raise BadAnswer(f"{cls.__name__}.{name} is missing: is this client older or newer than the platform?")
    return default()


def _value(kind: Any, raw: Any, place: str) -> Any:
    if kind is Any:
        return raw
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if raw is None and NoneType in inner:
            return None
        [kind] = [one for one in inner if one is not NoneType]
        return _value(kind, raw, place)
    if origin is tuple and isinstance(raw, list):
        return tuple(_value(inner[0], one, place) for one in raw)
    if origin is Mapping and isinstance(raw, Mapping):
        return {str(name): _value(inner[1], one, place) for name, one in raw.items()}
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind.read(raw)
    if kind in _SCALARS:
        return _scalar(kind, raw, place)
    raise BadAnswer(f"{place}: {_shown(raw)} was not expected.")


def _decimal(raw: Any) -> Decimal:
    if isinstance(raw, bool) or not isinstance(raw, str | int):
        raise TypeError
    return Decimal(raw)


def _datetime(raw: str) -> datetime:
    found = datetime.fromisoformat(raw)
    if found.tzinfo is None:
        raise ValueError("a time without a zone")
    return found


def _number(raw: Any) -> float:
    if isinstance(raw, bool):
        raise TypeError
    return float(raw)


def _exactly(kind: type) -> Callable[[Any], Any]:
    def check(raw: Any) -> Any:
        if type(raw) is not kind:
            raise TypeError
        return raw

    return check


_SCALARS: dict[Any, Callable[[Any], Any]] = {
    str: _exactly(str),
    int: _exactly(int),
    bool: _exactly(bool),
    float: _number,
    Decimal: _decimal,
    datetime: _datetime,
    date: date.fromisoformat,
}


def _scalar(kind: Any, raw: Any, place: str) -> Any:
    try:
        return _SCALARS[kind](raw)
    except (TypeError, ValueError, OverflowError, InvalidOperation) as error:
        raise BadAnswer(f"{place}: {_shown(raw)} is no {kind.__name__}.") from error


def _shown(raw: Any) -> str:
    text = repr(raw)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, datetime | date):
        return value.isoformat()
    return f"{value:f}" if isinstance(value, Decimal) else value
