"""What every list of the admin has in common: history is read, and no long table is counted for a list."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import BinaryField, JSONField, Model, QuerySet, TextField
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

from accounts.people import person
from experiments.models import Run
from experiments.review import desk

LONG_FIELDS = (BinaryField, JSONField, TextField)
MOST_COUNTED = 10_000  # rows; what lies beyond is found by its filters


class BoundedPaginator(Paginator[Any]):
    """Counts no further than anybody pages: a million rows are not counted for a list."""

    @cached_property
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
    """History is read, not edited: runs change by the verbs alone. A list fetches what its columns refer to along.

    Opening a row of a run that is not shared with the reader writes an entry of the audit log first. A link to the
    row's own page is shown only to a reader who may open that page.
    """

    view_on_site = False  # Django's link does not ask whether the page opens for the reader

    class Media:
        css = {"all": ["admin-reading.css"]}

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        columns, own = self.get_list_display(request), self.list_select_related
        related = [
            field.name for field in self.model._meta.concrete_fields if field.is_relation and field.name in columns
        ]
        return related if isinstance(own, bool) else [*own, *related]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **more: Any
    ) -> HttpResponse:
        row: Any = more.get("obj")
        run = row if isinstance(row, Run) else getattr(row, "run", None)
        if isinstance(run, Run):
            desk.note_reading(run, by=person(request), opened=row._meta.model_name)
        answer = super().render_change_form(request, context, *args, **more)
        if isinstance(answer, TemplateResponse) and hasattr(row, "get_absolute_url") and is_visible(row, request):
            answer.context_data = {
                **(answer.context_data or {}),
                "has_absolute_url": True,
                "absolute_url": row.get_absolute_url(),
            }
        return answer

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def is_visible(row: Any, request: HttpRequest) -> bool:
    """Whether the row's own page opens for the reader."""
    rows: Any = type(row)._default_manager
    return not hasattr(rows, "visible_to") or rows.visible_to(person(request)).filter(pk=row.pk).exists()


class Long(ReadOnly):
    """A table that grows with every run: it is neither counted as a whole nor searched without an index, and its list
    does without long columns that it does not show. heavy: further ones.
    """

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    heavy: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        is_list = request.resolver_match is not None and str(request.resolver_match.url_name).endswith("_changelist")
        if not is_list:
            return rows
        columns = self.get_list_display(request)
        fields = (one for one in self.model._meta.concrete_fields if isinstance(one, LONG_FIELDS))
        return rows.defer(*self.heavy, *(one.name for one in fields if one.name not in columns))


class Inline(admin.TabularInline[Any, Any]):
    """Rows on the page of a row that is read, not edited; so neither are they."""

    can_delete = False


def table(
    model: type[Model],
    columns: str,
    *,
    filters: str | Sequence[Any] = (),
    search: str = "",
    base: type[ReadOnly] = Long,
    **options: Any,
) -> None:
    """Register a model with a list and rows to be read, and nothing else. Names are given with spaces between them."""
    fields = {
        "list_display": columns.split(),
        "list_filter": filters.split() if isinstance(filters, str) else filters,
        "search_fields": search.split(),
        **options,
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (base,), fields))
