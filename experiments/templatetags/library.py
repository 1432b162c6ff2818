"""The library's pages: settings in words, what changed between versions, and the texts that a picker fills in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.forms import BaseForm, BoundField
from django.template.defaultfilters import truncatechars
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from experiments.library.builtin import CUSTOM
from experiments.library.differences import Line, lines_between
from experiments.library.forms import ScenarioFields, scenario_form
from experiments.library.presets import PresetChoice
from experiments.library.scenarios import ScenarioChoice
from experiments.models import Scenario
from experiments.setup.forms import CHOICES, declared, flat, labels_of

register = template.Library()

LONGEST_VALUE = 40
TEXTS = ("prompt", "prompts-A", "prompts-B", "system_prompt")


@dataclass(frozen=True, slots=True)
class Setting:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Change:
    """What is different in one field. lines: of a text; before and after: of anything else."""

    label: str
    lines: list[Line]
    before: str = ""
    after: str = ""


@register.simple_tag
def settings_of(config: Mapping[str, Any]) -> list[Setting]:
    """The settings beside the prompts, in words. A pause of a limit that is not set is left out."""
    plain = [(name, value) for name, value in flat(config) if name not in TEXTS and not isinstance(value, list)]
    return [Setting(_label(name), _value(name, value)) for name, value in plain if _is_said(name, value)]


@register.simple_tag
def instructions_of(scenario: ScenarioChoice) -> list[tuple[str, str]]:
    """The side, "" for both, and what it is told."""
    if scenario.config.get("prompting") == "individual":
        return [(side, scenario.instructions(side)) for side in "AB"]
    return [("", scenario.instructions("A"))]


@register.simple_tag
def changes_between(before: ScenarioChoice, after: ScenarioChoice) -> list[Change]:
    """The fields that differ between two versions of a scenario."""
    old, new = _fields(before), _fields(after)
    return [_change(name, old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)]


@register.simple_tag
def unusual_settings(form: ScenarioFields) -> list[Setting]:
    """Those without a place of their own that are not as the workflow has them: a folded part says what is in it."""
    given = [(bound.name, bound.value()) for bound in form.others]
    usual = {name: form.fields[name].initial for name, _given in given}
    return [
        Setting(_label(name), truncatechars(_value(name, value), LONGEST_VALUE))
        for name, value in given
        if str("" if value is None else value) != str("" if usual[name] is None else usual[name])
    ]


@register.simple_tag
def blank_prompt(form: BaseForm) -> BoundField | None:
    """The first prompt that applies and is empty; None when all that apply are written."""
    names = ("prompts-A", "prompts-B") if form["prompting"].value() == "individual" else ("prompt",)
    return next((form[name] for name in names if not str(form[name].value() or "").strip()), None)


@register.simple_tag
def missing_words(form: BaseForm, name: str, prompting: str) -> list[str]:
    """Complaints about the whole form, at the prompt that applies and is empty: they are about it."""
    applies = form["prompting"].value() == prompting
    return (
        [str(error) for error in form.non_field_errors()]
        if applies and not str(form[name].value() or "").strip()
        else []
    )


@register.filter
def field_label(bound: BoundField) -> Any:
    """What the set-up page calls a field of a scenario."""
    return _labels().get(bound.name, bound.label)


@register.simple_tag
def preset_texts(presets: Iterable[PresetChoice]) -> dict[str, dict[str, str]]:
    """What the picker's script fills in, by the preset's id."""
    return {preset.id: {"context": preset.context, "description": preset.description} for preset in presets}


@register.simple_tag
def selected_preset(presets: Iterable[PresetChoice], chosen: str, context: str) -> str:
    """The preset whose text is in the field; `custom` when it was changed."""
    known = next((preset for preset in presets if preset.id == chosen), None)
    return known.id if known and known.context == (context or "").replace("\r\n", "\n").strip() else CUSTOM


def _fields(choice: ScenarioChoice) -> dict[str, Any]:
    words = {"title": choice.title, "description": choice.description, "kind": choice.kind}
    return words | dict(flat(choice.config))


def _change(name: str, before: Any, after: Any) -> Change:
    if name in (*TEXTS, "title", "description"):
        return Change(_label(name), lines_between(str(before or ""), str(after or "")))
    return Change(_label(name), [], _value(name, before), _value(name, after))


def _labels() -> dict[str, Any]:
    """Of the fields of the set-up page that a scenario fills."""
    return labels_of(declared(scenario_form().workflow))


def _label(name: str) -> str:
    given = {**_labels(), "description": _("Description"), "kind": _("Kind")}.get(name)
    return str(given) if given else capfirst(name.replace("-", " ").replace("_", " "))


def _value(name: str, value: Any) -> str:
    if name == "kind":
        return str(Scenario.Kind(value).label)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value == "":
        return _("no limit") if name == "max_turns" or name.startswith("limits") else _("none")
    return str(CHOICES.get(value, value)) if isinstance(value, str) else _figure(value)


def _figure(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _is_said(name: str, value: Any) -> bool:
    return value is not None or not name.startswith(("limits", "prompts"))
