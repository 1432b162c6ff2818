"""The set-up form of a workflow, derived from its Config and its seats."""

import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from experiments.setup.form_fields import LineListField, LinesField, RowsField
from experiments.workflows import REGISTRY

LONGEST_PERSONA = 100
ONE_LINE = 200  # characters of a text that fits into one line
EFFORTS = ("minimal", "low", "medium", "high")


class SetupForm(forms.Form):
    """Fields are named after the Config's (`limits-tokens` for `limits.tokens`); `seat-A-model` seats a model.

    A nullable number with a default has a companion checkbox `<name>-none`: ticked means no limit. The values are
    checked once, by the workflow's own Config; `placed` says where its complaints are shown.
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

    @classmethod
    def values_of(cls, config: Mapping[str, Any]) -> dict[str, object]:
        """A configuration under the names of the fields: `limits-cost`, `max_turns-none`."""
        values: dict[str, Any] = {}
        for name, value in flat(config):
            values[name] = value
            if f"{name}-none" in cls.base_fields:
                values[f"{name}-none"] = value is None
        return values

    def placed(self, path: str, sentence: str) -> tuple[str | None, str]:
        """At which field a complaint of the Config is shown, and how; None: above the form."""
        return self._field_at(path), self._at_row(path, sentence)

    def _at_row(self, path: str, message: str) -> str:
        """The complaint as it is said of the list of rows, where it is about one: that row says it, too."""
        return message

    def config(self) -> dict[str, object]:
        """What was filled in, as the workflow's Config takes it."""
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


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested settings, named with dashes."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}-")
        else:
            yield f"{prefix}{name}", value


def _effort() -> forms.Field:
    offered = [("", _("the model's own")), *((effort, CHOICES[effort]) for effort in EFFORTS)]
    return forms.ChoiceField(choices=offered, required=False)


def _number(kind: type[forms.IntegerField], **bounds: float) -> forms.Field:
    """A number; its bounds are hints for the browser, and checked with the rest."""
    decimals = {"inputmode": "numeric"} if kind is forms.IntegerField else {"inputmode": "decimal", "step": "any"}
    return kind(required=False, widget=forms.NumberInput(attrs={**bounds, **decimals}))


SEAT_PARAMS: dict[str, Callable[[], forms.Field]] = {
    "temperature": lambda: _number(forms.FloatField, min=0, max=2),
    "top_p": lambda: _number(forms.FloatField, min=0, max=1),
    "max_tokens": lambda: _number(forms.IntegerField, min=1),
    "seed": lambda: _number(forms.IntegerField),
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
    initial = None if info.is_required() else info.default
    if get_origin(info.annotation) is Literal:
        choices = [(choice, CHOICES.get(choice, choice)) for choice in get_args(info.annotation)]
        return forms.ChoiceField(choices=choices, required=False, initial=initial)
    if get_origin(info.annotation) is list:
        inner = _inner_model(info.annotation)
        return _items(inner) if inner else LineListField(required=info.is_required())
    bare = _bare_types(info.annotation)
    if bool in bare:
        return forms.BooleanField(required=False, initial=initial)
    if numbers := {int, float} & bare:
        field = _number(forms.IntegerField if int in numbers else forms.FloatField, **_bounds(info))
        field.initial = initial
        if type(None) in bare:
            field.widget.attrs["placeholder"] = _("none")
        return field
    longest = next((one.max_length for one in _said(info) if getattr(one, "max_length", None)), None)
    if longest is not None and longest <= ONE_LINE:
        return forms.CharField(required=False, initial=initial, widget=forms.TextInput(attrs={"maxlength": longest}))
    return LinesField(required=False, strip=False, initial=initial, widget=forms.Textarea(attrs={"rows": 7}))


def _items(inner: type[BaseModel]) -> RowsField:
    """Rows of things; a row is one as soon as something was written, for a choice is always made."""
    fields = {name: _field(name, info) for name, info in inner.model_fields.items()}
    for field in fields.values():
        if isinstance(field.widget, forms.Textarea):
            field.widget.attrs["rows"] = 2
    return RowsField(fields, [name for name, field in fields.items() if not isinstance(field, forms.ChoiceField)])


def _said(info: FieldInfo) -> list[Any]:
    """What the Config says of a value beside its type, also inside a union."""
    within = [found for item in get_args(info.annotation) for found in getattr(item, "__metadata__", ())]
    return [*info.metadata, *within, *(one for found in within for one in getattr(found, "metadata", ()))]


def _bounds(info: FieldInfo) -> dict[str, float]:
    """The smallest and the largest number, as attributes of an input."""
    names = {"ge": "min", "gt": "min", "le": "max", "lt": "max"}
    said = _said(info)
    return {bound: getattr(one, name) for name, bound in names.items() for one in said if hasattr(one, name)}


def _has_no_limit_box(info: FieldInfo) -> bool:
    return type(None) in _bare_types(info.annotation) and info.default is not None and not info.is_required()


def _is_number(form: SetupForm, name: str) -> bool:
    return isinstance(form.fields[name], forms.FloatField | forms.IntegerField)


def _without_blanks(config: dict[str, Any]) -> dict[str, Any]:
    """Individual instructions that were all left empty are no instructions."""
    return {
        name: value
        for name, value in config.items()
        if not (isinstance(value, dict) and value and not any(item not in (None, "") for item in value.values()))
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
