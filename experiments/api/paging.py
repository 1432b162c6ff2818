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
    if after and not before:
        return _newer(rows, after, size)
    found = _keys(_beside(rows, before, "lt").order_by("-created", "-id"), size + 1) if before else None
    if found is None:
        found = _keys(rows.order_by("-created", "-id"), size + 1)
    shown = found[:size]
    return _page(shown, has_newer=bool(before), has_older=len(found) > size)


def _newer(rows: QuerySet[Any], after: tuple[datetime, UUID], size: int) -> Page:
    found = _keys(_beside(rows, after, "gt").order_by("created", "id"), size + 1)
    if not found:
        return page_of(rows, {}, size)
    return _page(found[:size][::-1], has_newer=len(found) > size, has_older=True)


def _page(shown: list[tuple[UUID, datetime]], *, has_newer: bool, has_older: bool) -> Page:
    newer = _name(shown[0]) if shown and has_newer else None
    older = _name(shown[-1]) if shown and has_older else None
    return Page([key for key, _created in shown], newer, older)


def _keys(rows: QuerySet[Any], most: int) -> list[tuple[UUID, datetime]]:
    return list(rows.values_list("pk", "created")[:most])


def _beside(rows: QuerySet[Any], place: tuple[datetime, UUID], side: str) -> QuerySet[Any]:
    """The first condition is what an index is walked by."""
    created, key = place
    beyond = {"lt": "gte", "gt": "lte"}[side]
    return rows.filter(**{f"created__{side}e": created}).exclude(created=created, **{f"pk__{beyond}": key})


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
