"""The set-up form of a workflow, derived from its Config and its seats."""

import types
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from experiments.casting import InvalidExperiment
from experiments.catalog.menu import askable_models
from experiments.form_fields import InterventionsField, LineListField, LinesField
from experiments.workflows import REGISTRY

LONGEST_PERSONA = 100
TOOL_SEATS = ("judge", "filter")
GUEST_SEATS = ("friend",)  # nobody sits there unless somebody is chosen
EFFORTS = ("minimal", "low", "medium", "high")


class SetupForm(forms.Form):
    """Fields are named after the Config's (`limits-tokens` for `limits.tokens`); `seat-A-model` seats a model.

    A nullable number with a default has a companion checkbox `<name>-none`: ticked means no limit. The values are
    checked once, by the workflow's own Config; its complaints come back through `complain`.
    """

    workflow: str
    config_fields: dict[str, FieldInfo]

    title = forms.CharField(label=_("Title"), required=False, max_length=200)

    def clean(self) -> dict[str, Any]:
        """Nothing written is not "no limit": that would cost money by oversight."""
        for name in self.config_fields:
            if f"{name}-none" not in self.fields or name in self.errors or self._is_left_out(name):
                continue
            if self.cleaned_data.get(name) is None and not self.cleaned_data.get(f"{name}-none"):
                self.add_error(name, _("Write a number, or tick “No limit”."))
        return self.cleaned_data

    def asked(self) -> dict[str, Any]:
        """What was filled in, as `actions.create` takes it."""
        return {"title": self.cleaned_data["title"], "config": self._config(), "cast": self._cast()}

    def complain(self, error: InvalidExperiment) -> None:
        """Show each complaint at its field, or above the form when it belongs to none."""
        for path, messages in error.errors.items():
            name = self._field_at(path)
            for message in messages:
                self._complain_at_row(path, message)
                self.add_error(name, message)

    def _complain_at_row(self, path: str, message: str) -> None:
        """`config.interventions.2.text`: the complaint stands beside the third row, too."""
        match path.split("."):
            case ["config", name, number, *parts] if isinstance(self.fields.get(name), InterventionsField):
                self.fields[name].complain(int(number), parts[0] if parts else "", message)  # type: ignore[attr-defined]  # a field of our own, which Django types as any field

    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = {}
        for name in self.config_fields:
            *parents, leaf = name.split("-")
            place = config
            for parent in parents:
                place = place.setdefault(parent, {})
            value = self.cleaned_data.get(name)
            if value in ("", None) and isinstance(self.fields[name], forms.ChoiceField):
                continue  # what is not said is as the workflow has it
            if self._is_left_out(name):
                continue
            place[leaf] = (
                None if self.cleaned_data.get(f"{name}-none") or (value == "" and _is_number(self, name)) else value
            )
        return _without_blanks(config)

    def _is_left_out(self, name: str) -> bool:
        """Whether a number that may be without limit was not sent at all: it is as the workflow has it, then."""
        return f"{name}-none" in self.fields and not {name, f"{name}-none"} & set(self.data)

    def _cast(self) -> dict[str, Any]:
        cast = {}
        for seat in REGISTRY[self.workflow].seats:
            if model := self.cleaned_data.get(f"seat-{seat}-model"):
                names = [name for name in SEAT_PARAMS if f"seat-{seat}-{name}" in self.fields]
                given = {name: self.cleaned_data.get(f"seat-{seat}-{name}") for name in names}
                params = {name: value for name, value in given.items() if value not in (None, "")}
                persona = self.cleaned_data.get(f"seat-{seat}-persona", "")
                cast[seat] = {"model": model, "persona": persona, "params": params}
        return cast

    def _field_at(self, path: str) -> str | None:
        """The field of a complaint: `cast.A.params.seed` is `seat-A-seed`, `config.limits.cost` is `limits-cost`."""
        kind, _dot, rest = path.partition(".")
        names = [rest.replace(".", "-"), rest.partition(".")[0]]
        if kind == "cast":
            seat, *inner = rest.split(".")
            names = [f"seat-{seat}-{name}" for name in (*inner[-1:], "model")]
        if kind == "title":
            names = ["title"]
        return next((name for name in names if name in self.fields), None)


def _effort() -> forms.Field:
    offered = [("", _("the model's own")), *((effort, CHOICES[effort]) for effort in EFFORTS)]
    return forms.ChoiceField(choices=offered, required=False)


SEAT_PARAMS: dict[str, Callable[[], forms.Field]] = {
    "temperature": lambda: forms.FloatField(required=False),
    "max_tokens": lambda: forms.IntegerField(required=False),
    "seed": lambda: forms.IntegerField(required=False),
    "reasoning_effort": _effort,
}


@cache
def form_for(workflow: str) -> type[SetupForm]:
    """The form class of a workflow."""
    found = REGISTRY[workflow]
    fields = dict(_flat(found.config))
    members: dict[str, Any] = {"workflow": workflow, "config_fields": fields}
    for name, info in fields.items():
        members[name] = _field(name, info)
        if _has_no_limit_box(info):
            members[f"{name}-none"] = forms.BooleanField(label=_("No limit"), required=False)
    for seat in found.seats:
        members |= _seat_fields(seat)
    return type(f"{workflow.title()}Form", (SetupForm,), members)


def _flat(config: type[BaseModel], prefix: str = "") -> Any:
    for name, info in config.model_fields.items():
        inner = None if get_origin(info.annotation) is list else _inner_model(info.annotation)
        if inner:
            yield from _flat(inner, f"{prefix}{name}-")
        else:
            yield f"{prefix}{name}", info


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _bare_types(annotation: Any) -> set[Any]:
    """The plain types inside Annotated and unions."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return set().union(*(_bare_types(item) for item in get_args(annotation)))
    if hasattr(annotation, "__metadata__"):
        return _bare_types(get_args(annotation)[0])
    return {annotation}


def _field(name: str, info: FieldInfo) -> forms.Field:
    if get_origin(info.annotation) is Literal:
        choices = [(choice, CHOICES.get(choice, choice)) for choice in get_args(info.annotation)]
        return forms.ChoiceField(choices=choices, required=False, initial=info.default)
    if get_origin(info.annotation) is list:
        return InterventionsField() if _inner_model(info.annotation) else LineListField(required=info.is_required())
    bare = _bare_types(info.annotation)
    initial = None if info.is_required() else info.default
    if bool in bare:
        return forms.BooleanField(required=False, initial=initial)
    if int in bare:
        return forms.IntegerField(required=False, initial=initial)
    if float in bare:
        return forms.FloatField(required=False, initial=initial, widget=forms.NumberInput(attrs={"step": "any"}))
    return LinesField(required=False, strip=False, initial=initial, widget=forms.Textarea(attrs={"rows": 7}))


def _has_no_limit_box(info: FieldInfo) -> bool:
    return type(None) in _bare_types(info.annotation) and info.default is not None and not info.is_required()


def _seat_fields(seat: str) -> dict[str, forms.Field]:
    fields: dict[str, forms.Field] = {
        f"seat-{seat}-model": forms.ChoiceField(choices=lambda: _models(seat), required=False)
    }
    if seat not in (*TOOL_SEATS, *GUEST_SEATS):
        fields[f"seat-{seat}-persona"] = forms.CharField(required=False, max_length=LONGEST_PERSONA)
        fields |= {f"seat-{seat}-{name}": make() for name, make in SEAT_PARAMS.items()}
    return fields


def _models(seat: str) -> list[tuple[str, Any]]:
    models = [model for model in askable_models() if seat in TOOL_SEATS or not model.is_tool]
    return [*NOBODY.get(seat, []), *((model.slug, model.label) for model in models)]


def _is_number(form: SetupForm, name: str) -> bool:
    return isinstance(form.fields[name], forms.FloatField | forms.IntegerField)


def _without_blanks(config: dict[str, Any]) -> dict[str, Any]:
    """Individual instructions that were all left empty are no instructions."""
    return {
        name: value
        for name, value in config.items()
        if not (isinstance(value, dict) and value and not any(item not in (None, "") for item in value.values()))
    }


NOBODY = {
    "judge": [("", _("the lab's choice"))],
    "filter": [("", _("the lab's choice"))],
    "friend": [("", _("nobody"))],
}

CHOICES = {
    "automatic": _("Automatic"),
    "manual": _("Manual"),
    "shared": _("One prompt for both"),
    "individual": _("A prompt for each"),
    "A": _("Model A"),
    "B": _("Model B"),
    "filtered": _("what the other side sees"),
    "original": _("what was written"),
    "both": _("both"),
    "placeholder": _("the other side reads that nothing was said"),
    "pause": _("the run waits for you"),
    "stop": _("the run stops"),
    "minimal": _("minimal"),
    "low": _("low"),
    "medium": _("medium"),
    "high": _("high"),
}
