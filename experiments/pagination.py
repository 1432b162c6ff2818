"""Cursor pagination {next, previous, results}; a view names its order in `cursor_ordering`."""

from typing import Any

from rest_framework.pagination import CursorPagination
from rest_framework.request import Request


class NewestFirst(CursorPagination):
    ordering = "-id"
    page_size_query_param = "page_size"
    max_page_size = 500

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        return tuple(getattr(view, "cursor_ordering", None) or [self.ordering])
