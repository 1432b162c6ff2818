"""Words of the pages of instruments: titles, kinds of dimensions, values, and what changed between versions."""

from collections.abc import Iterator
from typing import Any

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from experiments.library.differences import lines_between
from experiments.library.instruments import findings
from experiments.library.instruments.builtin import words_of
from experiments.library.instruments.forms import KINDS, PLACES, DimensionsField, InstrumentForm, initial_of
from experiments.models import Instrument, Run
from experiments.setup.form_fields import Row
from experiments.templatetags.library import Change
from experiments.workflows.base.instruments import Categories, Definition, Dimension
from experiments.workflows.base.rubrics import plain

register = template.Library()


@register.inclusion_tag("instruments/_beside.html", takes_context=True)
def run_findings(context: Context, run: Run) -> dict[str, object]:
    """What instruments and people found in a run, for whoever is signed in."""
    user = context["user"]
    units = findings.beside(run, user) if user.is_authenticated else []
    return {"run": run, "units": units, "count": sum(len(one.findings) for one in units)}


@register.filter
def instrument_title(instrument: Instrument) -> str:
    return words_of(instrument)[0]


@register.filter
def instrument_description(instrument: Instrument) -> str:
    return words_of(instrument)[1]


@register.filter
def kind_word(kind: str) -> Any:
    return KINDS[kind]


@register.filter
def value_word(value: Any, dimension: Dimension | None) -> str:
    """A value as its dimension writes it: yes, 3, "Partly", or the words that were quoted."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int | float):
        return plain(value)
    titles = {one.name: one.title for one in dimension.choices} if isinstance(dimension, Categories) else {}
    said = value if isinstance(value, list) else [value]
    return ", ".join(titles.get(one, str(one)) for one in said) or _("none")


@register.simple_tag
def settings_of_instrument(definition: Definition) -> list[tuple[Any, str]]:
    """What it judges, what the judge sees and how it is asked, in words."""
    stored = initial_of(definition)
    fields = {name: InstrumentForm.base_fields[name] for name in PLACES if name != "prompt"}
    return [(field.label, _said(name, stored[name])) for name, field in fields.items()]


@register.simple_tag
def changes_between_versions(before: Definition, after: Definition) -> list[Change]:
    old, new = initial_of(before), initial_of(after)
    label = str(DimensionsField().label)
    told = [Change(label, lines_between(_told(before), _told(after)))]
    for name in PLACES:
        field = InstrumentForm.base_fields[name]
        if name == "prompt":
            told.append(Change(str(field.label), lines_between(old[name], new[name])))
        elif old[name] != new[name]:
            told.append(Change(str(field.label), [], _said(name, old[name]), _said(name, new[name])))
    return [one for one in told if one.before or any(line.kind in ("added", "removed") for line in one.lines)]


def _told(definition: Definition) -> str:
    """The dimensions, a line for each thing that is said of them."""
    return "\n".join(line for row in initial_of(definition)["dimensions"] for line in _lines(row))


def _lines(row: Row) -> Iterator[str]:
    labels = {name: field.label for name, field in DimensionsField().fields.items()}
    for name, value in row.items():
        if value not in ("", False) and labels.get(name):
            text = _("yes") if value is True else str(KINDS[value] if name == "kind" else value)
            yield f"{labels[name]}: {text}" if name != "title" else text


def _said(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None:
        return _("all") if name == "earlier" else _("none")
    choices = {str(key): str(words) for key, words in getattr(InstrumentForm.base_fields[name], "choices", ())}
    return choices.get(str(value), str(value))
