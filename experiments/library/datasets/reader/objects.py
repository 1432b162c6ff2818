"""JSON objects of strangers."""

import json
from collections import Counter
from typing import Any

from experiments.library.datasets.reader.errors import CannotRead

Row = dict[str, object]


def object_of(text: str, file: str, number: int) -> Row:
    """Raises CannotRead for what is none. number: of its row, counted from 1."""
    try:
        row = DECODER.decode(text)
    except (ValueError, RecursionError, CannotRead) as error:
        raise refused(error, file, number) from error
    if not isinstance(row, dict):
        raise CannotRead("no_object", file=file, row=number)
    return row


def refused(error: Exception, file: str, number: int) -> CannotRead:
    """Why a row could not be read."""
    if isinstance(error, CannotRead):
        return CannotRead(error.code, file=file, row=number, **error.facts)
    return CannotRead("too_deep" if isinstance(error, RecursionError) else "unreadable_row", file=file, row=number)


def _single(pairs: list[tuple[str, Any]]) -> Row:
    """An object of which no field is said twice: nobody could tell which is meant."""
    row = dict(pairs)
    if len(row) < len(pairs):
        [(twice, _times)] = Counter(name for name, _value in pairs).most_common(1)
        raise CannotRead("field_twice", column=twice[:100])
    return row


DECODER = json.JSONDecoder(object_pairs_hook=_single)
