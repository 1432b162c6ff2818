"""Forms of datasets: what is asked before a file is read, and which of its columns is what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Invalid
from experiments.models import Contestant, Dataset

PART_LABELS = {
    "": gettext_lazy("another field"),
    "instruction": gettext_lazy("instruction"),
    "index": gettext_lazy("number of the sample"),
    "images": gettext_lazy("pictures"),
    "category": gettext_lazy("category"),
    "source": gettext_lazy("source"),
    "language": gettext_lazy("language"),
    "subset": gettext_lazy("subset"),
    "metadata": gettext_lazy("further fields, as JSON"),
    "output": gettext_lazy("a contestant's output"),
}


class DatasetForm(forms.Form):
    """Everything is checked once, by the verb."""

    name = forms.CharField(label=gettext_lazy("Name"), required=False, max_length=200)
    description = forms.CharField(
        label=gettext_lazy("Description"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    modality = forms.ChoiceField(label=gettext_lazy("Kind of output"), choices=Dataset.Modality.choices)
    visibility = forms.ChoiceField(label=gettext_lazy("Visibility"), choices=Dataset.Visibility.choices)
    subset = forms.CharField(label=gettext_lazy("Subset"), required=False, max_length=100)
    takes_votes = forms.BooleanField(label=gettext_lazy("People can vote"), required=False)


class OutputsUploadForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("File"), required=False)
    contestant = forms.CharField(label=gettext_lazy("Contestant"), required=False, max_length=200)
    version = forms.CharField(label=gettext_lazy("Version"), required=False, max_length=120)


class ContestantForm(forms.ModelForm[Contestant]):
    link = forms.URLField(required=False, max_length=200, assume_scheme="https")

    class Meta:
        model = Contestant
        fields = ["label", "link"]


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A column in the form. part: what it is read as; contestant: whose output it is; shown: its first values."""

    number: int
    name: str
    type: str
    part: str
    contestant: str
    shown: Sequence[str]


def column_rows(preview: Mapping[str, Any], typed: Mapping[str, str]) -> list[ColumnRow]:
    """As typed, or as recognised while nothing is typed."""
    mapped = preview.get("mapped", {})
    parts = {column: part for part, column in mapped.items() if isinstance(column, str) and column}
    contestants = {column: name for name, column in mapped.get("outputs", {}).items()}
    rows = []
    for number, (name, type_) in enumerate(preview.get("columns", [])):
        part = typed.get(f"as-{number}", "output" if name in contestants else parts.get(name, ""))
        contestant = typed.get(f"contestant-{number}", contestants.get(name, ""))
        shown = [row[number] for row in preview.get("rows", [])][:3]
        rows.append(ColumnRow(number, name, type_, part, contestant, shown))
    return rows


def mapping_of(rows: Sequence[ColumnRow]) -> dict[str, object]:
    """The columns as `making.create` takes them: every part is said, so that nothing is guessed any more. Raises
    Invalid.
    """
    columns: dict[str, Any] = dict.fromkeys((part for part in PART_LABELS if part not in {"", "output"}), "")
    outputs: dict[str, str] = {}
    for row in rows:
        if row.part == "output":
            name = row.contestant.strip() or row.name
            if name in outputs:
                raise Invalid(columns=_("Two columns are outputs of %(contestant)s.") % {"contestant": name})
            outputs[name] = row.name
        elif row.part in columns:
            if columns[row.part]:
                raise Invalid(columns=_("Two columns are mapped to %(part)s.") % {"part": PART_LABELS[row.part]})
            columns[row.part] = row.name
    if rows and not columns["instruction"]:
        raise Invalid(columns=_("Choose the column with the instruction."))
    return {**columns, "outputs": outputs}
