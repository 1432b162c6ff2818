"""Cursor pagination {next, previous, results}; a view names its order in `cursor_ordering`."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

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


SHELF = [
    OpenApiParameter("cursor", str, description="The pagination cursor value."),
    OpenApiParameter("page_size", int, description="Number of results to return per page."),
]


class ShelfPage(TypedDict):
    """next, previous: addresses. results: the rows, which are to be put into their own form."""

    next: str | None
    previous: str | None
    results: Sequence[Any]


def page_of_shelf(request: Request, rows: Sequence[Any], name: Callable[[Any], str]) -> ShelfPage:
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
        raise ValidationError({"page_size": [_("A whole number is needed.")]})
    return min(int(text[:9]), NewestFirst.max_page_size)


def _link(request: Request, name: str) -> str:
    query = request.query_params.copy()
    query.pop("cursor", None)
    if name:
        query["cursor"] = urlsafe_b64encode(name.encode()).decode()
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}" if query else request.path)
