"""The form in which a person gives an answer that a model gives as JSON, made from the schema of the answer.

Models and people are asked the same, and the workflow reads both answers alike. What a schema may hold: texts,
choices, lists of texts, an order of choices, and lists of objects with one text each, such as the points of a debate.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.setup.form_fields import LinesField

TEXT = "text"
UNTOLD = ("id", "speaker")  # what a person need not write: an item's number, and who they are
SOURCES = re.compile(r"\(([^()]*)\)\s*$")
LABELS = {
    TEXT: gettext_lazy("Your answer"),
    "review": gettext_lazy("Review"),
    "ranking": gettext_lazy("Ranking, best first"),
    "objective": gettext_lazy("Objective"),
    "context": gettext_lazy("Context"),
    "preferences": gettext_lazy("Preferences"),
    "missing": gettext_lazy("Not said"),
    "clarifying_questions": gettext_lazy("Questions"),
    "new_perspectives": gettext_lazy("New perspectives"),
    "counterpoints": gettext_lazy("Counterpoints"),
    "recommended": gettext_lazy("Recommended"),
    "discouraged": gettext_lazy("Discouraged"),
}
NUMBERED = {"new_perspectives": "p", "counterpoints": "c", "recommended": "action_", "discouraged": "avoid_"}
Schema = Mapping[str, Any]


class AnswerForm(forms.Form):
    """Fields are named after the properties of the schema; of an order, `NAME-1` and so on. seat: who answers."""

    def __init__(self, schema: Schema | None, seat: str, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.schema, self.seat = schema, seat
        if schema is None:
            self.fields[TEXT] = _text_field(TEXT, 12)
            return
        for name, part in _properties(schema):
            for inner, field in _fields(name, part):
                self.fields[inner] = field

    def clean(self) -> dict[str, object]:
        for name, part in _properties(self.schema or {}):
            chosen = [self.cleaned_data.get(f"{name}-{place}") for place, _label in enumerate(_choices(part), 1)]
            if _choices(part) and None not in chosen and len(set(chosen)) < len(chosen):
                self.add_error(f"{name}-1", _("Choose each answer once."))
        if not self.errors and not any(self.cleaned_data.values()):
            raise forms.ValidationError(_("The answer is empty."))
        return self.cleaned_data

    def answer(self) -> str:
        """What was filled in, as a model would have said it."""
        if self.schema is None:
            return str(self.cleaned_data[TEXT])
        found = {name: self._value(name, part) for name, part in _properties(self.schema)}
        if "speaker" in self.schema["properties"]:
            found = {"speaker": self.seat, **found}
        return json.dumps(found, ensure_ascii=False)

    def _value(self, name: str, part: Schema) -> Any:
        if choices := _choices(part):
            return [self.cleaned_data[f"{name}-{place}"] for place, _label in enumerate(choices, 1)]
        said = self.cleaned_data[name]
        if part.get("type") != "array":
            return said
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        if not (item := part["items"]).get("properties"):
            return lines
        return [_item(item, f"{NUMBERED.get(name, '')}{number}", line) for number, line in enumerate(lines, 1)]


def _properties(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """What a person fills in."""
    for name, part in schema.get("properties", {}).items():
        if name not in UNTOLD:
            yield name, _resolved(part, schema)


def _resolved(part: Schema, schema: Schema) -> Schema:
    """With the definitions that it refers to in their places, also of the items of a list."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    return {**part, "items": _resolved(part["items"], schema)} if "items" in part else part


def _choices(part: Schema) -> list[str]:
    """Of a list that orders choices."""
    return list(part.get("items", {}).get("enum", ()))


def _fields(name: str, part: Schema) -> Iterator[tuple[str, forms.Field]]:
    label = LABELS.get(name, name.replace("_", " ").capitalize())
    if choices := _choices(part):
        for place, _label in enumerate(choices, 1):
            offered = [("", "–"), *((one, one) for one in choices)]
            yield f"{name}-{place}", forms.ChoiceField(choices=offered, label=f"{label}: {place}.")
    elif part.get("enum"):
        yield name, forms.ChoiceField(choices=[(one, one) for one in part["enum"]], label=label)
    elif part.get("type") == "array":
        field = _text_field(name, 5, required=False)
        field.help_text = _("One a line.")
        if "sources" in part["items"].get("properties", {}):
            field.help_text = _("One a line, with the points that it rests on in brackets at its end: (A1.p1, B1.c2)")
        yield name, field
    else:
        yield name, _text_field(name, 5)


def _text_field(name: str, rows: int, *, required: bool = True) -> forms.Field:
    label = LABELS.get(name, name.replace("_", " ").capitalize())
    return LinesField(label=label, required=required, widget=forms.Textarea(attrs={"rows": rows}))


def _item(item: Schema, number: str, line: str) -> dict[str, object]:
    """An object of a list, from a line: its number, its text, and the references at its end where it has `sources`."""
    names = [name for name in item["properties"] if name not in (*UNTOLD, "sources")]
    found: dict[str, Any] = {"id": number} if "id" in item["properties"] else {}
    if "sources" in item["properties"]:
        cited = SOURCES.search(line)
        found["sources"] = [one.strip() for one in cited[1].split(",") if one.strip()] if cited else []
        line = SOURCES.sub("", line).strip() or line
    return found | dict.fromkeys(names[:1], line)
