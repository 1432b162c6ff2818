"""Pages of a list that is sorted by when its rows were made, the latest first. A page is where it is, however long the
list: it begins beside the row at which another one ended, and nothing is counted or skipped on the way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class Page:
    """keys: of its rows, the latest first. newer, older: where the pages beside it begin; None where there is none."""

    keys: list[UUID]
    newer: str | None
    older: str | None

    @property
    def is_all(self) -> bool:
        return self.newer is None and self.older is None

    def rows(self, of: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the page, in its sequence, with whatever else `of` fetches."""
        return of.filter(pk__in=self.keys).order_by("-created", "-id")


def page_of(rows: QuerySet[Any], asked: Mapping[str, str], size: int) -> Page:
    """The rows older than what `before` names, newer than what `after` names, or the first ones."""
    before, after = _place(asked.get("before", "")), _place(asked.get("after", ""))
    is_newer = after is not None and before is None
    place, every = after if is_newer else before, rows
    if place:
        created, key = place  # the first condition is what an index is walked by
        rows = rows.filter(**{f"created__{'gte' if is_newer else 'lte'}": created})
        rows = rows.exclude(created=created, **{f"pk__{'lte' if is_newer else 'gte'}": key})
    order = ("created", "id") if is_newer else ("-created", "-id")
    found = list(rows.order_by(*order).values_list("pk", "created")[: size + 1])
    if is_newer and not found:
        return page_of(every, {}, size)
    shown, has_more = found[:size], len(found) > size
    if is_newer:
        shown.reverse()
    has_newer, has_older = (has_more, True) if is_newer else (before is not None, has_more)
    newer = _name(shown[0]) if shown and has_newer else None
    older = _name(shown[-1]) if shown and has_older else None
    return Page([key for key, _created in shown], newer, older)


def _name(row: tuple[UUID, datetime]) -> str:
    return f"{row[1].isoformat()}_{row[0]}"


def _place(name: str) -> tuple[datetime, UUID] | None:
    """None for what no page has said."""
    created, _line, key = name.replace(" ", "+").partition("_")
    try:
        at, found = datetime.fromisoformat(created), UUID(key)
    except ValueError:
        return None
    return (at, found) if at.tzinfo else None
