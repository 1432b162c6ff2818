"""The form that asks models for outputs: which ones, under which names, and for which part of the dataset."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.form_fields import Rows
from experiments.models import ProviderModel
from experiments.workflows.battles.pages.forms import CampaignForm
from experiments.workflows.battles.pages.setup import Offer
from experiments.workflows.outputs import MOST_CONTESTANTS

Row = dict[str, str]

PARTS = ("model", "name")
SPARE_ROWS = 3  # so many can be added without a script


class MakerRows(Rows):
    def value_from_datadict(self, data: Mapping[str, Any], files: MultiValueDict[str, Any], name: str) -> list[Row]:
        """A form that was completed by itself has rows already."""
        given = data.get(name)
        return list(given) if isinstance(given, list) else super().value_from_datadict(data, files, name)


class MakersField(forms.Field):
    """Who is asked: the model of each, and the contestant's name, which is the model's where none was written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=MakerRows(PARTS, ("model",)), **options)

    def clean(self, value: Any) -> list[Row]:
        rows = [{part: text.strip() for part, text in row.items()} for row in value or []]
        if not rows:
            raise forms.ValidationError(_("Choose at least one model that is to be asked."))
        if len(rows) > MOST_CONTESTANTS:
            raise forms.ValidationError(_("At most %(most)s contestants can be asked.") % {"most": MOST_CONTESTANTS})
        known = {one.slug: one.label for one in ProviderModel.objects.available()}
        named = [{**row, "name": row["name"] or known.get(row["model"], row["model"])[:200]} for row in rows]
        names = [row["name"] for row in named]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise forms.ValidationError(_("Two contestants would be called %(name)s.") % {"name": twice})
        return named


class OutputsForm(CampaignForm):
    """The models to be asked are all that is needed: what exists already is not asked for again."""

    workflow = "outputs"

    makers = MakersField(label=gettext_lazy("Contestants"), required=False, initial=list)

    def __init__(self, *args: Any, offer: Offer, **options: Any) -> None:
        super().__init__(*args, offer=offer, **options)
        del self.fields["contestants"]
        self.fields["makers"].initial = _unfinished(offer)
        self.fields["temperature"] = forms.FloatField(
            label=gettext_lazy("Temperature"), required=False, min_value=0, max_value=2
        )
        self.fields["max_tokens"] = forms.IntegerField(
            label=gettext_lazy("Tokens of an output at most"), required=False, min_value=1
        )

    def again(self, data: Mapping[str, Any]) -> "CampaignForm":
        return OutputsForm(data, offer=self.offer)  # type: ignore[arg-type]  # its own field holds the offer

    def _config(self) -> dict[str, Any]:
        return {
            "dataset": self.offer.dataset.slug if self.offer else "",
            "subsets": self.chosen("subsets"),
            "contestants": [row["name"] for row in self.cleaned_data["makers"]],
            "side_by_side": self._number("side_by_side"),
            "limits": self.limits(),
        }

    def _cast(self) -> dict[str, Any]:
        given = {name: self.cleaned_data.get(name) for name in ("temperature", "max_tokens")}
        params = {name: value for name, value in given.items() if value is not None}
        rows = enumerate(self.cleaned_data["makers"], 1)
        return {f"contestant-{number}": {"model": row["model"], "params": params} for number, row in rows}

    def _field_at(self, path: str) -> str | None:
        return "makers" if path.startswith(("cast.contestant-", "config.contestants")) else super()._field_at(path)


def shown_rows(form: OutputsForm) -> list[Row]:
    """The rows that are filled in, and some that are not."""
    rows: Iterable[Row] = form["makers"].value() or []
    return [*rows, *({"model": "", "name": ""} for _number in range(SPARE_ROWS))][:MOST_CONTESTANTS]


def _unfinished(offer: Offer) -> list[Row]:
    """The contestants that are models and lack outputs."""
    lacking = [one for one in offer.makers if one.outputs < offer.samples]
    return [{"model": one.model.slug, "name": one.name} for one in lacking if one.model]
