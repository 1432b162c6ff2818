"""The set-up form of battles: a dataset, who is compared on it, who judges by which prompt, and how much of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.forms import SetupForm
from experiments.labels import prompt_words
from experiments.models import Dataset, ProviderModel
from experiments.workflows.battles.config import JUDGES, MIRRORS
from experiments.workflows.battles.pages.setup import Judges, Offer, judges
from experiments.workflows.battles.prompts import PROMPTS

FURTHER_JUDGES = JUDGES[1:]
LIMITS = ("limits-tokens", "limits-seconds", "limits-cost")
PLANS = [
    ("all", gettext_lazy("Everything: each pair on each sample")),
    ("sample", gettext_lazy("So many samples for each pair")),
    ("adaptive", gettext_lazy("As many as the ratings need")),
]
CALLS = [
    ("parallel", gettext_lazy("both orders at the same time")),
    ("sequential", gettext_lazy("one order after the other")),
]
PAIRS = [
    ("all", gettext_lazy("all pairs")),
    ("new", gettext_lazy("only those with a contestant that joined with this version")),
]
NUMBERS = {
    "sampling-per_pair": (1, 1_000_000, 100),
    "sampling-min_per_pair": (1, 1_000_000, 100),
    "sampling-max_per_pair": (1, 1_000_000, 1500),
    "sampling-batch": (1, 100_000, 100),
    "side_by_side": (1, 64, 8),
    "attempts": (0, 5, 2),
}
OF_PLAN = {
    "all": (),
    "sample": ("per_pair",),
    "adaptive": ("target_width", "min_per_pair", "max_per_pair", "batch"),
}


class CampaignForm(SetupForm):
    """What the forms of battles and of outputs share: the dataset's parts, limits, and how much happens at once."""

    config_fields: dict[str, Any] = {}

    subsets = forms.MultipleChoiceField(label=gettext_lazy("Subsets"), required=False)
    contestants = forms.MultipleChoiceField(label=gettext_lazy("Contestants"), required=False)
    side_by_side = forms.IntegerField(label=gettext_lazy("At once, in each run"), required=False)

    def __init__(self, *args: Any, offer: Offer | None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.offer = offer
        for name, label in LIMIT_LABELS.items():
            self.fields[name] = forms.FloatField(label=label, required=False, min_value=0)
        self.fields["limits-tokens"] = forms.IntegerField(
            label=LIMIT_LABELS["limits-tokens"], required=False, min_value=1
        )
        self.fields["side_by_side"].initial = NUMBERS["side_by_side"][2]
        self._offer_parts("subsets", [subset.name for subset in offer.subsets] if offer else [])

    def filled(self) -> "CampaignForm":
        """Itself when it was sent, otherwise as it would be sent as it stands."""
        return self if self.is_bound else self.again({name: self[name].value() for name in self.fields})

    def again(self, data: Mapping[str, Any]) -> "CampaignForm":
        """The same form with other values."""
        raise NotImplementedError

    def limits(self) -> dict[str, Any]:
        """Only those that were set."""
        given = {name.partition("-")[2]: self.cleaned_data.get(name) for name in LIMITS}
        return {name: value for name, value in given.items() if value is not None}

    def chosen(self, name: str) -> list[str]:
        """What was ticked; nothing where that is everything, so that what joins later takes part, too."""
        ticked = list(self.cleaned_data[name])
        return [] if set(ticked) == {value for value, _label in self.fields[name].choices} else ticked  # type: ignore[attr-defined]  # a choice field, which Django types as any field

    def _offer_parts(self, name: str, values: Sequence[str]) -> None:
        field: Any = self.fields[name]
        field.choices = [(value, value) for value in values]
        field.initial = list(values)

    def _number(self, name: str) -> int | None:
        """What was written; the usual number where nothing was."""
        value = self.cleaned_data.get(name)
        return NUMBERS[name][2] if value is None else value


class BattlesForm(CampaignForm):
    """A dataset with two contestants or more, and a judge, are all that is needed."""

    workflow = "battles"

    dataset = forms.ChoiceField(
        label=gettext_lazy("Dataset"), error_messages={"required": gettext_lazy("Choose a dataset.")}
    )
    version = forms.CharField(label=gettext_lazy("Version"), required=False, max_length=120)
    prompt = forms.ChoiceField(label=gettext_lazy("Judge prompt"), widget=forms.RadioSelect)
    pairs = forms.ChoiceField(label=gettext_lazy("Pairs"), choices=PAIRS, required=False, initial="all")
    calls = forms.ChoiceField(label=gettext_lazy("The two orders"), choices=CALLS, required=False, initial="parallel")
    attempts = forms.IntegerField(label=gettext_lazy("Further asks for a verdict that cannot be read"), required=False)

    def __init__(self, *args: Any, datasets: Iterable[Dataset], offer: Offer | None, **options: Any) -> None:
        super().__init__(*args, offer=offer, **options)
        self.datasets = list(datasets)
        self._choice("dataset", [(one.slug, one.name) for one in self.datasets])
        self._offer_parts("contestants", [one.name for one in offer.comparable] if offer else [])
        self._add_sampling()
        self.judges = judges(offer.dataset.modality) if offer else Judges((), ())
        self._add_seats(self.judges.offered)
        prompts = prompts_for(offer.dataset.modality) if offer else []
        self._choice("prompt", prompts)
        self.fields["prompt"].initial = prompts[0][0] if prompts else ""
        self.fields["attempts"].initial = NUMBERS["attempts"][2]
        for name, label in LABELS.items():
            self.fields[name].label = label

    def again(self, data: Mapping[str, Any]) -> "CampaignForm":
        return BattlesForm(data, datasets=self.datasets, offer=self.offer)

    def clean(self) -> dict[str, Any]:
        said = super().clean()
        self._forget_other_plans(said.get("sampling-plan") or "all")
        if self.offer and "contestants" not in self.errors and len(said.get("contestants", ())) < 2:
            self.add_error("contestants", _("Choose at least two contestants: battles are between two of them."))
        if said.get("sampling-plan") == "sample" and not said.get("sampling-per_pair"):
            self.add_error("sampling-per_pair", _("Write how many samples each pair is compared on."))
        return said

    def _forget_other_plans(self, plan: str) -> None:
        """What stands in the fields of a plan that was not chosen need not be right."""
        for name in {one for names in OF_PLAN.values() for one in names}.difference(OF_PLAN[plan]):
            self.errors.pop(f"sampling-{name}", None)

    def _config(self) -> dict[str, Any]:
        said = self.cleaned_data
        plan = said.get("sampling-plan") or "all"
        numbers = {name: said.get(f"sampling-{name}") for name in OF_PLAN[plan]}
        return {
            "dataset": said["dataset"],
            "subsets": self.chosen("subsets"),
            "contestants": self.chosen("contestants"),
            "version": said["version"].strip(),
            "pairs": said["pairs"] or "all",
            "prompt": said["prompt"],
            "sampling": {"plan": plan, **{name: value for name, value in numbers.items() if value is not None}},
            "calls": said["calls"] or "parallel",
            "side_by_side": self._number("side_by_side"),
            "attempts": self._number("attempts"),
            "limits": self.limits(),
        }

    def _cast(self) -> dict[str, Any]:
        said = self.cleaned_data
        given = {name: said.get(f"seat-judge-{name}") for name in ("temperature", "max_tokens")}
        params = {name: value for name, value in given.items() if value is not None}
        seats = {seat: said.get(f"seat-{seat}-model") for seat in ("judge", *FURTHER_JUDGES, *MIRRORS)}
        return {seat: {"model": slug, "params": params} for seat, slug in seats.items() if slug}

    def _add_sampling(self) -> None:
        self.fields["sampling-plan"] = forms.ChoiceField(
            choices=PLANS, required=False, initial="all", widget=forms.RadioSelect
        )
        for name, (least, most, usual) in NUMBERS.items():
            if name.startswith("sampling-"):
                self.fields[name] = forms.IntegerField(required=False, initial=usual, min_value=least, max_value=most)
        self.fields["sampling-target_width"] = forms.FloatField(
            required=False, initial=15, min_value=1, max_value=1000, widget=forms.NumberInput(attrs={"step": "any"})
        )

    def _add_seats(self, offered: Sequence[ProviderModel]) -> None:
        listed = [(model.slug, model.label) for model in offered]
        for seat in ("judge", *FURTHER_JUDGES, *MIRRORS):
            required = seat == "judge"
            choices = listed if required else [("", gettext_lazy("nobody")), *listed]
            messages = {"required": gettext_lazy("Choose the model that judges.")}
            self.fields[f"seat-{seat}-model"] = forms.ChoiceField(
                choices=choices, required=required, error_messages=messages
            )
        usual = next((model.slug for model in offered if model.is_default_judge), listed[0][0] if listed else "")
        self.fields["seat-judge-model"].initial = usual
        self.fields["seat-judge-temperature"] = forms.FloatField(required=False, min_value=0, max_value=2)
        self.fields["seat-judge-max_tokens"] = forms.IntegerField(required=False, min_value=1)

    def _choice(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        field: Any = self.fields[name]
        field.choices = choices


def prompts_for(modality: str) -> list[tuple[str, Any]]:
    """The judge prompts that are made for this kind of output: name and title."""
    return [(name, prompt_words(prompt.title)) for name, prompt in PROMPTS.items() if modality in prompt.modalities]


LIMIT_LABELS = {
    "limits-tokens": gettext_lazy("Tokens in all"),
    "limits-seconds": gettext_lazy("Seconds in all"),
    "limits-cost": gettext_lazy("US dollars in all"),
}
LABELS = {
    "sampling-plan": gettext_lazy("How many battles"),
    "sampling-per_pair": gettext_lazy("Samples for each pair"),
    "sampling-target_width": gettext_lazy("Width of every interval (of 95 %), in Elo"),
    "sampling-min_per_pair": gettext_lazy("Samples for each pair, at least"),
    "sampling-max_per_pair": gettext_lazy("Samples for each pair, at most"),
    "sampling-batch": gettext_lazy("More for each pair, round by round"),
    "seat-judge-model": gettext_lazy("Judge"),
    "seat-judge-temperature": gettext_lazy("Temperature of the judges"),
    "seat-judge-max_tokens": gettext_lazy("Tokens of a verdict at most"),
    "seat-judge-2-model": gettext_lazy("Second judge"),
    "seat-judge-3-model": gettext_lazy("Third judge"),
    "seat-judge-4-model": gettext_lazy("Fourth judge"),
    "seat-mirror-1-model": gettext_lazy("Further endpoint 1"),
    "seat-mirror-2-model": gettext_lazy("Further endpoint 2"),
    "seat-mirror-3-model": gettext_lazy("Further endpoint 3"),
    "seat-mirror-4-model": gettext_lazy("Further endpoint 4"),
}
