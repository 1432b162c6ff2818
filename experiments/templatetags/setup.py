"""Fields of a set-up form, whose names hold dashes as template variables cannot; and where an experiment belongs."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import template
from django.forms import BaseForm, BoundField
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from experiments.lab.catalog.menu import askable_models
from experiments.models import ProviderModel
from experiments.runs.sharing.sharing import chosen_project, own_projects
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
    return rows_of(bound, least=1)


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


@register.simple_tag
def model_options(groups: Iterable[Group], chosen: Any) -> SafeString:
    """The `option`s of a model's picker. chosen: the value of the one that is selected."""
    drawn = []
    for group in groups:
        options = _drawn(group, chosen)
        if group.provider:
            said = _("simulated, not a language model") if group.is_simulated else group.provider
            options = format_html('<optgroup label="{}">{}</optgroup>', said, options)
        drawn.append(options)
    return SafeString("".join(drawn))


@register.simple_tag
def hint(shown: Shown) -> SafeString:
    """What stands below a field."""
    if not shown.hint:
        return SafeString()
    indented = " indented" if shown.kind == "box" else ""
    return format_html('<span class="hint{}" id="{}">{}</span>', indented, shown.hint_id, shown.hint)


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


def _drawn(group: Group, chosen: Any) -> SafeString:
    simulated = SafeString(" data-simulated" if group.is_simulated else "")
    provider = format_html(' data-provider="{}"', group.provider) if group.provider else ""
    return format_html_join(
        "",
        '<option value="{}"{}{}{}>{}</option>',
        (
            (one.value, SafeString(" selected" if one.value == chosen else ""), simulated, provider, one.label)
            for one in group.options
        ),
    )


@register.inclusion_tag("sharing/_belongs.html", takes_context=True)
def belongs(context: Context) -> dict[str, object]:
    """A choice among the reader's projects; the one chosen last stands there. Nothing for who has none."""
    request = context["request"]
    projects = own_projects()
    return {"projects": projects, "chosen": chosen_project(request) if projects else ""}
