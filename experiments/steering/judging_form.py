"""The form with which a transcript is judged again."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from experiments.casting import InvalidExperiment
from experiments.catalog.menu import askable_models
from experiments.form_fields import LinesField
from experiments.workflows.judge import RUBRICS
from experiments.workflows.judging import LONGEST_RUBRIC
from experiments.workflows.prompts import fill


def _judges() -> list[tuple[str, Any]]:
    return [("", _("the lab's choice")), *((model.slug, model.label) for model in askable_models())]


class JudgeAgainForm(forms.Form):
    """Shows the workflow's own rubric, to be changed; left as it is, or empty, it is the workflow's own."""

    model = forms.ChoiceField(label=_("Judge model"), choices=_judges, required=False)
    rubric = LinesField(
        label=_("Rubric"), required=False, max_length=LONGEST_RUBRIC, widget=forms.Textarea(attrs={"rows": 14})
    )

    def __init__(self, data: Any = None, *, workflow: str) -> None:
        name = RUBRICS.get(f"{workflow}_judge", "")
        self.own_rubric = fill(name) if name else ""
        super().__init__(data, initial={"rubric": self.own_rubric})

    def asked(self) -> dict[str, Any]:
        """What `branching.judge_again` needs."""
        rubric = self.cleaned_data["rubric"]
        return {"model": self.cleaned_data["model"] or None, "rubric": "" if rubric == self.own_rubric else rubric}

    def complain(self, error: InvalidExperiment) -> None:
        names = {"cast.judge": "model", "config.rubric": "rubric"}
        for path, said in error.errors.items():
            for message in said:
                self.add_error(names.get(path), message)
