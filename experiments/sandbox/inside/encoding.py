"""A value as text for the parent, made without asking the value what it is.

The text is JSON; whatever is not plain is an array whose first part says what follows:
["l", items…] a list, ["d", key, value, …] an object, ["s", items…] a set, ["f", "nan"] a number that JSON has no word
for, ["i", "0x…"] a long whole number. Only built-in types are written, those derived from them by the built-in's own
methods. The names below are held from before the program runs, so that patching `builtins` changes nothing here.
"""

from _json import encode_basestring_ascii as quoted
from builtins import (  # noqa: UP029 — held from before the program can change them
    bytearray,
    bytes,
    dict,
    float,
    getattr,
    id,
    int,
    isinstance,
    issubclass,
    iter,
    len,
    memoryview,
    object,
    set,
    str,
    type,
)
from sys import modules

TYPE_CHECKING = False  # importing `typing` would cost every test its milliseconds
if TYPE_CHECKING:
    from typing import Any

LONG_DIGITS = 4300  # what Python reads back from text without being told otherwise
LONG_BITS = 14_284  # the same in binary
SHORT_BITS = 2_000  # below the lowest bound that a program can set for text of numbers (640 digits)

iterate_list, iterate_tuple, iterate_set, iterate_frozen = (
    list.__iter__,
    tuple.__iter__,
    set.__iter__,
    frozenset.__iter__,
)
add, bits, add_float, text_of_float, hexadecimal = int.__add__, int.bit_length, float.__add__, float.__repr__, hex
items_of, text_of_int, copied = dict.items, int.__repr__, str.__str__
Anything = object


class NotJSON(Exception):
    """The value cannot be handed over; the message says why."""


class Encoder:
    """Writes one value. `depth` is of lists in lists, `items` counts everything written, `size` is in characters."""

    def __init__(self, depth: int, items: int, size: int) -> None:
        self.depth, self.items, self.size = depth, items, size
        self.parts: list[str] = []
        self.open: set[int] = set()

    def text(self, value: "Any") -> str:
        """Raises NotJSON."""
        self.write(value)
        return "".join(self.parts)

    def add(self, part: str) -> None:
        self.size -= len(part) + 1
        if self.size < 0:
            raise NotJSON("the value is too long")
        self.parts.append(part)

    def write(self, value: "Any") -> None:
        self.items -= 1
        if self.items < 0:
            raise NotJSON("the value has too many parts")
        kind = type(value)
        if value is None or value is True or value is False:
            self.add("null" if value is None else "true" if value is True else "false")
        elif issubclass(kind, str):
            self.add(self.string(value))
        elif issubclass(kind, int):
            self.add(whole_number(value))
        elif issubclass(kind, float):
            self.add(number(value))
        else:
            if id(value) in self.open:
                raise NotJSON("the value contains itself")
            if len(self.open) >= self.depth:
                raise NotJSON("the value is nested too deeply")
            self.open.add(id(value))
            self.write_many(value, kind)
            self.open.remove(id(value))

    def string(self, value: "Any") -> str:
        if str.__len__(value) > self.size:
            raise NotJSON("the value is too long")
        return quoted(value)

    def write_many(self, value: "Any", kind: type) -> None:
        if issubclass(kind, dict):
            return self.write_object(items_of(value))
        if (found := fraction(value, kind)) is not None:
            return self.add(number(found))
        known = all_attributes(kind)
        # A generator, an iterator, a range, a view, a deque or the like has items, too.
        has_items = "__iter__" in known and ("__next__" in known or "__len__" in known)
        if not issubclass(kind, (bytes, bytearray, memoryview, type)):
            if "__dataclass_fields__" in known:
                return self.write_object([(name, getattr(value, name)) for name in type(value).__dataclass_fields__])
            for base, iterate, tag in SEQUENCES:
                if issubclass(kind, base):
                    return self.write_items(iterate(value), tag)
            if has_items:
                return self.write_items(iter(value), "l")
        raise NotJSON(f"a value of type {name_of(kind)} is not JSON")

    def write_items(self, items: "Any", tag: str) -> None:
        self.add(f'["{tag}"')
        for item in items:
            self.parts.append(",")
            self.write(item)
        self.parts.append("]")

    def write_object(self, pairs: "Any") -> None:
        self.add('["d"')
        for key, value in pairs:
            self.parts.append(",")
            self.add(self.string(key_of(key)))
            self.parts.append(",")
            self.write(value)
        self.parts.append("]")


def key_of(key: "Any") -> "Any":
    """The key as JSON writes it: text, or the text of a plain number, true, false or null."""
    kind = type(key)
    if issubclass(kind, str):
        return key
    if key is None or key is True or key is False:
        return {None: "null", True: "true", False: "false"}[key]
    if issubclass(kind, int) and bits(key) <= SHORT_BITS:
        return text_of_int(add(key, 0))
    if issubclass(kind, float):
        return text_of_float(key)
    raise NotJSON(f"an object's key of type {name_of(kind)} is not JSON")


def whole_number(value: "Any") -> str:
    exact = add(value, 0)
    length = bits(exact)
    if length <= SHORT_BITS:
        return text_of_int(exact)
    if length > LONG_BITS:
        raise NotJSON(f"a whole number of more than {LONG_DIGITS} digits")
    return f'["i","{hexadecimal(exact)}"]'


def number(value: "Any") -> str:
    exact = add_float(value, 0.0)
    text = text_of_float(exact)
    return text if text[-1] not in "nf" else f'["f","{text}"]'


def fraction(value: "Any", kind: type) -> "float | int | None":
    """A Decimal's or a Fraction's value as a number; None for what is neither. Neither module is loaded for it."""
    for module, name in (("decimal", "Decimal"), ("fractions", "Fraction")):
        base = getattr(modules.get(module), name, None)
        if isinstance(base, type) and issubclass(kind, base):
            return add_float(base.__float__(value), 0.0)  # type: ignore[attr-defined]  # both have it
    return None


def all_attributes(kind: type) -> "set[str]":
    return {name for base in type.__dict__["__mro__"].__get__(kind) for name in type.__dict__["__dict__"].__get__(base)}


def name_of(kind: type) -> str:
    return copied(type.__dict__["__name__"].__get__(kind))[:80]


SEQUENCES = (
    (list, iterate_list, "l"),
    (tuple, iterate_tuple, "l"),
    (set, iterate_set, "s"),
    (frozenset, iterate_frozen, "s"),
)
