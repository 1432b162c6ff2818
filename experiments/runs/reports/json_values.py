"""From bytes that somebody sent to a JSON value that every database can hold, or the place of what none can."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from accounts.errors import Errors, Invalid
from experiments.engine.text import is_storable

MOST_BYTES = 20 << 20
DEEPEST = 60
MOST_COMPLAINTS = 20
LARGEST_INTEGER = 2**63

Trail = tuple["Trail", str | int] | None


class InvalidDocument(Invalid):
    """The document cannot be taken over. errors: places in it (`messages[3].turn`) to sentences."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(dict(list(errors.items())[:MOST_COMPLAINTS]))

    def __str__(self) -> str:
        return " ".join(f"{place}: {' '.join(said)}" for place, said in self.errors.items())


def parse(data: bytes) -> Any:
    """The JSON value. A name that stands twice in an object is refused: programs differ in which one they believe.

    Raises InvalidDocument.
    """
    if len(data) > MOST_BYTES:
        raise InvalidDocument({"document": [_("The file is larger than %(most)s MiB.") % {"most": MOST_BYTES >> 20}]})
    try:
        return json.loads(data, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise InvalidDocument({"document": [_("The JSON is nested too deeply.")]}) from error
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        said = _("This is not valid JSON: error at line %(line)s, column %(column)s.")
        raise InvalidDocument({"document": [said % where]}) from error
    except ValueError as error:  # bytes that are no text, numbers of thousands of digits
        raise InvalidDocument({"document": [_("This is not valid JSON: %(error)s.") % {"error": error}]}) from error


def check(value: Any) -> None:
    """Refuse what a database cannot hold: NUL, half surrogate pairs, NaN, integers beyond 64 bits, endless depth.

    Without recursion, because strangers decide how deep it is. Raises InvalidDocument.
    """
    if errors := {place(trail): [said] for trail, said in _complaints(value)}:
        raise InvalidDocument(errors)


def place(trail: Trail) -> str:
    """Where in the document, as people write it: messages[3].turn."""
    parts: list[str] = []
    while trail is not None:
        trail, key = trail
        parts.append(f"[{key}]" if isinstance(key, int) else f".{key[:80]}")
    return "".join(reversed(parts)).removeprefix(".") or "document"


def _complaints(value: Any) -> Iterator[tuple[Trail, str]]:
    unstorable = _("The text has characters that cannot be stored (NUL or half a surrogate pair).")
    waiting: list[tuple[Any, Trail, int]] = [(value, None, 0)]
    while waiting:
        item, trail, depth = waiting.pop()
        if depth > DEEPEST:
            yield trail, _("It is nested deeper than %(most)s levels.") % {"most": DEEPEST}
        elif isinstance(item, dict):
            yield from ((trail, unstorable) for key in item if not isinstance(key, str) or not is_storable(key))
            waiting += [(inner, (trail, str(key)), depth + 1) for key, inner in item.items()]
        elif isinstance(item, list | tuple):
            waiting += [(inner, (trail, number), depth + 1) for number, inner in enumerate(item)]
        elif isinstance(item, str) and not is_storable(item):
            yield trail, unstorable
        elif isinstance(item, float) and not math.isfinite(item):
            yield trail, _("Enter a finite number.")
        elif isinstance(item, int) and not -LARGEST_INTEGER <= item < LARGEST_INTEGER:
            yield trail, _("The number is too large.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        [(twice, _times)] = Counter(name for name, _value in pairs).most_common(1)
        said = _("The name “%(name)s” occurs twice in the same object.") % {"name": twice[:80]}
        raise InvalidDocument({"document": [said]})
    return made


def _refuse_constant(name: str) -> None:
    raise InvalidDocument({"document": [_("%(name)s is not a number of JSON.") % {"name": name}]})
