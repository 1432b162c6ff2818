"""Fields of a set-up form. Their names hold dashes, which template variables cannot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from itertools import groupby
from typing import Any

from django import template
from django.forms import BaseForm, BooleanField, BoundField, RadioSelect
from django.utils.translation import gettext_lazy as _

from experiments.catalog.menu import askable_models
from experiments.form_fields import LEAST_ROWS
from experiments.labels import INTERVENTION_KINDS
from experiments.models import ProviderModel
from experiments.setup.forms import COMMON_HINTS
from experiments.workflows.arena import DEFAULT_PARAMS
from experiments.workflows.base.surface import Group as FieldGroup
from experiments.workflows.base.surface import SeatForm, Seats, Setup

register = template.Library()


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a field. model is None for choices that are no model."""

    value: str
    label: Any
    is_selected: bool
    model: ProviderModel | None = None


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """One row of planned interventions as it is shown. errors: complaints by part."""

    number: int | str
    kind: str = "note"
    side: str = "A"
    turn: Any = ""
    text: str = ""
    errors: Mapping[str, str] = field_of(default_factory=dict)

    @property
    def kinds(self) -> tuple[tuple[str, Any], ...]:
        return INTERVENTION_KINDS


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """The rows that are filled in and some that are not; blank: what a script adds rows from."""

    rows: list[PlannedRow]
    written: int
    blank: PlannedRow


@dataclass(frozen=True, slots=True)
class Group:
    """The options of one provider; provider is "" for choices that are no model."""

    provider: str
    is_simulated: bool
    options: list[Option]


@dataclass(frozen=True, slots=True)
class Shown:
    """A field of a declared set-up page. said: what it is set to; unset: the words for nothing."""

    bound: BoundField
    hint: Any

    unset = _("none")

    @property
    def is_box(self) -> bool:
        return isinstance(self.bound.field, BooleanField)

    @property
    def has_buttons(self) -> bool:
        return isinstance(self.bound.field.widget, RadioSelect)

    @property
    def hint_id(self) -> str:
        return f"{self.bound.html_name}-hint" if self.hint else ""

    @property
    def said(self) -> Any:
        value = self.bound.value()
        choices = dict(getattr(self.bound.field, "choices", ()))
        return choices.get(value, value) if value not in (None, "") else self.unset


@dataclass(frozen=True, slots=True)
class ShownSeat:
    """box: the field that has to be ticked for it."""

    declared: SeatForm
    box: Shown | None
    model: BoundField
    params: list[Shown]

    @property
    def chosen(self) -> str:
        """What the model is called; "" where there is none."""
        value = self.model.value()
        return str(dict(self.model.field.choices).get(value, "")) if value else ""  # type: ignore[attr-defined]  # a choice field, which Django types as any field


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A group of fields, or of seats, of a declared set-up page."""

    declared: FieldGroup | Seats
    fields: list[Shown]
    seats: list[ShownSeat]

    @property
    def has_errors(self) -> bool:
        seats = [bound for seat in self.seats for bound in (seat.model, *(one.bound for one in seat.params))]
        return any(bound.errors for bound in (*seats, *(one.bound for one in self.fields)))

    @property
    def chosen(self) -> str:
        return " · ".join(seat.chosen for seat in self.seats if seat.chosen)


@register.simple_tag
def setup_parts(form: BaseForm, page: Setup) -> list[ShownPart]:
    """The declared parts of the page, with the fields of the form."""

    def shown(name: str) -> Shown:
        return Shown(form[name], page.hints.get(name) or COMMON_HINTS.get(name, ""))

    def seat(one: SeatForm) -> ShownSeat:
        params = [shown(f"seat-{one.seat}-{name}") for name in one.params]
        return ShownSeat(one, shown(one.needs) if one.needs else None, form[f"seat-{one.seat}-model"], params)

    return [
        ShownPart(part, [], list(map(seat, part.seats)))
        if isinstance(part, Seats)
        else ShownPart(part, list(map(shown, part.fields)), [])
        for part in page.parts
    ]


@register.simple_tag
def field(form: BaseForm, name: str) -> BoundField:
    return form[name]


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


@register.simple_tag
def intervention_rows(form: BaseForm) -> PlannedRows:
    """The planned interventions, as they were typed, and rows to add more without a script."""
    errors = form.fields["interventions"].row_errors if form.is_bound else {}  # type: ignore[attr-defined]  # a field of our own, which Django types as any field
    given = form["interventions"].value() or []
    rows = [PlannedRow(number, **row, errors=errors.get(number, {})) for number, row in enumerate(given)]
    blank = [PlannedRow(number) for number in range(len(rows), max(len(rows) + 1, LEAST_ROWS))]
    return PlannedRows([*rows, *blank], len(rows), PlannedRow("__NUMBER__"))


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
def chosen_model(groups: Iterable[Group]) -> ProviderModel | None:
    """The model that is selected, or that a browser selects because nothing is."""
    every = [option for group in groups for option in group.options]
    return next((o.model for o in every if o.is_selected), every[0].model if every else None)


@register.simple_tag
def default_params() -> dict[str, Any]:
    """What a seat is asked with when nothing is set."""
    return DEFAULT_PARAMS


@register.filter
def failed_fields(form: BaseForm) -> list[BoundField]:
    """The fields that have complaints, in the order of the form."""
    return [form[name] for name in form.errors if name in form.fields]


@register.filter
def field_label(bound: BoundField) -> Any:
    """What the error summary calls a field."""
    return FIELD_LABELS.get(bound.name, bound.label)


def _place(option: Option) -> tuple[bool, bool, str]:
    provider = option.model.provider if option.model else None
    return (provider is not None, bool(provider and provider.is_simulated), provider.name if provider else "")


def _group(members: list[Option]) -> Group:
    provider = members[0].model.provider if members[0].model else None
    return Group(provider.name if provider else "", bool(provider and provider.is_simulated), members)


FIELD_LABELS = {
    "mode": _("Mode"),
    "auto_advance": _("After a turn"),
    "system_prompt": _("System prompt"),
    "counterbalance": _("Alternate who begins"),
    "judge_sees": _("What the judge reads"),
    "judge_sees_reasoning": _("The judge reads the models' reasoning"),
    "judge_seconds": _("Time limit of the judge, seconds"),
    "judge_sees_interventions": _("What the judge is told"),
    "elicit_thinking": _("Think aloud"),
    "logprobs": _("Probabilities"),
    "when_empty": _("When a reply is empty"),
    "interventions": _("Interventions"),
    "repeats": _("Repeats"),
    "seat-friend-model": _("The friend's model"),
    "seat-A-persona": _("Persona of Model A"),
    "seat-B-persona": _("Persona of Model B"),
    "seat-A-reasoning_effort": _("Reasoning effort of Model A"),
    "seat-B-reasoning_effort": _("Reasoning effort of Model B"),
    "title": _("Title"),
    "prompting": _("Instructions"),
    "prompt": _("Prompt for both"),
    "prompts-A": _("Prompt for Model A"),
    "prompts-B": _("Prompt for Model B"),
    "max_turns": _("Turns at most"),
    "first": _("Who begins"),
    "gap_seconds": _("Pause between turns, seconds"),
    "limits-tokens": _("Tokens in all"),
    "limits-seconds": _("Seconds in all"),
    "limits-cost": _("US dollars in all"),
    "seat-A-model": _("Model A"),
    "seat-A-temperature": _("Temperature of Model A"),
    "seat-A-max_tokens": _("Tokens of a reply of Model A"),
    "seat-A-seed": _("Seed of Model A"),
    "seat-B-model": _("Model B"),
    "seat-B-temperature": _("Temperature of Model B"),
    "seat-B-max_tokens": _("Tokens of a reply of Model B"),
    "seat-B-seed": _("Seed of Model B"),
    "seat-filter-model": _("Filter model"),
    "seat-judge-model": _("Judge model"),
}
