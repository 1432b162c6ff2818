"""What came out of a box, read without believing it: a value, or why there is none."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias, cast

from experiments.sandbox.inside.encoding import LONG_BITS
from experiments.sandbox.values import JSON

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # neither PostgreSQL nor UTF-8 holds them
Kind = Literal["value", "printed", "memory", "error", "complaint"]
Value: TypeAlias = "JSON | Set | list[Value] | dict[str, Value]"


class Garbage(Exception):
    """What arrived is no answer of ours."""


@dataclass(frozen=True, slots=True)
class Set:
    """A set's items, in no order that means anything."""

    items: list["Value"]


@dataclass(frozen=True, slots=True)
class Answer:
    """`value` for the kind value, `said` for errors and complaints."""

    kind: Kind
    value: "Value" = None
    said: str = ""


def read(line: bytes, nonce: str) -> Answer:
    """The one line of the result channel. Raises Garbage."""
    try:
        return answer(json.loads(line.decode("ascii"), parse_constant=refuse), nonce)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise Garbage(str(error)) from error


def answer(found: Any, nonce: str) -> Answer:
    if found.pop("nonce") != nonce or len(found) != 1:
        raise Garbage("no answer of this test")
    kind, body = found.popitem()
    if kind == "value":
        return Answer("value", decoded(body))
    if kind in ("error", "complaint"):
        return Answer(kind, said=storable(str(body)))
    if kind in ("printed", "memory"):
        return Answer(kind)
    raise Garbage(f"an answer of an unknown kind {kind}")


def read_printed(stdout: bytes) -> JSON:
    """The one JSON document that a script printed. Raises Garbage."""
    try:
        return cast(JSON, json.loads(stdout.decode("utf-8"), parse_constant=float))
    except (ValueError, RecursionError) as error:
        raise Garbage(str(error)) from error


def refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def decoded(part: Any) -> Value:
    """The value that `inside/encoding.py` wrote."""
    if not isinstance(part, list):
        return plain(part)
    tag, *rest = part
    if tag == "l":
        return [decoded(item) for item in rest]
    if tag == "s":
        return Set([decoded(item) for item in rest])
    if tag == "d":
        return pairs(rest)
    return number(tag, *rest)


def plain(part: Any) -> JSON:
    if isinstance(part, dict):
        raise Garbage("an object that is not ours")
    return cast(JSON, part)


def pairs(rest: list[Any]) -> dict[str, Value]:
    keys = rest[::2]
    if len(rest) % 2 or not all(isinstance(key, str) for key in keys):
        raise Garbage("keys without values")
    if len(set(keys)) != len(keys):
        raise Garbage("an object has the same key twice once its keys are text")
    return {key: decoded(value) for key, value in zip(keys, rest[1::2], strict=True)}


def number(tag: str, text: str) -> JSON:
    if tag == "f":
        return float(text)
    found = int(text, 16) if tag == "i" else refuse(tag)
    if found.bit_length() > LONG_BITS:
        raise Garbage("a whole number that is too long")
    return found


def presentable(value: Value, depth: int) -> JSON:
    """The value as JSON that every database holds: a set as a list in a fixed order, NaN and infinities as words.

    Raises Garbage when it has more than `depth` lists in lists, which others could not walk through.
    """
    return with_text(value, depth)[0]


def with_text(value: Value, depth: int) -> tuple[JSON, str]:
    """What `presentable` makes of a value, and its text, by which sets are ordered. The text of a list is made of those
    of its items, so that each item is written once however deep it lies.
    """
    if isinstance(value, Set | list | dict) and not depth:
        raise Garbage("the value is nested too deeply")
    if isinstance(value, dict):
        named = {storable(key): with_text(item, depth - 1) for key, item in value.items()}
        words = ", ".join(f"{key!r}: {text}" for key, (_item, text) in named.items())
        return {key: item for key, (item, _text) in named.items()}, f"{{{words}}}"
    if isinstance(value, Set | list):
        items = value.items if isinstance(value, Set) else value
        pairs = [with_text(item, depth - 1) for item in items]
        if isinstance(value, Set):
            pairs.sort(key=lambda pair: pair[1])
        return [item for item, _text in pairs], f"[{', '.join(text for _item, text in pairs)}]"
    if isinstance(value, float) and not math.isfinite(value):
        value = repr(value)
    found = storable(value) if isinstance(value, str) else value
    return found, repr(found)


def storable(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)
