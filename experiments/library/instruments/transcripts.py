"""Choosing on whose transcript an instrument is tried, and by whom."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy

from accounts.models import User
from accounts.pickers import Finder, Picker
from experiments.lab.catalog.menu import askable_models
from experiments.models import Message, Run


def spoken(reader: User) -> QuerySet[Run]:
    """The runs with messages of models that somebody sees, newest first."""
    said = Message.objects.filter(run=OuterRef("pk"), superseded=False).exclude(model="")
    return Run.objects.visible_to(reader).filter(Exists(said)).select_related("experiment").order_by("-created", "-id")


def spoken_one(reader: User, key: str) -> Run | None:
    """The run that is named, or the newest one."""
    rows = spoken(reader)
    try:
        named = rows.filter(pk=key).first() if key else None
    except ValidationError:  # no id at all
        named = None
    return named or rows.first()


def label_of(run: Run) -> str:
    return f"{run.experiment.title} · {run.seed}"


class FindRuns(Finder):
    """Runs in which models have spoken, by their titles."""

    def found(self, user: User, typed: str) -> QuerySet[Any]:
        return spoken(user).filter(experiment__title__icontains=typed)

    def shown(self, row: Any) -> dict[str, str]:
        return {"value": str(row.pk), "label": label_of(row), "hint": f"{row.created:%Y-%m-%d}"}


def judges() -> list[tuple[str, str]]:
    """Who can be asked to judge."""
    return [(model.slug, model.label) for model in askable_models()]


class JudgeForm(forms.Form):
    """Who is to judge."""

    model = forms.ChoiceField(label=gettext_lazy("Judge"), choices=judges, required=False)


class RunForm(forms.Form):
    """The newest run at first."""

    run = forms.ModelChoiceField(
        label=gettext_lazy("Run"), queryset=Run.objects.none(), empty_label=None, widget=Picker("find-runs")
    )

    def __init__(self, *args: Any, reader: User, **options: Any) -> None:
        super().__init__(*args, **options)
        field: Any = self.fields["run"]
        field.queryset = spoken(reader)
        field.label_from_instance = label_of
