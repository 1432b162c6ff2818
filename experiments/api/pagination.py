"""Pages of lists: the cursors of the API, and pages that begin beside the row at which another one ended."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class NewestFirst(CursorPagination):
    ordering = "-id"
    page_size_query_param = "page_size"
    max_page_size = 500

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        return tuple(getattr(view, "cursor_ordering", None) or [self.ordering])


PAGE_PARAMETERS = [
    OpenApiParameter("cursor", str, description="The pagination cursor value."),
    OpenApiParameter("page_size", int, description="Number of results to return per page."),
]


class PageOfRows(TypedDict):
    """next, previous: addresses. results: the rows, which are to be put into their own form."""

    next: str | None
    previous: str | None
    results: Sequence[Any]


def page_of_rows(request: Request, rows: Sequence[Any], name: Callable[[Any], str]) -> PageOfRows:
    """A page of rows that do not come from one table alone, in the form of the others. name: what tells a row from the
    others, and stands in the cursor: rows that come or go meanwhile move nothing.
    """
    size, cursor, first = _size(request), request.query_params.get("cursor", ""), 0
    if cursor:
        try:
            last = urlsafe_b64decode(cursor.encode()).decode()
            first = [name(row) for row in rows].index(last) + 1
        except ValueError as error:
            raise NotFound(_("Invalid cursor")) from error
    page = rows[first : first + size]
    before = name(rows[first - size - 1]) if first > size else ""
    return {
        "next": _link(request, name(page[-1])) if page and first + size < len(rows) else None,
        "previous": _link(request, before) if first else None,
        "results": page,
    }


def _size(request: Request) -> int:
    text = request.query_params.get("page_size", "")
    if not text:
        return int(NewestFirst.page_size or 0)
    if not text.isascii() or not text.isdigit() or not int(text[:9]) > 0:
        raise ValidationError({"page_size": [_("Enter a whole number.")]})
    return min(int(text[:9]), NewestFirst.max_page_size)


def _link(request: Request, name: str) -> str:
    query = request.query_params.copy()
    query.pop("cursor", None)
    if name:
        query["cursor"] = urlsafe_b64encode(name.encode()).decode()
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}" if query else request.path)


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
    newer = _name_of_place(shown[0]) if shown and has_newer else None
    older = _name_of_place(shown[-1]) if shown and has_older else None
    return Page([key for key, _created in shown], newer, older)


def _name_of_place(row: tuple[UUID, datetime]) -> str:
    return f"{row[1].isoformat()}_{row[0]}"


def _place(name: str) -> tuple[datetime, UUID] | None:
    """None for what no page has said."""
    created, _line, key = name.replace(" ", "+").partition("_")
    try:
        at, found = datetime.fromisoformat(created), UUID(key)
    except ValueError:
        return None
    return (at, found) if at.tzinfo else None
