"""Choosing from many rows by typing: the field of a form, and the views that `static/picker.js` asks for what fits."""

from typing import Any

from django import forms
from django.contrib.auth.mixins import LoginRequiredMixin
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.forms.models import ModelChoiceIterator
from django.http import HttpRequest, JsonResponse
from django.urls import reverse_lazy
from django.views.generic import View

from accounts.models import Project, User
from accounts.people import person

SHOWN = 20  # without a script, and before anything is typed


class _Picker(forms.Select):
    """A select that lists the first rows and the chosen ones. finder: the name of the view that finds the others."""

    def __init__(self, finder: str, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({**(attrs or {}), "data-picker": reverse_lazy(finder)})

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        every = self.choices
        if isinstance(every, ModelChoiceIterator):
            self.choices = list(self._listed(every, [one for one in value if one]))
        try:
            return super().optgroups(name, value, attrs)
        finally:
            self.choices = every

    def _listed(self, every: Any, value: list[str]) -> Any:
        if every.field.empty_label is not None:
            yield "", every.field.empty_label
        chosen = []
        for one in value:
            try:
                chosen.append(every.queryset.get(**{every.field.to_field_name or "pk": one}))
            except (ValueError, ValidationError, every.queryset.model.DoesNotExist):
                continue  # the field says that it is not among the choices
        first = [row for row in every.queryset[:SHOWN] if row not in chosen]
        for row in (*chosen, *first):
            yield every.choice(row)


class Picker(_Picker):
    """For one row."""


class PickerOfSeveral(_Picker, forms.SelectMultiple):
    """For any number of rows."""


def people() -> QuerySet[User]:
    """The active accounts; everyone in the lab may see their names."""
    return User.objects.filter(is_active=True).order_by("username")


class Finder(LoginRequiredMixin, View):
    """Rows that match what was typed, for the signed-in person. Subclasses say which the person may see."""

    def get(self, request: HttpRequest) -> JsonResponse:
        typed = request.GET.get("q", "").replace("\0", "").strip()[:200]
        return JsonResponse({"results": [self.shown(row) for row in self.found(person(request), typed)[:SHOWN]]})

    def found(self, user: User, typed: str) -> QuerySet[Any]:
        """Those that the person may name."""
        raise NotImplementedError

    def shown(self, row: Model) -> dict[str, str]:
        return {"value": str(row.pk), "label": str(row), "hint": ""}


class FindPeople(Finder):
    """By user name or full name; e-mail addresses are not shown to everybody."""

    def found(self, user: User, typed: str) -> QuerySet[Any]:
        named = (f"{field}__icontains" for field in ("username", "first_name", "last_name"))
        return people().filter(Q(*((lookup, typed) for lookup in named), _connector=Q.OR))

    def shown(self, row: Any) -> dict[str, str]:
        return {"value": row.username, "label": row.username, "hint": row.get_full_name()}


class FindProjects(Finder):
    def found(self, user: User, typed: str) -> QuerySet[Any]:
        return Project.objects.open_to(user).filter(archived=False, name__icontains=typed).distinct()
