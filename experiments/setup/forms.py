"""The form of a declared set-up page."""

from functools import cache
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.catalog.menu import askable_models, speaking_models
from experiments.forms import SEAT_PARAMS, TOOL_SEATS, SetupForm, form_for
from experiments.workflows import surface_of
from experiments.workflows.base.surface import SeatForm, Setup

COMMON_LABELS = {
    "title": _("Title"),
    "mode": _("Mode"),
    "max_turns": _("Turns at most"),
    "limits-tokens": _("Tokens in all"),
    "limits-seconds": _("Seconds in all"),
    "limits-cost": _("US dollars in all"),
    "judge_seconds": _("Time limit of the judge, seconds"),
    "judge_sees_reasoning": _("The judge reads the models' reasoning"),
}
COMMON_HINTS = {"limits-seconds": _("Time in which it waits for you does not count.")}
PARAM_LABELS = {
    "temperature": _("Temperature"),
    "max_tokens": _("Tokens of an answer at most"),
    "seed": _("Seed"),
    "reasoning_effort": _("Reasoning effort"),
}


class DeclaredForm(SetupForm):
    """Complaints about the whole are shown at the page's main field."""

    page: Setup

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        labels = labels_of(self.page)
        for name in self.fields.keys() & labels.keys():
            self.fields[name].label = labels[name]

    def _cast(self) -> dict[str, Any]:
        cast = super()._cast()
        return self.page.cast(cast, self.cleaned_data) if self.page.cast else cast

    def _field_at(self, path: str) -> str | None:
        return super()._field_at(path) or (self.page.main if path == "config" else None) or None


@cache
def setup_form(workflow: str) -> type[DeclaredForm]:
    """The form derived from a workflow's Config, with the seats and the labels that its page declares."""
    page, derived = declared(workflow), form_for(workflow)
    own: dict[str, Any] = {name: None for name in derived.base_fields if name.startswith("seat-")}
    own |= {name: _buttons(derived.base_fields[name], page, name) for name in page.choices}
    for seat in page.seats:
        own |= _of_seat(seat)
    made: type[DeclaredForm] = type("DeclaredSetup", (DeclaredForm, derived), {"page": page, **own})
    return made


def declared(workflow: str) -> Setup:
    """Raises LookupError for a workflow that declares no set-up page."""
    page = surface_of(workflow).setup
    if page is None:
        raise LookupError(workflow)
    return page


def labels_of(page: Setup) -> dict[str, Any]:
    """What the fields are called, by name."""
    seats: dict[str, Any] = {}
    for seat in page.seats:
        seats[f"seat-{seat.seat}-model"] = seat.label
        seats |= {f"seat-{seat.seat}-{name}": PARAM_LABELS[name] for name in seat.params}
    return {**COMMON_LABELS, **seats, **page.labels}


def _buttons(derived: forms.Field, page: Setup, name: str) -> forms.Field:
    coerce = int if isinstance(derived, forms.IntegerField) else str
    choices = list(page.choices[name].items())
    return forms.TypedChoiceField(
        choices=choices, coerce=coerce, required=False, initial=derived.initial, widget=forms.RadioSelect
    )


def _of_seat(seat: SeatForm) -> dict[str, forms.Field]:
    def offered() -> list[tuple[str, Any]]:
        models = [(m.slug, m.label) for m in askable_models()] if seat.seat in TOOL_SEATS else speaking_models()
        return [*([("", seat.nobody)] if seat.nobody else []), *models]

    model = forms.ChoiceField(choices=offered, required=False)
    params = {f"seat-{seat.seat}-{name}": SEAT_PARAMS[name]() for name in seat.params}
    return {f"seat-{seat.seat}-model": model, **params}
