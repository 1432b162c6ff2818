"""The form of a set-up page: fields and seats derived from the workflow's Config, words from the declared page."""

import re
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from django import forms
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from accounts.people import once
from accounts.pickers import people
from experiments.lab.catalog.menu import askable_models, speaking_models
from experiments.models.labels import role_name, seat_name
from experiments.runs.actions import MOST_REPEATS
from experiments.setup.form_fields import LineListField, LinesField, Row, RowsField
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.limits import WORDS
from experiments.workflows.base.surface import Asked, AskedSeat, Group, SeatForm, SeatRows, Setup, Text

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_PERSONA = 100
MOST_MINUTES = 10_080  # of a person for one answer: a week
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
                self.add_error(name, _("Enter a number, or tick “No limit”."))
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
            is_number = isinstance(self.fields[name], forms.FloatField | forms.IntegerField)
            is_none = self.cleaned_data.get(f"{name}-none") or (value == "" and is_number)
            place[leaf] = None if is_none else value
        return {  # individual instructions that were all left empty are no instructions
            name: value
            for name, value in config.items()
            if not (isinstance(value, dict) and value and all(item in (None, "") for item in value.values()))
        }

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


def _number(kind: type[forms.IntegerField], **bounds: float) -> forms.Field:
    """A number; its bounds are hints for the browser, and checked with the rest."""
    decimals = {"inputmode": "numeric"} if kind is forms.IntegerField else {"inputmode": "decimal", "step": "any"}
    return kind(required=False, widget=forms.NumberInput(attrs={**bounds, **decimals}))


UPSTREAMS = forms.TextInput(
    attrs={"maxlength": 300, "autocomplete": "off", "spellcheck": "false", "placeholder": "deepinfra/fp8, together"}
)
SEAT_PARAMS: dict[str, Callable[[], forms.Field]] = {
    "temperature": lambda: _number(forms.FloatField, min=0, max=2),
    "top_p": lambda: _number(forms.FloatField, min=0, max=1),
    "max_tokens": lambda: _number(forms.IntegerField, min=1),
    "seed": lambda: _number(forms.IntegerField),
    "reasoning_effort": lambda: forms.ChoiceField(
        choices=[("", _("model's default")), *((effort, CHOICES[effort]) for effort in EFFORTS)], required=False
    ),
    "served_by": lambda: forms.CharField(required=False, widget=UPSTREAMS),
}


@cache
def form_for(workflow: str) -> type[SetupForm]:
    """The form class of a workflow."""
    found = REGISTRY[workflow]
    fields = dict(_flat(found.config))
    members: dict[str, Any] = {"workflow": workflow, "config_fields": fields}
    for name, info in fields.items():
        members[name] = _field_of(name, info)
        if type(None) in _bare_types(info.annotation) and info.default is not None and not info.is_required():
            members[f"{name}-none"] = forms.BooleanField(label=_("No limit"), required=False)
    return type(f"{workflow.title()}Form", (SetupForm,), members)


def _flat(config: type[BaseModel], prefix: str = "") -> Any:
    fields = getattr(config, "CHOSEN_BY", config.model_fields) if prefix else config.model_fields
    for name in fields:
        info = config.model_fields[name]
        inner = None if get_origin(info.annotation) is list else _inner_model(info.annotation)
        if inner:
            yield from _flat(inner, f"{prefix}{name}-")
        else:
            yield f"{prefix}{name}", info


def titles_of_rows(config: type[BaseModel], name: str) -> dict[str, str]:
    """What the fields of the rows are called that a list of a Config holds; empty for a list of something else."""
    info = dict(_flat(config)).get(name)
    inner = _inner_model(info.annotation) if info else None
    fields = inner.model_fields if inner else {}
    return {part: about.title or part.replace("_", " ").capitalize() for part, about in fields.items()}


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


def _field_of(name: str, info: FieldInfo) -> forms.Field:
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
    said = _said(info)
    if numbers := {int, float} & bare:
        names = {"ge": "min", "gt": "min", "le": "max", "lt": "max"}  # as the attributes of an input are called
        bounds = {bound: getattr(one, name) for name, bound in names.items() for one in said if hasattr(one, name)}
        field = _number(forms.IntegerField if int in numbers else forms.FloatField, **bounds)
        field.initial = int(initial) if isinstance(initial, float) and initial.is_integer() else initial
        if type(None) in bare:
            field.widget.attrs["placeholder"] = _("none")
        return field
    longest = next((one.max_length for one in said if getattr(one, "max_length", None)), None)
    if longest is not None and longest <= ONE_LINE:
        return forms.CharField(required=False, initial=initial, widget=forms.TextInput(attrs={"maxlength": longest}))
    return LinesField(required=False, strip=False, initial=initial, widget=forms.Textarea(attrs={"rows": 7}))


def _items(inner: type[BaseModel]) -> RowsField:
    """Rows of things; a row is one as soon as something was written, for a choice is always made."""
    fields = {name: _field_of(name, info) for name, info in inner.model_fields.items()}
    for field in fields.values():
        if isinstance(field.widget, forms.Textarea):
            field.widget.attrs["rows"] = 2
    return RowsField(fields, [name for name, field in fields.items() if not isinstance(field, forms.ChoiceField)])


def _said(info: FieldInfo) -> list[Any]:
    """What the Config says of a value beside its type, also inside a union."""
    within = [found for item in get_args(info.annotation) for found in getattr(item, "__metadata__", ())]
    return [*info.metadata, *within, *(one for found in within for one in getattr(found, "metadata", ()))]


CHOICES: dict[str, Any] = {
    "automatic": _("Automatic"),
    "manual": _("Manual"),
    "shared": _("One prompt for both"),
    "individual": _("One prompt each"),
    "A": _("Model A"),
    "B": _("Model B"),
    "filtered": _("only what the filter passed on"),
    "original": _("every reply as the model wrote it"),
    "both": _("both versions"),
    "placeholder": _("the other side gets a placeholder"),
    "pause": _("the run waits for you"),
    "stop": _("the run stops"),
    "minimal": _("minimal"),
    "low": _("low"),
    "medium": _("medium"),
    "high": _("high"),
}


COMMON_LABELS = {
    "title": _("Title"),
    "mode": _("Mode"),
    "system_prompt": _("System prompt"),
    "max_turns": _("Max turns"),
    **{f"limits-{name}": _(words.label) for name, words in WORDS.items()},
    "judge_seconds": _("Time limit of the judge, seconds"),
    "people": _("Participants who are people"),
    "judge_sees_reasoning": _("The judge reads the models' reasoning"),
}
COMMON_HINTS = {
    "people": _("Blind: they are not told which models the others are, and readers are not told who they are."),
    "limits-seconds": _("Time spent waiting for you does not count."),
    "judge_seconds": _("After two attempts the turn continues unscored."),
    "judge_sees_reasoning": _("Then it can score deception by intent, not by words alone. Uses more tokens."),
}
PARAM_LABELS = {
    "temperature": _("Temperature"),
    "top_p": _("Top p"),
    "max_tokens": _("Max tokens per reply"),
    "seed": _("Seed"),
    "reasoning_effort": _("Reasoning effort"),
    "served_by": _("Served by (OpenRouter)"),
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
        rows: list[Row] = []
        for number, row in enumerate(super().clean(value)):
            named = {"name": row["name"].strip()} if self.rows.has_names else {}
            rows.append({"model": row["model"], **named, "params": self._params(number, row)})
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

    def _params(self, number: int, row: Row) -> dict[str, object]:
        params: dict[str, Any] = {}
        for name in self.rows.params:
            text = row[name].strip()
            try:
                params |= {name: NUMBERS.get(name, str)(text)} if text else {}
            except ValueError:
                self.complain(number, name, str(_("Enter a number.")))
        return params


def _user_names(who: object) -> list[str]:
    return [one.username for one in people()]


class PeopleField(RowsField):
    """Which seats people take: {seat, user, minutes, blind} of each. user: "" for an invitation link."""

    def __init__(self, workflow: str) -> None:
        def users() -> list[tuple[str, Any]]:
            return [("", _("Invitation link")), *((name, name) for name in once(_user_names))]

        seats = [(seat, role_name(workflow, seat)) for seat in REGISTRY[workflow].people]
        fields = {
            "seat": forms.ChoiceField(choices=[("", "–"), *seats], label=_("Participant")),
            "user": forms.ChoiceField(choices=users, label=_("Person")),
            "minutes": _number(forms.IntegerField, min=1, max=MOST_MINUTES),
            "blind": forms.BooleanField(label=_("Blind")),
        }
        fields["minutes"].label, fields["minutes"].initial = _("Minutes for each answer"), 10
        super().__init__(fields, ("seat",), label=_("People"))

    def clean(self, value: Any) -> list[Row]:
        rows = super().clean(value)
        for number, row in enumerate(rows):
            if not row["minutes"].isdecimal() or not 1 <= int(row["minutes"]) <= MOST_MINUTES:
                raise forms.ValidationError(self.complain(number, "minutes", str(_("Enter a number of minutes."))))
            if row["seat"] in {one["seat"] for one in rows[:number]}:
                raise forms.ValidationError(
                    self.complain(number, "seat", str(_("This participant is a person already.")))
                )
        return rows


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
        if not self.is_bound and (main := self._main(self.initial)):
            self.fields[main].widget.attrs["autofocus"] = True
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
        asked = self.page.asked(self, asked) if self.page.asked else asked
        people: dict[str, AskedSeat] = {  # in the place of the models that were chosen for their seats
            row["seat"]: {
                "person": {"user": row["user"], "seconds": 60 * int(row["minutes"]), "blind": row["blind"] == "on"}
            }
            for row in self.cleaned_data.get("people") or ()
        }
        return {**asked, "cast": asked["cast"] | people}

    def typed(self) -> dict[str, Any]:
        """What stands in the fields, right or not."""
        return {name: self[name].value() for name in self.fields}

    def _idle(self) -> set[str]:
        """Fields of the groups that do not apply."""
        groups = (part for part in self.page.parts if isinstance(part, Group))
        return {name for part in groups if part.when and not self.says(*part.when) for name in part.fields}

    def says(self, name: str, value: str) -> bool:
        """Whether a field has this value; "on" of a box that is ticked."""
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
            return self._main(self.cleaned_data) or None
        if kind == "cast" and ".person" in rest:
            return "people"
        if kind == "config":
            first, dot, inner = rest.partition(".")
            path = f"{kind}.{self.page.renamed.get(first, first)}{dot}{inner}"
        rows = (one.name for one in self.page.rows if kind == "cast" and rest.startswith(f"{one.seat}-"))
        within = (name for name in self.fields if kind == "config" and name.startswith(f"{rest.partition('.')[0]}-"))
        return next(rows, None) or super()._field_at(path) or next(within, None)

    def _main(self, filled: Mapping[str, Any]) -> str:
        return self.page.main if isinstance(self.page.main, str) else self.page.main(filled)

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
        own[name] = field
        if name in page.choices:
            own[name] = forms.TypedChoiceField(
                choices=list(page.choices[name].items()),
                coerce=int if isinstance(field, forms.IntegerField) else str,
                required=False,
                initial=field.initial,
                widget=forms.RadioSelect,
            )
        if name in page.offered:
            is_list = isinstance(field, LineListField)
            own[name] = forms.MultipleChoiceField(required=False) if is_list else forms.ChoiceField()
        for part, inner in field.fields.items() if isinstance(field, RowsField) else ():
            inner.label = page.labels.get(f"{name}.{part}", part)
            if words := page.choices.get(f"{name}.{part}"):
                inner.widget.choices = list(words.items())
        if no_limit := derived.base_fields.get(f"{config[name]}-none"):
            own[f"{name}-none"] = no_limit
    own |= {rows.name: SeatRowsField(rows) for rows in page.rows}
    for seat in page.seats:
        own |= _of_seat(seat)
    if REGISTRY[workflow].people:
        own["people"] = PeopleField(workflow)
    if not REGISTRY[workflow].is_sharded:
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
