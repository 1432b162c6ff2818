"""The form of a set-up page: its fields are derived from the workflow's Config, its words from the declared page."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.lab.catalog.menu import askable_models, speaking_models
from experiments.models.labels import seat_name
from experiments.runs.actions import MOST_REPEATS
from experiments.setup.config_form import LONGEST_PERSONA, SEAT_PARAMS, SetupForm, form_for
from experiments.setup.form_fields import LineListField, Row, RowsField
from experiments.workflows import surface_of
from experiments.workflows.base.limits import WORDS
from experiments.workflows.base.surface import Asked, AskedSeat, Group, SeatForm, SeatRows, Setup, Text

if TYPE_CHECKING:
    from accounts.models import User

COMMON_LABELS = {
    "title": _("Title"),
    "mode": _("Mode"),
    "system_prompt": _("System prompt"),
    "max_turns": _("Max turns"),
    **{f"limits-{name}": _(words.label) for name, words in WORDS.items()},
    "judge_seconds": _("Time limit of the judge, seconds"),
    "judge_sees_reasoning": _("The judge reads the models' reasoning"),
}
COMMON_HINTS = {
    "limits-seconds": _("Time in which it waits for you does not count."),
    "judge_seconds": _("After two attempts the turn goes on without scores."),
    "judge_sees_reasoning": _(
        "Deception can then be scored from the intent, not from the words alone. Costs more tokens."
    ),
}
PARAM_LABELS = {
    "temperature": _("Temperature"),
    "top_p": _("Top p"),
    "max_tokens": _("Max tokens per reply"),
    "seed": _("Seed"),
    "reasoning_effort": _("Reasoning effort"),
}
NAME = forms.TextInput(attrs={"maxlength": 200, "autocomplete": "off"})
NUMBERS = {"temperature": float, "top_p": float, "max_tokens": int, "seed": int}
OF_A_ROW = re.compile(r"(?P<list>cast\.[\w-]+?-|config\.\w+\.)(?P<number>\d+)(?:\.(?P<part>.+))?")


class SeatRowsField(RowsField):
    """The models of numbered seats: {model, params} of each, in order."""

    def __init__(self, rows: SeatRows) -> None:
        params = {name: SEAT_PARAMS[name]() for name in rows.params}
        for name, field in params.items():
            field.label = PARAM_LABELS[name]
        named = {"name": forms.CharField(label=_("Name"), widget=NAME)} if rows.has_names else {}
        super().__init__({"model": forms.CharField(), **named, **params}, ("model",), label=rows.title)
        self.rows = rows

    def clean(self, value: Any) -> list[Row]:
        rows = [self._row(number, row) for number, row in enumerate(super().clean(value))]
        bounds = {"least": self.rows.least, "most": self.rows.most}
        if len(rows) < self.rows.least:
            raise forms.ValidationError(str(self.rows.too_few) % bounds)
        if len(rows) > self.rows.most:
            raise forms.ValidationError(_("At most %(most)s models can take part.") % bounds)
        if self.errors:
            said = ((number, message) for number, row in sorted(self.errors.items()) for message in row.values())
            raise forms.ValidationError([self.of_list(number, message) for number, message in said])
        return rows

    def row_name(self, row: int) -> Any:
        return seat_name(f"{self.rows.seat}-{row + 1}")

    def _row(self, number: int, row: Row) -> Row:
        named = {"name": row["name"].strip()} if self.rows.has_names else {}
        return {"model": row["model"], **named, "params": self._params(number, row)}

    def _params(self, number: int, row: Row) -> dict[str, Any]:
        params: dict[str, Any] = {}
        for name in self.rows.params:
            text = row[name].strip()
            try:
                params |= {name: NUMBERS.get(name, str)(text)} if text else {}
            except ValueError:
                self.complain(number, name, str(_("A number is needed.")))
        return params


class DeclaredForm(SetupForm):
    """Complaints about the whole are shown at the page's main field. Fields of a group that does not apply need not be
    right. reader: who fills it in. of: what the address of the page names. found: what the workflow's own `fill` found
    for its templates.
    """

    page: Setup

    def __init__(self, *args: Any, reader: "User", of: Mapping[str, str] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.reader, self.of = reader, of or {}
        self.found: dict[str, Any] = {}
        labels = labels_of(self.page)
        for name in self.fields.keys() & labels.keys():
            self.fields[name].label = labels[name]
        for seat in self.page.seats:
            for name in set(seat.params) - {"seed", "reasoning_effort"}:
                placeholder = self.page.usual.get(name, _("default"))
                self.fields[f"seat-{seat.seat}-{name}"].widget.attrs["placeholder"] = placeholder
        if self.page.starts_on_enter and isinstance(self.page.main, str):
            self.fields[self.page.main].widget.attrs["autofocus"] = True
        if self.page.fill:
            self.page.fill(self)

    @property
    def runs(self) -> int:
        return int(self.cleaned_data.get("repeats") or 1)

    @classmethod
    def values_of(cls, config: Any) -> dict[str, object]:
        return super().values_of({cls.page.renamed.get(name, name): value for name, value in config.items()})

    def filled(self) -> "DeclaredForm":
        """Itself when it was sent, otherwise as it would be sent as it stands."""
        if self.is_bound:
            return self
        sent = self.typed()
        for name, field in self.fields.items():
            if isinstance(field, RowsField):
                sent |= field.sent(name, sent[name])
        return type(self)(sent, reader=self.reader, of=self.of)

    def clean(self) -> dict[str, Any]:
        for name in self._idle() & self.errors.keys():
            del self.errors[name]
        return super().clean()

    def asked(self) -> Asked:
        """What was filled in, as `actions.create` takes it."""
        asked: Asked = {"title": self.cleaned_data["title"], "config": self.config(), "cast": self._cast()}
        return self.page.asked(self, asked) if self.page.asked else asked

    def typed(self) -> dict[str, Any]:
        """What stands in the fields, right or not."""
        return {name: self[name].value() for name in self.fields}

    def _idle(self) -> set[str]:
        """Fields of the groups that do not apply."""
        groups = (part for part in self.page.parts if isinstance(part, Group) and part.when)
        return {name for part in groups if part.when and not self._is(*part.when) for name in part.fields}

    def _is(self, name: str, value: str) -> bool:
        said = self[name].value()
        return bool(said) == (value == "on") if isinstance(self.fields[name], forms.BooleanField) else said == value

    def _is_left_out(self, name: str) -> bool:
        """Or does not apply and says nothing, or is a number that was not sent: it is as the workflow has it, too."""
        is_number = isinstance(self.fields[name], forms.IntegerField)
        is_silent = is_number and self.cleaned_data.get(name) is None and f"{name}-none" not in self.fields
        return super()._is_left_out(name) or (is_silent and (name in self._idle() or name not in self.data))

    def config(self) -> dict[str, object]:
        names = {renamed: name for name, renamed in self.page.renamed.items()}
        return {names.get(name, name): value for name, value in super().config().items()}

    def _cast(self) -> dict[str, AskedSeat]:
        cast: dict[str, AskedSeat] = {}
        for rows in self.page.rows:
            cast |= {f"{rows.seat}-{number}": row for number, row in enumerate(self.cleaned_data[rows.name], 1)}
        for seat in self.page.seats:
            if model := self.cleaned_data.get(f"seat-{seat.seat}-model"):
                given = {name: self.cleaned_data.get(f"seat-{seat.seat}-{name}") for name in seat.params}
                params = {name: value for name, value in given.items() if value not in (None, "")}
                persona = self.cleaned_data.get(f"seat-{seat.seat}-persona", "")
                cast[seat.seat] = {"model": model, "persona": persona, "params": params}
        return cast

    def _field_at(self, path: str) -> str | None:
        kind, _dot, rest = path.partition(".")
        if path == "config":
            return self._main() or None
        if kind == "config":
            first, dot, inner = rest.partition(".")
            path = f"{kind}.{self.page.renamed.get(first, first)}{dot}{inner}"
        rows = (one.name for one in self.page.rows if kind == "cast" and rest.startswith(f"{one.seat}-"))
        within = (name for name in self.fields if kind == "config" and name.startswith(f"{rest}-"))
        return next(rows, None) or super()._field_at(path) or next(within, None)

    def _main(self) -> str:
        return self.page.main if isinstance(self.page.main, str) else self.page.main(self.cleaned_data)

    def _at_row(self, path: str, message: str) -> str:
        field = self.fields.get(self._field_at(path) or "")
        if isinstance(field, RowsField) and (found := OF_A_ROW.fullmatch(path)):
            number = int(found["number"]) - path.startswith("cast.")  # seats count from 1
            return field.complain(number, (found["part"] or "").rpartition(".")[2], message)
        return message


@cache
def setup_form(workflow: str) -> type[DeclaredForm]:
    """The form with the fields of a workflow's Config, and with the seats, that its page declares."""
    page, derived = declared(workflow), form_for(workflow)
    config = {page.renamed.get(name, name): name for name in derived.config_fields}
    own: dict[str, Any] = {}
    for name in page.fields:
        field = derived.base_fields[config[name]]
        own[name] = _buttons(field, page, name) if name in page.choices else field
        if name in page.offered:
            own[name] = forms.MultipleChoiceField(required=False) if _is_list(field) else forms.ChoiceField()
        if isinstance(field, RowsField):
            _name_parts(field, page, name)
        if no_limit := derived.base_fields.get(f"{config[name]}-none"):
            own[f"{name}-none"] = no_limit
    own |= {rows.name: SeatRowsField(rows) for rows in page.rows}
    for seat in page.seats:
        own |= _of_seat(seat)
    if page.has_repeats:
        own["repeats"] = forms.IntegerField(
            label=_("Repeats"), min_value=1, max_value=MOST_REPEATS, initial=1, required=False
        )
    fields = {name: derived.config_fields[config[name]] for name in page.fields}
    members = {"workflow": workflow, "page": page, "config_fields": fields, **own}
    made: type[DeclaredForm] = type("DeclaredSetup", (DeclaredForm,), members)
    return made


def declared(workflow: str) -> Setup:
    """Raises LookupError for a workflow that declares no set-up page."""
    page = surface_of(workflow).setup
    if page is None:
        raise LookupError(workflow)
    return page


def labels_of(page: Setup) -> dict[str, Text]:
    """What the fields are called, by name."""
    seats: dict[str, Text] = {}
    for seat in page.seats:
        seats[f"seat-{seat.seat}-model"] = seat.label
        seats |= {f"seat-{seat.seat}-{name}": PARAM_LABELS[name] for name in seat.params}
        seats[f"seat-{seat.seat}-persona"] = _("Persona")
    return {**COMMON_LABELS, **seats, **page.labels}


def _buttons(derived: forms.Field, page: Setup, name: str) -> forms.Field:
    coerce = int if isinstance(derived, forms.IntegerField) else str
    choices = list(page.choices[name].items())
    return forms.TypedChoiceField(
        choices=choices, coerce=coerce, required=False, initial=derived.initial, widget=forms.RadioSelect
    )


def _is_list(field: forms.Field) -> bool:
    return isinstance(field, LineListField)


def _name_parts(field: RowsField, page: Setup, name: str) -> None:
    for part, inner in field.fields.items():
        inner.label = page.labels.get(f"{name}.{part}", part)
        if words := page.choices.get(f"{name}.{part}"):
            inner.widget.choices = list(words.items())


def _of_seat(seat: SeatForm) -> dict[str, forms.Field]:
    def offered() -> list[tuple[str, Any]]:
        models = [(model.slug, model.label) for model in askable_models()] if seat.is_tool else speaking_models()
        return [*([("", seat.nobody)] if seat.nobody else []), *models]

    fields: dict[str, forms.Field] = {
        f"seat-{seat.seat}-model": forms.ChoiceField(choices=offered, required=False),
        **{f"seat-{seat.seat}-{name}": SEAT_PARAMS[name]() for name in seat.params},
    }
    if seat.has_persona:
        fields[f"seat-{seat.seat}-persona"] = forms.CharField(required=False, max_length=LONGEST_PERSONA)
    return fields
