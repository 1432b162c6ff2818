"""Pages on which logs of battles are sent, and what became of them."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.models import Dataset, LogImport
from experiments.workflows.battles.campaign.logs import queueing
from experiments.workflows.battles.campaign.logs.importing import make_dataset, may_import

IMPORTS_SHOWN = 10


class LogForm(forms.Form):
    """A file with battles. Everything else the log may say itself."""

    file = forms.FileField(label=_("Logs"))
    judge = forms.CharField(
        label=_("Who judged"),
        required=False,
        max_length=200,
        help_text=_("All of it stands on the board of this judge. Left empty, each line is taken at its word."),
    )
    subset = forms.CharField(
        label=_("Subset"), required=False, max_length=100, help_text=_("Of battles whose log names no subset.")
    )
    keep_partial = forms.BooleanField(
        label=_("Keep the other lines if some are refused"),
        required=False,
        help_text=_("Otherwise one refused line refuses the whole file."),
    )


class NewDatasetForm(LogForm):
    """The log becomes a dataset of its own, with the samples and contestants that it tells of."""

    name = forms.CharField(label=_("Name of the dataset"), max_length=200)


@login_required
def battles_import_new(request: HttpRequest) -> HttpResponse:
    """Battles of elsewhere without a dataset: it is made from them. Where none of them is stored, it is deleted."""
    form = NewDatasetForm(request.POST, request.FILES) if request.method == "POST" else NewDatasetForm()
    if form.is_valid():
        with ShownIn(form, "file"):
            row = _made(form.cleaned_data, request)
            if row.state != LogImport.State.REFUSED:
                return redirect(row)
            row.dataset.delete()
            form.add_error("file", row.refused_reason)
    context = {"form": form, "may": person(request).may_experiment, "most": settings.UPLOAD_BYTES >> 20}
    return render(request, "battle_logs/new.html", context, status=status_of(form))


@login_required
def battles_import(request: HttpRequest, slug: str) -> HttpResponse:
    """The form, and the imports of before."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
    form = LogForm(request.POST, request.FILES) if request.method == "POST" else LogForm()
    if form.is_valid():
        asked = form.cleaned_data
        with ShownIn(form, "file"):
            return redirect(_kept(dataset, asked, request))
    context: dict[str, Any] = {
        "dataset": dataset,
        "form": form,
        "may": may_import(dataset, person(request)),
        "most": settings.UPLOAD_BYTES >> 20,
        "imports": LogImport.objects.visible_to(request.user).filter(dataset=dataset)[:IMPORTS_SHOWN],
    }
    return render(request, "battle_logs/import.html", context, status=status_of(form))


@login_required
@require_GET
def log_import(request: HttpRequest, slug: str, pk: UUID) -> HttpResponse:
    """How far an import is, and what became of every line. Without JavaScript it is looked at again by hand."""
    rows = LogImport.objects.visible_to(request.user).select_related("dataset")
    row = get_object_or_404(rows, pk=pk, dataset__slug=slug)
    return render(request, "battle_logs/report.html", {"row": row, "report": row.report, "dataset": row.dataset})


def _made(asked: dict[str, Any], request: HttpRequest) -> LogImport:
    """The dataset, with the file that it is made from; without the file there is none."""
    dataset = make_dataset(owner=person(request), name=asked["name"], source=asked["file"].name)
    try:
        return _kept(dataset, asked, request)
    except BaseException:
        dataset.delete()
        raise


def _kept(dataset: Dataset, asked: dict[str, Any], request: HttpRequest) -> LogImport:
    how = {name: asked[name] for name in ("judge", "subset", "keep_partial")}
    return queueing.keep(asked["file"], dataset=dataset, by=person(request), **how)
