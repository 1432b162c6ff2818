"""The page on which a transcript is given to another judge."""

from typing import Any, TypedDict, get_args
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.lab.catalog.menu import askable_models
from experiments.library.instruments.choosing import version_field
from experiments.models import Run
from experiments.runs.steering.views import visible_run
from experiments.setup.form_fields import LinesField
from experiments.setup.forms import CHOICES
from experiments.workflows import workflow_of
from experiments.workflows.base.judge import Sees
from experiments.workflows.judging import LONGEST_RUBRIC, services
from experiments.workflows.judging.services import first_judge_saw
from experiments.workflows.scan.pages import trying


def _judges() -> list[tuple[str, Any]]:
    return [("", _("the instrument's or lab default")), *((model.slug, model.label) for model in askable_models())]


class AskedJudgment(TypedDict):
    """model: None is the lab's choice. judge_sees: None where nothing is filtered."""

    model: str | None
    rubric: str
    judge_sees: Sees | None
    judge_sees_reasoning: bool


class JudgeAgainForm(forms.Form):
    """Shows the workflow's own rubric, to be changed; left as it is, or empty, it is the workflow's own."""

    model = forms.ChoiceField(label=_("Judge model"), choices=_judges, required=False)
    rubric = LinesField(
        label=_("Rubric"), required=False, max_length=LONGEST_RUBRIC, widget=forms.Textarea(attrs={"rows": 14})
    )

    judge_sees = forms.ChoiceField(
        label=_("Messages that the judge reads"),
        choices=[(sees, CHOICES[sees]) for sees in get_args(Sees)],
        required=False,
    )
    judge_sees_reasoning = forms.BooleanField(label=_("The judge reads the models' reasoning"), required=False)

    def __init__(self, data: Any = None, *, run: Run, reader: User) -> None:
        rubric = workflow_of(run.experiment.workflow).judge
        self.own_rubric = rubric.words if rubric else ""
        super().__init__(data, initial={"rubric": self.own_rubric, **first_judge_saw(run)})
        words = {"label": _("What it measures"), "empty_label": _("the built-in scores")}
        self.fields["instrument"] = version_field(reader, str((data or {}).get("instrument", "")), **words)
        if "judge_sees" not in run.config:  # nothing is filtered there
            del self.fields["judge_sees"]

    def asked(self) -> AskedJudgment:
        """What `judge_again` needs."""
        said = self.cleaned_data
        return {
            "model": said["model"] or None,
            "rubric": "" if said["rubric"] == self.own_rubric else said["rubric"],
            "judge_sees": said.get("judge_sees") or None,
            "judge_sees_reasoning": said["judge_sees_reasoning"],
        }

    def placed(self, path: str, sentence: str) -> tuple[str | None, str]:
        return {"cast.judge": "model", "config.version": "instrument", "config.rubric": "rubric"}.get(path), sentence


@login_required
def judge_again(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The transcript scored again, by another judge or by other rules, the first scores are kept; or measured by an
    instrument, which is a scan of this run.
    """
    run, by = visible_run(request, pk), person(request)
    form = JudgeAgainForm(request.POST or None, run=run, reader=by)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            if version := form.cleaned_data["instrument"]:
                config = trying.config_of(version, {str(run.pk): ()}, again=False)
                scan = trying.ask(config, form.cleaned_data["model"], by=by, title=run.experiment.title)
                return redirect("experiment", scan.pk)
            return redirect(services.judge_again(run, by=by, **form.asked()))
    context = {"run": run, "form": form}
    return render(request, "experiments/judge_again.html", context, status=status_of(form))


urlpatterns = [path("runs/<uuid:pk>/judge/", judge_again, name="run-judge")]
