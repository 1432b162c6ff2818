"""What a set-up page shows of its form, and a run page of its set-up: each declared part with what it is set to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from experiments.setup.form_fields import LEAST_ROWS, RowsField
from experiments.setup.forms import COMMON_HINTS, DeclaredForm, flat, labels_of, titles_of_rows
from experiments.workflows import surface_of, workflow_of
from experiments.workflows.base.surface import Example, Group, Part, SeatForm, SeatRows, Seats

SPARE = 2  # rows that stand there for those without a script, beside the usual ones
NONE = gettext_lazy("none")
BLANK = "__NUMBER__"  # stands for the number of a row that a script adds


@dataclass(frozen=True, slots=True)
class Shown:
    """A field. unset: the words for nothing. no_limit: the box beside a number that may be without limit. examples: of
    the texts that it may hold.
    """

    bound: BoundField
    hint: Any = ""
    unset: Any = NONE
    no_limit: BoundField | None = None
    examples: Sequence[Example] = ()

    @property
    def kind(self) -> str:
        """How it is drawn: box, buttons, items or field."""
        if isinstance(self.bound.field, RowsField):
            return "items"
        if isinstance(self.bound.field.widget, forms.RadioSelect):
            return "buttons"
        return "box" if isinstance(self.bound.field, forms.BooleanField) else "field"

    @property
    def is_text(self) -> bool:
        return isinstance(self.bound.field.widget, forms.Textarea)

    @property
    def hint_id(self) -> str:
        return f"{self.bound.html_name}-hint" if self.hint else ""

    @property
    def said(self) -> Any:
        """What it is set to; of a long text, how long it is."""
        value = self.bound.value()
        if self.kind == "box":
            return _("yes") if value else _("no")
        if value in (None, "", []):
            return self.unset
        if self.is_text:
            length = len(str(value))
            return ngettext("%(n)s character", "%(n)s characters", length) % {"n": f"{length:,}"}
        if self.kind == "items":
            return len(value)
        choices = {str(key): words for key, words in getattr(self.bound.field, "choices", ())}
        return choices.get(str(value), value)


@dataclass(frozen=True, slots=True)
class ShownSeat:
    """box: the field that has to be ticked for it. fields: of the Config, which belong to it."""

    declared: SeatForm
    box: Shown | None
    model: BoundField
    params: list[Shown]
    fields: list[Shown]
    persona: BoundField | None

    @property
    def is_on(self) -> bool:
        return self.box is None or bool(self.box.bound.value())

    @property
    def said(self) -> Any:
        """What the model is called, or that the seat is off."""
        choices = dict(self.model.field.choices)  # type: ignore[attr-defined]  # a choice field, which Django types as any field
        return choices.get(self.model.value() or "", self.declared.nobody) if self.is_on else _("off")

    @property
    def has_wrong_params(self) -> bool:
        return any(one.bound.errors for one in self.params)

    @property
    def has_errors(self) -> bool:
        return bool(self.model.errors) or any(one.bound.errors for one in (*self.params, *self.fields))


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of numbered seats or of items. values, errors: by part; errors of "" are about the whole row."""

    bound: BoundField
    number: int | str
    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown_number(self) -> int | str:
        return self.number + 1 if isinstance(self.number, int) else ""

    @property
    def id(self) -> str:
        return f"{self.bound.html_name}-{self.number}"

    @property
    def parts(self) -> list["ShownPartOfRow"]:
        return [ShownPartOfRow(self, name) for name in self.field.fields]

    @property
    def params(self) -> list["ShownPartOfRow"]:
        """Of a seat: how its model samples."""
        return [one for one in self.parts if one.name not in ("model", "name")]

    @property
    def named(self) -> "ShownPartOfRow | None":
        """Of a seat: its name, where it has one."""
        return next((one for one in self.parts if one.name == "name"), None)

    @property
    def has_params(self) -> bool:
        return bool(self.errors) or any(self.values.get(one.name) for one in self.params)

    @property
    def field(self) -> RowsField:
        of_rows: RowsField = self.bound.field  # type: ignore[assignment]  # a field of our own, which Django types as any field
        return of_rows


@dataclass(frozen=True, slots=True)
class ShownPartOfRow:
    """An input of a row."""

    row: ShownRow
    name: str

    @property
    def field(self) -> forms.Field:
        return self.row.field.fields[self.name]

    @property
    def id(self) -> str:
        return f"id_{self.row.id}-{self.name}"

    @property
    def label(self) -> Any:
        return self.field.label

    @property
    def is_text(self) -> bool:
        return isinstance(self.field.widget, forms.Textarea)

    @property
    def is_box(self) -> bool:
        return isinstance(self.field.widget, forms.CheckboxInput)

    @property
    def is_hidden(self) -> bool:
        return bool(self.field.widget.is_hidden)

    @property
    def control(self) -> SafeString:
        attributes: dict[str, Any] = {"id": self.id}
        if self.name in self.row.field.widget.telling:
            attributes["data-tells"] = True
        if self.name in self.row.errors:
            attributes |= {"aria-invalid": "true", "aria-describedby": f"{self.row.id}-error"}
        value = self.row.values.get(self.name, self.field.initial)
        drawn: SafeString = self.field.widget.render(f"{self.row.id}-{self.name}", value, attributes)
        return drawn


@dataclass(frozen=True, slots=True)
class ShownRows:
    """rows: those that are filled in, and some that are not. filled: how many. blank: what a script adds rows from."""

    rows: list[ShownRow]
    filled: int
    blank: ShownRow


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A group of fields, of seats, or rows of numbered seats. applies: False of a group whose `when` is not so."""

    declared: Part
    applies: bool = True
    fields: list[Shown] = field(default_factory=list)
    seats: list[ShownSeat] = field(default_factory=list)
    rows: ShownRows | None = None
    bound: BoundField | None = None

    @property
    def is_optional(self) -> bool:
        """Of seats: whether the cast is whole without any of them."""
        return all(seat.declared.nobody and not seat.box for seat in self.seats)

    @property
    def chosen(self) -> str:
        return " · ".join(str(seat.said) for seat in self.seats if seat.model.value())

    @property
    def has_errors(self) -> bool:
        return any(seat.has_errors for seat in self.seats) or any(one.bound.errors for one in self.fields)


PEOPLE = Group(
    ("people",),
    title=gettext_lazy("People"),
    hint=gettext_lazy("A person takes the place of the model chosen above. The run waits for their answers."),
    is_folded=True,
)


def parts_of(form: DeclaredForm) -> list[ShownPart]:
    """The declared parts of the page, with the fields of the form."""
    parts = []
    for part in (*form.page.parts, *([PEOPLE] if "people" in form.fields else [])):
        if isinstance(part, Seats):
            parts.append(ShownPart(part, seats=[_seat(form, seat) for seat in part.seats]))
        elif isinstance(part, SeatRows):
            bound = form[part.name]
            parts.append(ShownPart(part, rows=rows_of(bound, part.usual + SPARE, part.most), bound=bound))
        else:
            applies = part.when is None or form.says(*part.when)
            parts.append(ShownPart(part, applies, [shown(form, name) for name in part.fields]))
    return parts


def _seat(form: DeclaredForm, seat: SeatForm) -> ShownSeat:
    prefix = f"seat-{seat.seat}"
    return ShownSeat(
        seat,
        shown(form, seat.needs) if seat.needs else None,
        form[f"{prefix}-model"],
        [shown(form, f"{prefix}-{name}") for name in seat.params],
        [shown(form, name) for name in seat.fields],
        form[f"{prefix}-persona"] if seat.has_persona else None,
    )


def shown(form: DeclaredForm, name: str) -> Shown:
    bound = form[name]
    hint = form.page.hints.get(name) or COMMON_HINTS.get(name, "")
    empty = next((words for value, words in getattr(bound.field, "choices", ()) if value == ""), NONE)
    no_limit = form[f"{name}-none"] if f"{name}-none" in form.fields else None
    unset = bound.field.widget.attrs.get("placeholder", empty)
    return Shown(bound, hint, unset, no_limit, form.page.examples.get(name, ()))


def rows_of(bound: BoundField, least: int = LEAST_ROWS, most: int | None = None) -> ShownRows:
    given = bound.value() or []
    errors = bound.field.errors if bound.form.is_bound else {}  # type: ignore[attr-defined]  # a field of our own, which Django types as any field
    rows = [ShownRow(bound, number, row, errors.get(number, {})) for number, row in enumerate(given)]
    spare = [ShownRow(bound, number) for number in range(len(rows), max(len(rows) + 1, least))]
    return ShownRows([*rows, *spare][:most], len(rows), ShownRow(bound, BLANK))


LONG = 80  # characters of a text that stands by itself


@dataclass(frozen=True, slots=True)
class SetupFact:
    name: str
    label: str
    text: str

    @property
    def is_long(self) -> bool:
        return len(self.text) > LONG or "\n" in self.text


def facts(workflow: str, config: Mapping[str, Any]) -> Iterator[SetupFact]:
    """Of a workflow that declares its set-up page, in the order of its groups; of others, what is stored. Rows of a
    list have the titles of their fields in the Config.
    """
    page = surface_of(workflow).setup
    renamed = page.renamed if page else {}
    values = dict(flat({renamed.get(name, name): value for name, value in config.items()}))
    labels = labels_of(page) if page else {}
    names = page.fields if page else tuple(values)
    for name in names:
        if values.get(name) not in (None, "", []):
            titles = titles_of_rows(workflow_of(workflow).config, name)
            yield SetupFact(name, str(labels.get(name, name)), _in_words(values[name], titles))


def _in_words(value: Any, titles: Mapping[str, str]) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping):
        told = [(titles.get(name, name), _in_words(part, {})) for name, part in value.items()]
        return ", ".join(f"{title}: {words}" for title, words in told if words)
    if isinstance(value, list):
        return "\n".join(_in_words(one, titles) for one in value)
    return "" if value is None else str(value)
