"""The form of an instrument: its fields with their words, and its dimensions as rows. What may be is checked once, by
the verbs.
"""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.library.instruments.transcripts import judges
from experiments.setup.form_fields import LinesField, Row, RowsField, pairs
from experiments.workflows.base.instruments import LENGTH, Categories, Count, Definition, Dimension, ScaleDimension
from experiments.workflows.base.rubrics import plain

KINDS = {
    "scale": gettext_lazy("a scale"),
    "categories": gettext_lazy("categories"),
    "yes_no": gettext_lazy("yes or no"),
    "count": gettext_lazy("a count"),
    "quotation": gettext_lazy("quotations"),
}
LEVELS = {
    "ordinal": gettext_lazy("an order"),
    "interval": gettext_lazy("equal steps"),
    "nominal": gettext_lazy("categories"),
}
UNITS = {
    "message": gettext_lazy("each message"),
    "pair": gettext_lazy("each message with the one before it in the same turn"),
    "span": gettext_lazy("so many messages in a row"),
    "turn": gettext_lazy("each turn"),
    "run": gettext_lazy("the whole run"),
}
TEXTS = {
    "original": gettext_lazy("as it was produced"),
    "filtered": gettext_lazy("as it was passed on"),
    "both": gettext_lazy("both, where they differ"),
}
PLACES = {  # where each field stands in the definition
    "unit": ("unit",),
    "length": ("length",),
    "each_speaker": ("each_speaker",),
    "text": ("sees", "text"),
    "reasoning": ("sees", "reasoning"),
    "instructions": ("sees", "instructions"),
    "interventions": ("sees", "interventions"),
    "names": ("sees", "names"),
    "earlier": ("sees", "earlier"),
    "prompt": ("prompt",),
    "model": ("model",),
    "temperature": ("params", "temperature"),
    "max_tokens": ("params", "max_tokens"),
    "seconds": ("seconds",),
    "attempts": ("attempts",),
    "beside": ("beside",),
}
OF_SCALE = ("low", "high", "step")


def _words(label: Any, rows: int, example: Any = "") -> forms.CharField:
    return forms.CharField(label=label, widget=forms.Textarea(attrs={"rows": rows, "placeholder": example}))


def _number(label: Any, initial: str) -> forms.CharField:
    widget = forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"})
    return forms.CharField(label=label, widget=widget, initial=initial)


class DimensionsField(RowsField):
    """What is measured, one row for each dimension. Anchors and categories are written one a line, `value = words`."""

    def __init__(self) -> None:
        fields = {
            "title": forms.CharField(label=gettext_lazy("Label")),
            "name": forms.CharField(label=gettext_lazy("Key for programs")),
            "kind": forms.ChoiceField(label=gettext_lazy("Measured as"), choices=list(KINDS.items())),
            "description": _words(gettext_lazy("What counts as what"), 2),
            "low": _number(gettext_lazy("From"), "1"),
            "high": _number(gettext_lazy("To"), "5"),
            "step": _number(gettext_lazy("In steps of"), "1"),
            "level": forms.ChoiceField(label=gettext_lazy("Values are"), choices=list(LEVELS.items())),
            "anchors": _words(gettext_lazy("Anchors, one a line"), 3, gettext_lazy("1 = not at all")),
            "choices": _words(gettext_lazy("Categories, one a line"), 3, gettext_lazy("partly = in part")),
            "is_continuous": forms.BooleanField(label=gettext_lazy("The judge may give values between the steps")),
            "ordered": forms.BooleanField(label=gettext_lazy("From the least to the most")),
            "multiple": forms.BooleanField(label=gettext_lazy("Several can be chosen")),
            "needs_quotation": forms.BooleanField(label=gettext_lazy("A finding needs a quotation")),
            "measure": forms.CharField(widget=forms.HiddenInput),
            "most": forms.CharField(widget=forms.HiddenInput),
        }
        super().__init__(fields, ("title", "name", "description"), label=gettext_lazy("Dimensions"))

    def clean(self, value: Any) -> list[Row]:
        if not (rows := super().clean(value)):
            raise forms.ValidationError(_("Add at least one dimension."))
        return rows

    def row_name(self, row: int) -> Any:
        return _("Dimension %(number)s") % {"number": row + 1}


class InstrumentForm(forms.Form):
    """One version of an instrument, with what it is called and who sees it."""

    title = forms.CharField(label=gettext_lazy("Title"), required=False, strip=False)
    description = forms.CharField(
        label=gettext_lazy("What it looks for"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    shared = forms.BooleanField(label=gettext_lazy("Share with the lab"), required=False)
    unit = forms.ChoiceField(
        label=gettext_lazy("It judges"), choices=list(UNITS.items()), widget=forms.RadioSelect, initial="message"
    )
    length = forms.IntegerField(label=gettext_lazy("Messages in a row"), required=False, initial=LENGTH)
    each_speaker = forms.BooleanField(label=gettext_lazy("Each participant is measured alone"), required=False)
    text = forms.ChoiceField(
        label=gettext_lazy("Text of the messages"),
        choices=list(TEXTS.items()),
        widget=forms.RadioSelect,
        initial="original",
    )
    reasoning = forms.BooleanField(label=gettext_lazy("The models' reasoning"), required=False)
    instructions = forms.BooleanField(label=gettext_lazy("The instructions"), required=False, initial=True)
    interventions = forms.BooleanField(label=gettext_lazy("The operator's interventions"), required=False, initial=True)
    names = forms.BooleanField(label=gettext_lazy("The names of the models"), required=False)
    earlier = forms.IntegerField(
        label=gettext_lazy("Earlier messages"), required=False, min_value=0, help_text=gettext_lazy("all when empty")
    )
    dimensions = DimensionsField()
    prompt = LinesField(label=gettext_lazy("Prompt"), required=False, strip=False, widget=forms.Textarea)
    model = forms.ChoiceField(
        label=gettext_lazy("Judge"),
        required=False,
        help_text=gettext_lazy("Unless another one is chosen where the instrument is used."),
    )
    temperature = forms.FloatField(label=gettext_lazy("Temperature"), required=False)
    max_tokens = forms.IntegerField(label=gettext_lazy("Max tokens per reply"), required=False)
    seconds = forms.FloatField(
        label=gettext_lazy("Time limit, seconds"), required=False, help_text=gettext_lazy("none when empty")
    )
    attempts = forms.IntegerField(label=gettext_lazy("Attempts"), required=False)
    beside = forms.BooleanField(
        label=gettext_lazy("In a live run, the next turn begins while it judges"), required=False
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        models, said = judges(), self["model"].value()
        is_known = not said or said in dict(models)
        field: Any = self.fields["model"]
        field.choices = [("", _("lab default")), *models, *([] if is_known else [(said, said)])]

    @property
    def content(self) -> dict[str, object]:
        """The definition as it was written; what is no number stays text, which the definition refuses by name."""
        found: dict[str, Any] = {"dimensions": [_dimension(row) for row in self.cleaned_data["dimensions"]]}
        for name, (*parents, leaf) in PLACES.items():
            value = self.cleaned_data[name]
            if value is None and name not in ("earlier", "seconds"):
                continue  # as an instrument has it where nothing is said
            place = found
            for parent in parents:
                place = place.setdefault(parent, {})
            place[leaf] = value
        return found

    def placed(self, path: str, sentence: str) -> tuple[str | None, str]:
        """At which field a complaint of the definition is shown, such as `definition.dimensions.0.scale.low`."""
        where = tuple(path.removeprefix("definition.").split("."))
        if where[0] == "dimensions" and len(where) > 1:
            part = where[3] if len(where) > 3 else ""  # after its number and its kind
            said = _("Use lowercase letters, digits and underscores, and begin with a letter.")
            field: DimensionsField = self.fields["dimensions"]  # type: ignore[assignment]  # a field of our own
            return "dimensions", field.complain(int(where[1]), part, said if part == "name" else sentence)
        named = next((name for name, place in PLACES.items() if place == where), where[0])
        return (named if named in self.fields else None), sentence


class FileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File of an instrument"), widget=forms.FileInput(attrs={"accept": ".json,application/json"})
    )


def initial_of(definition: Definition) -> dict[str, Any]:
    """A definition under the names of the form's fields."""
    stored = definition.model_dump(mode="json")
    found: dict[str, Any] = {"dimensions": [_row(dimension) for dimension in definition.dimensions]}
    for name, places in PLACES.items():
        value = stored
        for place in places:
            value = value[place]
        found[name] = plain(value) if isinstance(value, float) else value
    return found


def _dimension(row: Mapping[str, str]) -> dict[str, object]:
    """A row as the definition takes it: what belongs to another kind is passed over."""
    kind = row["kind"]
    said: dict[str, Any] = {name: row[name].strip() for name in ("kind", "name", "title", "description")}
    said["name"] = said["name"] or key_of(said["title"])
    if kind != "quotation":
        said["needs_quotation"] = bool(row["needs_quotation"])
    if kind == "scale":
        said |= {name: row[name].strip() for name in (*OF_SCALE, "level", "measure") if row[name].strip()}
        said |= {"is_continuous": bool(row["is_continuous"]), "anchors": dict(pairs(row["anchors"]))}
    if kind == "categories":
        said |= {"multiple": bool(row["multiple"]), "ordered": bool(row["ordered"])}
        said["choices"] = [
            {"name": key_of(title) if name == title else name, "title": title} for name, title in pairs(row["choices"])
        ]
    if kind == "count" and row["most"]:
        said["most"] = row["most"]
    return said


def key_of(words: str) -> str:
    """A name for programs: "Gives way" is gives_way; "" of words without a letter of the Latin alphabet."""
    return re.sub(r"^[^a-z]+|_+$", "", re.sub(r"[^a-z0-9]+", "_", words.lower()))[:40]


def _row(dimension: Dimension) -> Row:
    """A dimension as the form has it."""
    row: Row = {name: getattr(dimension, name) for name in ("kind", "name", "title", "description", "needs_quotation")}
    match dimension:
        case ScaleDimension():
            row |= {name: plain(getattr(dimension, name)) for name in OF_SCALE}
            row |= {name: getattr(dimension, name) for name in ("level", "measure", "is_continuous")}
            row["anchors"] = "\n".join(f"{value} = {words}" for value, words in dimension.anchors.items())
        case Categories():
            row |= {"multiple": dimension.multiple, "ordered": dimension.ordered}
            row["choices"] = "\n".join(f"{choice.name} = {choice.title}" for choice in dimension.choices)
        case Count():
            row["most"] = dimension.most
    return row
