"""Forms of the library. What a scenario sets is derived from the arena's Config, as its set-up form is."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypedDict, get_origin

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from experiments.models import Scenario
from experiments.setup.forms import SetupForm, declared, form_for
from experiments.workflows.arena import WORKFLOW as ARENA

PLACED = ("prompting", "prompt", "prompts-A", "prompts-B", "max_turns", "first", "filter", "judge")


def initial_of(config: Mapping[str, object]) -> dict[str, object]:
    """A configuration of the arena under the names of its set-up form's fields."""
    return form_for(ARENA.slug).values_of(config)


class ScenarioContent(TypedDict):
    title: str
    description: str
    kind: str
    config: dict[str, object]


class ScenarioFields(SetupForm):
    """Adds what a scenario has beside its settings, and takes away the seats: models are chosen when it is played.

    Settings that are lists, such as planned interventions, and those that are chosen among what there is are not
    edited here: `kept` carries them over.
    """

    title = forms.CharField(label=_("Title"), required=False, strip=False)
    description = forms.CharField(
        label=_("Description"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=Scenario.Kind.choices, required=False)
    base = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=1, max_value=2**31 - 1)

    kept: dict[str, object] = {}

    def content(self) -> ScenarioContent:
        """What was filled in, as `save_scenario` takes it."""
        title, description, kind = (self.cleaned_data[name] for name in ("title", "description", "kind"))
        return {"title": title, "description": description, "kind": kind, "config": {**self.kept, **self.config()}}

    def keep(self, config: Mapping[str, object]) -> None:
        """Carry over what this form does not edit."""
        chosen = {name.partition("-")[0] for name in declared(ARENA.slug).offered}
        self.kept = {name: value for name, value in config.items() if isinstance(value, list) or name in chosen}

    @property
    def others(self) -> list[BoundField]:
        """The settings that have no place of their own on the page."""
        return [self[name] for name in self.config_fields if name not in PLACED]

    def _field_at(self, path: str) -> str | None:
        return path if path in self.fields else super()._field_at(path)


@cache
def scenario_form() -> type[ScenarioFields]:
    base = form_for(ARENA.slug)
    offered = declared(ARENA.slug).offered
    rest = {name: info for name, info in base.config_fields.items() if name not in offered}
    editable = {name: info for name, info in rest.items() if get_origin(info.annotation) is not list}
    kept = {name for name in base.base_fields if name.removesuffix("-none") in editable}
    members: dict[str, Any] = {name: base.base_fields[name] for name in base.base_fields if name in kept}
    return type("ScenarioForm", (ScenarioFields,), {**members, "workflow": ARENA.slug, "config_fields": editable})


class PresetForm(forms.Form):
    """A system context under a name. Everything is checked once, by the verb."""

    name = forms.CharField(label=_("Name"), required=False, strip=False)
    description = forms.CharField(label=_("What it is for"), required=False, strip=False)
    context = forms.CharField(
        label=_("System context"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 8})
    )
