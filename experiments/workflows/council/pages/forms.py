"""The set-up form of a council: a question, members as a list of models, a chair and those that stand in for it."""

import re
from functools import cache
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.catalog.menu import speaking_models
from experiments.catalog.rows import ModelRowsField
from experiments.form_fields import LinesField
from experiments.forms import SetupForm, form_for
from experiments.workflows.council.config import CHAIRS, LEAST_MEMBERS, LONGEST_TEXT, MOST_MEMBERS, member

PARTS = ("model", "temperature", "max_tokens")
LEAST_ROWS = 6  # so many members can be seated without a script
SETTINGS = ("system_prompt", "own_answers", "truncated", "limits-tokens", "limits-seconds", "limits-cost", "max_turns")
SEATED = ("chair-model", "chair-temperature", "chair-max_tokens", "chair-2-model", "chair-3-model", "title-model")


class MembersField(ModelRowsField):
    """Who is asked."""

    least, most = LEAST_MEMBERS, MOST_MEMBERS

    def too_few(self) -> str:
        return _("A council has at least two members: choose their models.")

    def too_many(self) -> str:
        return _("A council has at most %(most)s members.") % {"most": MOST_MEMBERS}

    def about(self, number: int, message: str) -> str:
        return _("Member %(number)s: %(message)s") % {"number": number, "message": message}


class CouncilForm(SetupForm):
    """One question is all that has to be filled in."""

    question = LinesField(
        label=gettext_lazy("Question"),
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        error_messages={"required": gettext_lazy("Write the question that the council is to answer.")},
    )
    members = MembersField(label=gettext_lazy("Members"))
    find_title = forms.BooleanField(label=gettext_lazy("Find a title"), required=False, initial=True)
    own_answers = forms.ChoiceField(
        label=gettext_lazy("Own answers"),
        choices=[
            ("excluded", gettext_lazy("a reviewer does not rank its own answer")),
            ("included", gettext_lazy("a reviewer ranks its own answer, too")),
        ],
        required=False,
        initial="excluded",
    )
    truncated = forms.ChoiceField(
        label=gettext_lazy("Truncated answers"),
        choices=[
            ("eligible", gettext_lazy("take part in the ranking")),
            ("left_out", gettext_lazy("are left out of the ranking")),
        ],
        required=False,
        initial="eligible",
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, label in LABELS.items():
            self.fields[name].label = label

    def clean_question(self) -> str:
        text = str(self.cleaned_data["question"])
        if not text.strip():
            raise forms.ValidationError(self.fields["question"].error_messages["required"])
        return text

    def _config(self) -> dict[str, Any]:
        return {**super()._config(), "title": self.cleaned_data["find_title"]}

    def _cast(self) -> dict[str, Any]:
        rows = self.cleaned_data["members"]
        cast: dict[str, Any] = {member(number): row for number, row in enumerate(rows, 1)}
        for seat in (*CHAIRS, "title"):
            if model := self.cleaned_data.get(f"seat-{seat}-model"):
                given = {name: self.cleaned_data.get(f"seat-{seat}-{name}") for name in PARTS[1:]}
                cast[seat] = {"model": model, "params": {n: v for n, v in given.items() if v is not None}}
        return cast

    def _complain_at_row(self, path: str, message: str) -> None:
        if found := re.match(r"cast\.member-(\d+)", path):
            self.fields["members"].row_errors[int(found[1]) - 1] = message  # type: ignore[attr-defined]  # a field of our own, which Django types as any field

    def _field_at(self, path: str) -> str | None:
        return "members" if path.startswith("cast.member-") else super()._field_at(path)


@cache
def council_form() -> type[CouncilForm]:
    """The settings and the seats of the chairs are derived from the workflow's Config."""
    derived = form_for("council")
    settings = {name: info for name, info in derived.config_fields.items() if name != "title"}
    wanted = [*SETTINGS, *(f"seat-{name}" for name in SEATED)]
    fields = {name: derived.base_fields[name] for name in wanted if name not in CouncilForm.base_fields}
    for seat in ("chair-2", "chair-3", "title"):
        fields[f"seat-{seat}-model"] = forms.ChoiceField(choices=_or_nobody(seat), required=False)
    return type("CouncilSetup", (CouncilForm,), {"workflow": "council", "config_fields": settings, **fields})


def _or_nobody(seat: str) -> Any:
    nobody = gettext_lazy("the chair's model") if seat == "title" else gettext_lazy("nobody")
    return lambda: [("", nobody), *speaking_models()]


LABELS = {
    "system_prompt": gettext_lazy("System prompt"),
    "limits-tokens": gettext_lazy("Tokens in all"),
    "limits-seconds": gettext_lazy("Seconds in all"),
    "limits-cost": gettext_lazy("US dollars in all"),
    "max_turns": gettext_lazy("Questions at most"),
    "seat-chair-model": gettext_lazy("Chair"),
    "seat-chair-temperature": gettext_lazy("Temperature of the chair"),
    "seat-chair-max_tokens": gettext_lazy("Tokens of the conclusion at most"),
    "seat-chair-2-model": gettext_lazy("Second chair"),
    "seat-chair-3-model": gettext_lazy("Third chair"),
    "seat-title-model": gettext_lazy("Model of the title"),
}
