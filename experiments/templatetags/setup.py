"""Fields of a set-up form, whose names hold dashes as template variables cannot; and where an experiment belongs."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import template
from django.forms import BaseForm, BoundField
from django.template import Context

from experiments.lab.catalog.menu import askable_models
from experiments.models import ProviderModel
from experiments.runs.sharing.sharing import chosen_project, projects_of
from experiments.setup.forms import DeclaredForm
from experiments.setup.layout import Shown, ShownPart, ShownRows, parts_of, rows_of

register = template.Library()


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a field. model is None for choices that are no model."""

    value: str
    label: Any
    is_selected: bool
    model: ProviderModel | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The options of one provider; provider is "" for choices that are no model."""

    provider: str
    is_simulated: bool
    options: list[Option]


@register.simple_tag
def setup_parts(form: DeclaredForm) -> list[ShownPart]:
    return parts_of(form)


@register.simple_tag
def item_rows(bound: BoundField) -> ShownRows:
    return rows_of(bound)


@register.inclusion_tag("setup/_field.html")
def whole_field(bound: BoundField, hint: Any = "") -> dict[str, Shown]:
    """A field of a form that no workflow declares, with its label, hint and errors."""
    return {"one": Shown(bound, hint)}


@register.simple_tag
def numbered_groups() -> list[Group]:
    """Every model that can take a numbered seat, by provider, the simulated ones last."""
    offered = [model for model in askable_models() if not model.is_tool]
    return grouped_by_provider([Option(model.slug, model.label, False, model) for model in offered])


@register.simple_tag
def field(form: BaseForm, name: str) -> BoundField:
    return form[name]


@register.simple_tag
def options(form: BaseForm, name: str) -> list[Option]:
    """The choices of a field that are no models."""
    bound = form[name]
    chosen = str(bound.value() or "")
    return [Option(str(value), label, str(value) == chosen) for value, label in bound.field.choices]  # type: ignore[attr-defined]  # a choice field, which Django types as any field


@register.simple_tag
def model_groups(form: BaseForm, name: str) -> list[Group]:
    """The choices of a seat's model, by provider, the simulated ones last."""
    listed = options(form, name)
    models = {model.slug: model for model in askable_models()}
    return grouped_by_provider([Option(o.value, o.label, o.is_selected, models.get(o.value)) for o in listed])


def grouped_by_provider(listed: Iterable[Option]) -> list[Group]:
    """Options by provider, the simulated ones last."""
    return [_group(list(members)) for _provider, members in groupby(sorted(listed, key=_place), key=_place)]


@register.filter
def failed_fields(form: BaseForm) -> list[BoundField]:
    """The fields that have complaints, in the order of the form."""
    return [form[name] for name in form.errors if name in form.fields]


def _place(option: Option) -> tuple[bool, bool, str]:
    provider = option.model.provider if option.model else None
    return (provider is not None, bool(provider and provider.is_simulated), provider.name if provider else "")


def _group(members: list[Option]) -> Group:
    provider = members[0].model.provider if members[0].model else None
    return Group(provider.name if provider else "", bool(provider and provider.is_simulated), members)


@register.inclusion_tag("sharing/_belongs.html", takes_context=True)
def belongs(context: Context) -> dict[str, object]:
    """A choice among the reader's projects; the one chosen last stands there. Nothing for who has none."""
    request = context["request"]
    projects = projects_of(request.user)
    return {"projects": projects, "chosen": chosen_project(request) if projects else ""}
