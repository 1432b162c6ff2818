"""The set-up form of a contest: the pool as a list of models, how many cycles, who sets, what the sandbox allows."""

import re
from functools import cache
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.catalog.menu import speaking_models
from experiments.catalog.rows import ModelRowsField
from experiments.form_fields import LinesField, Row
from experiments.forms import SetupForm, form_for
from experiments.workflows.coding.config import LEAST_CODERS, LONGEST_TOPIC, MOST_CODERS, coder

PARTS = ("model", "temperature", "max_tokens", "reasoning_effort")
LEAST_ROWS = 6  # so many models can be chosen without a script
HIDDEN = ("earlier", "language")  # of the Config: what nobody chooses


class CodersField(ModelRowsField):
    """Who takes part."""

    least, most = LEAST_CODERS, MOST_CODERS

    def too_few(self) -> str:
        words = _("A contest has at least %(least)s models: one sets, one solves, one judges.")
        return words % {"least": LEAST_CODERS}

    def too_many(self) -> str:
        return _("A contest has at most %(most)s models.") % {"most": MOST_CODERS}

    def about(self, number: int, message: str) -> str:
        return _("Model %(number)s: %(message)s") % {"number": number, "message": message}


class ContestForm(SetupForm):
    """The pool is all that has to be chosen."""

    coders = CodersField(label=gettext_lazy("Models"))
    topic = LinesField(label=gettext_lazy("Topic"), required=False, max_length=LONGEST_TOPIC)
    setters = forms.ChoiceField(
        label=gettext_lazy("Who sets the problem"),
        choices=[
            ("auto", gettext_lazy("in turn if that comes out even")),
            ("in_turn", gettext_lazy("in turn")),
            ("random", gettext_lazy("drawn by the seed")),
        ],
        required=False,
        initial="auto",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, label in LABELS.items():
            self.fields[name].label = label

    def clean(self) -> dict[str, Any]:
        """A quorum that nobody can reach is the quorum's fault, whoever is seated."""
        cleaned = super().clean()
        seated, quorum = len(cleaned.get("coders") or ()), cleaned.get("quorum")
        if seated and quorum and quorum > seated - 1:
            words = _("A solution has %(most)s judges here: the quorum cannot be higher.")
            self.add_error("quorum", words % {"most": seated - 1})
        return cleaned

    def _cast(self) -> dict[str, Any]:
        return {coder(number): row for number, row in enumerate(self.cleaned_data["coders"], 1)}

    def _complain_at_row(self, path: str, message: str) -> None:
        if found := re.match(r"cast\.coder-(\d+)", path):
            self.fields["coders"].row_errors[int(found[1]) - 1] = message  # type: ignore[attr-defined]  # a field of our own, which Django types as any field

    def _field_at(self, path: str) -> str | None:
        return "coders" if path.startswith("cast.coder-") else super()._field_at(path)


@cache
def contest_form() -> type[ContestForm]:
    """The settings are derived from the workflow's Config."""
    derived = form_for("coding")
    settings = {name: info for name, info in derived.config_fields.items() if name not in HIDDEN}
    fields = {name: derived.base_fields[name] for name in settings if name not in ContestForm.base_fields}
    return type("ContestSetup", (ContestForm,), {"workflow": "coding", "config_fields": settings, **fields})


def every_model() -> list[Row]:
    """A row for each model that can take part, as many as a contest has room for."""
    return [{"model": slug} for slug, _label in speaking_models()[:MOST_CODERS]]


LABELS = {
    "cycles": gettext_lazy("Cycles"),
    "health_check": gettext_lazy("Ask every model first whether it is there"),
    "quorum": gettext_lazy("Votes needed for a rating"),
    "call_seconds": gettext_lazy("Seconds for an answer"),
    "test_seconds": gettext_lazy("Seconds for a test"),
    "test_megabytes": gettext_lazy("Memory of a test, MiB"),
    "limits-tokens": gettext_lazy("Tokens in all"),
    "limits-seconds": gettext_lazy("Seconds in all"),
    "limits-cost": gettext_lazy("US dollars in all"),
}
