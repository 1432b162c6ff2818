"""The set-up form of a StarChamber talk."""

from functools import cache
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.form_fields import LinesField
from experiments.forms import SetupForm, form_for
from experiments.models import ProviderModel
from experiments.workflows.starchamber import LONGEST_TEXT

MODEL_FIELD = "seat-model-model"
TOP_P_FIELD = "seat-model-top_p"


class TalkForm(SetupForm):
    """What is asked first cannot be left out; a model samples by `top_p`, too."""

    persona = forms.CharField(label=_("Your name in the talk"), required=False, max_length=100)
    first_message = LinesField(
        label=_("First message"),
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 7}),
        error_messages={"required": _("Write the first message: you open the talk.")},
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, label in LABELS.items():
            self.fields[name].label = label

    def clean_first_message(self) -> str:
        text = str(self.cleaned_data["first_message"])
        if not text.strip():
            raise forms.ValidationError(self.fields["first_message"].error_messages["required"])
        return text

    def _cast(self) -> dict[str, Any]:
        cast = super()._cast()
        top_p = self.cleaned_data.get(TOP_P_FIELD)
        if top_p is not None and "model" in cast:
            cast["model"]["params"]["top_p"] = top_p
        return cast


@cache
def talk_form() -> type[TalkForm]:
    """Fields that stand in TalkForm take the place of those derived from the workflow's Config."""
    derived = form_for("starchamber")
    more = {TOP_P_FIELD: forms.FloatField(label=_("Top p"), required=False)}
    own = {name: TalkForm.base_fields[name] for name in ("persona", "first_message")}
    return type("TalkSetup", (TalkForm, derived), {**own, **more})


def silent_models() -> list[str]:
    """Slugs of the models that are known to give no token probabilities."""
    return [model.slug for model in ProviderModel.objects.available() if not model.accepts.logprobs]


LABELS = {
    "context": _("What the model is told"),
    "logprobs": _("Token probabilities"),
    "judge": _("Judge"),
    "judge_sees_reasoning": _("The judge reads the models' reasoning"),
    "judge_seconds": _("Time limit of the judge, seconds"),
    "max_turns": _("Turns at most"),
    MODEL_FIELD: _("Model"),
    TOP_P_FIELD: _("Top p"),
    "seat-model-temperature": _("Temperature"),
    "seat-model-max_tokens": _("Tokens of an answer at most"),
    "seat-model-seed": _("Seed"),
    "seat-model-reasoning_effort": _("Reasoning effort"),
}
