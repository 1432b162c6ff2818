"""The form of a design: what is varied beside the set-up page of the workflow, and how that becomes a `Design`."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import Study
from experiments.setup.form_fields import LineListField, LinesField, Row, RowsField
from experiments.setup.forms import PARAM_LABELS, DeclaredForm, declared, labels_of, setup_form
from experiments.setup.presets import seated
from experiments.studies.design import MOST_CONDITIONS, MOST_REPEATS, Design, Factor, Level
from experiments.studies.services import MOST_AT_ONCE
from experiments.workflows import REGISTRY, surface_of

LONGEST_NAME = 80
SEPARATOR = " | "  # between the name of a level and its value
NAMED = re.compile(r"(?P<name>[^|\n]*\S) \|(?: |$)(?P<value>.*)", re.DOTALL)
CONTINUED = "  "  # begins a further line of a value
NO_NAME = " \t\r\n=+-@＝＋－＠﹦﹢﹣﹫−"  # what a name cannot begin with
PROMPT, WORDS, PROMPT_WORDS, SAVED = "prompt", "words", "prompt-words", "saved"
MOST_CSV = 1_000_000  # characters
NAME = forms.TextInput(attrs={"maxlength": LONGEST_NAME, "autocomplete": "off"})
Choices = list[tuple[Any, Any]]


def designed_workflows() -> list[str]:
    """Those that a study can play and that have a set-up page of their own."""
    return [slug for slug, one in REGISTRY.items() if surface_of(slug).home and not one.is_sharded]


@cache
def varied(workflow: str) -> Choices:
    """What a factor can vary, as the choices of a select with groups."""
    page = declared(workflow)
    labels = labels_of(page)
    opening = [(PROMPT, gettext_lazy("Prompt"))] if _opening(workflow) else []
    words = [
        (WORDS, gettext_lazy("Words in place of {name of the factor}")),
        (PROMPT_WORDS, gettext_lazy("Prompts in place of {name of the factor}")),
    ]
    seats = [(seat.seat, seat.label, seat.params, seat.has_persona) for seat in page.seats]
    for rows in page.rows:
        numbers = range(1, rows.usual + 1)
        seats += [(f"{rows.seat}-{n}", format_lazy("{} {}", rows.row, n), rows.params, False) for n in numbers]
    return [
        ("", "–"),
        (gettext_lazy("Texts"), [*opening, *words, *([(SAVED, page.saved_label)] if page.saved else [])]),
        (gettext_lazy("Participants"), [choice for seat in seats for choice in _of_seat(*seat)]),
        (
            gettext_lazy("Settings"),
            [(f"config.{_path(page.renamed, name)}", labels.get(name, name)) for name in page.fields],
        ),
    ]


def _of_seat(seat: str, label: Any, params: Iterable[str], has_persona: bool) -> Iterator[tuple[str, Any]]:
    yield f"cast.{seat}.model", format_lazy("{}: {}", label, gettext_lazy("model"))
    if has_persona:
        yield f"cast.{seat}.persona", format_lazy("{}: {}", label, gettext_lazy("Persona"))
    for name in params:
        yield f"cast.{seat}.params.{name}", format_lazy("{}: {}", label, PARAM_LABELS[name])


def _path(renamed: Mapping[str, str], name: str) -> str:
    """The field of the form as the Config has it: `limits-cost` is `limits.cost`."""
    whole = {shown: own for own, shown in renamed.items()}.get(name, name)
    return whole.replace("-", ".")


def _opening(workflow: str) -> str:
    """The setting that holds the prompt."""
    main = declared(workflow).main
    return REGISTRY[workflow].opening or (main if isinstance(main, str) else main({}))


class FactorsField(RowsField):
    def __init__(self, choices: Choices) -> None:
        super().__init__(
            {
                "varies": forms.ChoiceField(label=gettext_lazy("Varies"), choices=choices),
                "name": forms.CharField(label=gettext_lazy("Name"), widget=NAME),
                "levels": LinesField(
                    label=gettext_lazy("Levels, one a line"), widget=forms.Textarea(attrs={"rows": 3})
                ),
            },
            ("name", "levels"),
            label=gettext_lazy("Factors"),
        )


class StudyForm(DeclaredForm):
    """The set-up page of a workflow, with factors. Its settings and models are those of every run, but for what levels
    change; complaints about a condition are shown where what it was made of stands.
    """

    arrangement = forms.ChoiceField(
        label=gettext_lazy("Conditions"),
        required=False,
        choices=[
            ("crossed", gettext_lazy("every combination of levels")),
            ("latin", gettext_lazy("a Latin square of three factors")),
        ],
    )
    conditions = LinesField(
        label=gettext_lazy("Or these conditions, as CSV"),
        required=False,
        max_length=MOST_CSV,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    conditions_file = forms.FileField(label=gettext_lazy("CSV file of conditions"), required=False)
    repeats = forms.IntegerField(
        label=gettext_lazy("Repeats"), required=False, initial=10, min_value=1, max_value=MOST_REPEATS
    )
    seed = forms.IntegerField(label=gettext_lazy("Seed of the order"), required=False, initial=0, min_value=0)
    at_once = forms.IntegerField(
        label=gettext_lazy("Runs at once"), required=False, initial=10, min_value=1, max_value=MOST_AT_ONCE
    )
    cost_limit = forms.DecimalField(
        label=gettext_lazy("Cost limit, US dollars"), required=False, min_value=0, max_digits=12, decimal_places=4
    )

    batches = forms.BooleanField(label=gettext_lazy("Answers in batches"), required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["title"].required = True
        self.made: list[Factor] = []
        self.listed: list[dict[str, str]] = []

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        self.made = []
        for number, row in enumerate(cleaned.get("factors", [])):
            try:
                self.made.append(self._factor(row))
            except forms.ValidationError as error:
                self.add_error("factors", self._rows.complain(number, "levels", error.messages[0]))
        try:
            self._list_conditions(_sent_csv(cleaned))
        except forms.ValidationError as error:
            self.add_error("conditions", error)
        return cleaned

    @property
    def _rows(self) -> FactorsField:
        return cast(FactorsField, self.fields["factors"])

    def design(self) -> dict[str, object]:
        """As `Design` reads it; nothing but it has checked it."""
        asked = self.asked()
        return {
            "workflow": self.workflow,
            "config": asked["config"],
            "cast": asked["cast"],
            "factors": [factor.model_dump(mode="json") for factor in self.made],
            "arrangement": "list" if self.listed else self.cleaned_data.get("arrangement") or "crossed",
            "conditions": self.listed,
            "repeats": self.cleaned_data.get("repeats") or 1,
            "seed": self.cleaned_data.get("seed") or 0,
            "batches": bool(self.cleaned_data.get("batches")),
        }

    def _factor(self, row: Row) -> Factor:
        key, levels = row["varies"], list(parsed_levels(row["levels"]))
        if not key:
            raise forms.ValidationError(_("Choose what the factor varies."))
        if key in (WORDS, PROMPT_WORDS) and not row["name"].strip():
            raise forms.ValidationError(_("Enter a name. It stands in braces in the texts."))
        if not levels:
            raise forms.ValidationError(_("Write at least one level."))
        name = row["name"].strip() or _named(str(dict(_flattened(varied(self.workflow))).get(key, key)))
        return self._made_factor(name, key, levels)

    def _made_factor(self, name: str, key: str, levels: Iterable[tuple[str, str]]) -> Factor:
        """Raises ValidationError where a name or what is varied cannot be one."""
        paths = {
            PROMPT: f"config.{_opening(self.workflow)}",
            **dict.fromkeys((WORDS, PROMPT_WORDS), f"texts.{name}"),
            SAVED: "",
        }
        path = paths.get(key, key)
        try:
            return Factor(
                name=name,
                varies=path,
                is_prompt=key in (PROMPT, PROMPT_WORDS),
                levels=[self._level(title, key, path, text) for title, text in levels],
            )
        except ValueError as error:
            said = _("The name of a factor or level is too long, or begins with a sign.")
            raise forms.ValidationError(said) from error

    def _level(self, name: str, key: str, path: str, text: str) -> Level:
        if key == SAVED and self.page.saved:
            found = self.page.saved(self.reader)
            if text not in found:
                raise forms.ValidationError(_("There is nothing saved under the name “%(name)s”.") % {"name": text})
            return Level(name=name, value=text, config=dict(found[text]))
        return Level(name=name, value=text if self._is_text(path) else _json_or_text(text))

    def _is_text(self, path: str) -> bool:
        """Whether the value is a text whatever it looks like."""
        if path.startswith("cast."):
            return not path.endswith(("temperature", "top_p", "max_tokens", "seed"))
        fields = {f"config.{_path(self.page.renamed, name)}": self.fields[name] for name in self.page.fields}
        field = fields.get(path)
        return field is None or (isinstance(field, forms.CharField) and not isinstance(field, LineListField))

    def _list_conditions(self, text: str) -> None:
        """Columns are factors of the form, whose cells name levels, or what a further factor varies."""
        self.listed = []
        if not text.strip():
            return
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        header, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
        if not rows or len(rows) > MOST_CONDITIONS or any(len(row) != len(header) for row in rows):
            said = _(
                "The CSV needs a line with the names of its columns, and one to %(most)s conditions with as many cells."
            )
            raise forms.ValidationError(said % {"most": MOST_CONDITIONS})
        keys = dict(_flattened(varied(self.workflow)))
        known = {factor.name for factor in self.made}
        columns: list[tuple[str, list[str]]] = []
        for place, cell in enumerate(header):
            name, cells = cell.strip(), [row[place] for row in rows]
            if name not in known:
                shown, _bar, key = name.rpartition(SEPARATOR)
                if key not in keys:
                    said = _("“%(name)s” is neither a factor nor something that can be varied.")
                    raise forms.ValidationError(said % {"name": name})
                names = _distinct(dict.fromkeys(cells))
                name = shown or _named(str(keys[key]))
                self.made.append(self._made_factor(name, key, ((level, value) for value, level in names.items())))
                cells = [names[value] for value in cells]
            columns.append((name, [value.strip() for value in cells]))
        self.listed = [{name: cells[number] for name, cells in columns} for number in range(len(rows))]

    def _field_at(self, path: str) -> str | None:
        kind, _dot, rest = path.partition(".")
        if kind != "design":
            return super()._field_at(path)
        if rest.startswith("condition-"):
            return super()._field_at(rest.partition(".")[2]) or "factors"
        first = rest.partition(".")[0]
        return first if first in self.fields else "factors"

    def _at_row(self, path: str, message: str) -> str:
        parts = path.split(".")
        if parts[:2] != ["design", "factors"] or len(parts) < 3:
            return super()._at_row(path, message)
        return self._rows.complain(int(parts[2]), "name" if parts[3:] == ["name"] else "levels", message)


@cache
def study_form(workflow: str) -> type[StudyForm]:
    factors = FactorsField(varied(workflow))
    made: type[StudyForm] = type("StudySetup", (StudyForm, setup_form(workflow)), {"factors": factors})
    return made


def values_of(study: Study) -> dict[str, object]:
    """A study that was set up as the form takes it."""
    design = Design.model_validate(study.design)
    opening = f"config.{_opening(design.workflow)}"
    return {
        **study_form(design.workflow).values_of(design.config),
        **seated(declared(design.workflow), design.cast),
        "title": study.title,
        "factors": [
            {
                "name": factor.name,
                "varies": _key_of(factor, opening),
                "levels": "\n".join(written_level(level) for level in factor.levels),
            }
            for factor in design.factors
        ],
        "arrangement": "crossed" if design.arrangement == "list" else design.arrangement,
        "conditions": _as_csv(design) if design.arrangement == "list" else "",
        "repeats": design.repeats,
        "seed": design.seed,
        "batches": design.batches,
        "at_once": study.at_once,
        "cost_limit": study.cost_limit,
    }


def can_be_shown(study: Study) -> bool:
    """Whether the form can hold the design: its levels have nothing but the value of what their factor varies."""
    design = Design.model_validate(study.design)
    return design.workflow in designed_workflows() and all(
        (factor.varies and not (level.config or level.cast or level.texts)) or (not factor.varies and level.value)
        for factor in design.factors
        for level in factor.levels
    )


def _key_of(factor: Factor, opening: str) -> str:
    if factor.varies == opening and factor.is_prompt:
        return PROMPT
    if factor.varies == f"texts.{factor.name}":
        return PROMPT_WORDS if factor.is_prompt else WORDS
    return factor.varies or SAVED


def _as_csv(design: Design) -> str:
    text = io.StringIO()
    names = [factor.name for factor in design.factors]
    rows = ([levels[name] for name in names] for levels in design.conditions)
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()


def parsed_levels(text: str) -> Iterator[tuple[str, str]]:
    """Name and value of each: a line is `name | value`, or a value alone; one that begins with two spaces goes on with
    the value above.
    """
    values: list[str] = []
    for line in text.splitlines():
        if line.startswith(CONTINUED) and values:
            values[-1] += f"\n{line.removeprefix(CONTINUED)}"
        elif line.strip():
            values.append(line.strip())
    told = [NAMED.match(value) for value in values]
    plain = dict.fromkeys(value for value, found in zip(values, told, strict=True) if not found)
    named = _distinct(plain)
    for value, found in zip(values, told, strict=True):
        yield (found["name"].strip(), found["value"]) if found else (named[value], value)


def written_level(level: Level) -> str:
    value = level.value if isinstance(level.value, str) else json.dumps(level.value, ensure_ascii=False)
    first, *rest = value.splitlines() or [""]
    head = first if value == level.name else f"{level.name}{SEPARATOR}{first}"
    return "\n".join([head, *(CONTINUED + line for line in rest)])


def _distinct(values: Iterable[str]) -> dict[str, str]:
    """A name for each value: how it begins, with a number where two begin alike."""
    names: dict[str, str] = {}
    for value in values:
        base = name = _named(value)
        number = 2
        while name in names.values():
            name = f"{base[: LONGEST_NAME - 5]} ({number})"
            number += 1
        names[value] = name
    return names


def _named(value: str) -> str:
    return " ".join(value.split()).lstrip(NO_NAME)[:LONGEST_NAME].strip() or str(_("none"))


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _sent_csv(cleaned: Mapping[str, Any]) -> str:
    """Of the file, where one was sent. Raises ValidationError."""
    sent = cleaned.get("conditions_file")
    if not isinstance(sent, UploadedFile):
        return str(cleaned.get("conditions") or "")
    if (sent.size or 0) > MOST_CSV:
        raise forms.ValidationError(_("The file is too large."))
    try:
        return str(sent.read(), "utf-8-sig")
    except UnicodeDecodeError as error:
        raise forms.ValidationError(_("The file is no text in UTF-8.")) from error


def _flattened(choices: Choices) -> Iterator[tuple[str, Any]]:
    for value, inside in choices:
        yield from inside if isinstance(inside, list) else [(value, inside)]
