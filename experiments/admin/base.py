"""What every list of the admin has in common: history is read, and no long table is counted for a list."""

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

MOST_COUNTED = 10_000  # rows; what lies beyond is found by its filters


class BoundedPaginator(Paginator[Any]):
    """Counts no further than anybody pages: a million rows are not counted for a list."""

    @property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]  # a query set in the admin, always
        return int(rows.order_by()[:MOST_COUNTED].count())


class LatestValues(admin.AllValuesFieldListFilter):
    """Offers the values that the latest rows have: to look for all of them would be to read the whole table."""

    def __init__(self, field: Any, request: Any, params: Any, model: Any, model_admin: Any, field_path: str) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        latest = model._default_manager.order_by("-pk").values_list(field_path, flat=True)[:MOST_COUNTED]
        self.lookup_choices = sorted(set(latest))  # type: ignore[assignment]  # the stub has pairs of two strings alone


class ReadOnly(admin.ModelAdmin[Any]):
    """History is read, not edited: runs change by the verbs alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Long(ReadOnly):
    """A table that grows with every run: it is neither counted as a whole nor searched without an index.

    heavy: columns that the list does without.
    """

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    heavy: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        is_list = request.resolver_match is not None and str(request.resolver_match.url_name).endswith("_changelist")
        return rows.defer(*self.heavy) if is_list and self.heavy else rows
