"""The set-up form of a debate."""

from functools import cache
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.catalog.menu import speaking_models
from experiments.form_fields import LinesField
from experiments.forms import SetupForm, form_for
from experiments.workflows.debate.config import DEBATERS, LONGEST_TEXT, POOL, SEATS

SPEAKING_SEATS = ("refiner", *DEBATERS, "summarizer")
OF_A_SEAT = ("persona", "temperature", "max_tokens", "seed", "reasoning_effort")  # none of them is asked for here


class DebateForm(SetupForm):
    """What is debated cannot be left out. How long an answer may be is the server's affair, and no field."""

    prompt = LinesField(
        label=_("What is to be debated"),
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 6}),
        error_messages={"required": _("Write what is to be debated.")},
    )
    rounds = forms.TypedChoiceField(
        label=_("Rounds"), choices=[(1, _("one")), (2, _("two"))], coerce=int, required=False, initial=1
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, label in LABELS.items():
            self.fields[name].label = label

    def clean_prompt(self) -> str:
        text = str(self.cleaned_data["prompt"])
        if not text.strip():
            raise forms.ValidationError(self.fields["prompt"].error_messages["required"])
        return text

    def _cast(self) -> dict[str, Any]:
        """The pool is seated from its first place on, whichever of its fields were filled in."""
        cast = super()._cast()
        pool = [cast.pop(seat) for seat in POOL if seat in cast]
        if not self.cleaned_data["refine"]:
            cast.pop("refiner", None)
        return cast | dict(zip(POOL, pool, strict=False))


@cache
def debate_form() -> type[DebateForm]:
    """Fields that stand in DebateForm take the place of those derived from the workflow's Config."""
    own: dict[str, Any] = {name: DebateForm.base_fields[name] for name in ("prompt", "rounds")}
    own |= {f"seat-{seat}-{name}": None for seat in SEATS for name in OF_A_SEAT}
    own |= {model_field(seat): forms.ChoiceField(choices=_pool_models, required=False) for seat in POOL}
    return type("DebateSetup", (DebateForm, form_for("debate")), own)


def model_field(seat: str) -> str:
    return f"seat-{seat}-model"


def _pool_models() -> list[tuple[str, Any]]:
    return [("", _("nobody")), *speaking_models()]


LABELS = {
    "mode": _("Mode"),
    "refine": _("Refiner"),
    "addendum": _("Addendum for the second round"),
    "blind": _("Blind first round"),
    "rotate": _("Rotating order"),
    "limits-tokens": _("Tokens in all"),
    "limits-seconds": _("Seconds in all"),
    "limits-cost": _("US dollars in all"),
    "seat-refiner-model": _("The refiner's model"),
    "seat-A-model": _("The model of A"),
    "seat-B-model": _("The model of B"),
    "seat-C-model": _("The model of C"),
    "seat-summarizer-model": _("The summarizer's model"),
    "seat-pool-1-model": _("First of the pool"),
    "seat-pool-2-model": _("Second of the pool"),
    "seat-pool-3-model": _("Third of the pool"),
    "seat-pool-4-model": _("Fourth of the pool"),
    "seat-pool-5-model": _("Fifth of the pool"),
}
