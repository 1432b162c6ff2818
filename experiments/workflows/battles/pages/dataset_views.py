"""The pages of a dataset that battles need: its contestants, its pictures, and logs of battles that are sent for it."""

import logging
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST, require_safe

from accounts.errors import Invalid
from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.library.datasets import contestants, making
from experiments.library.datasets import pages as dataset_pages
from experiments.library.datasets.forms import ContestantForm
from experiments.models import Contestant, Dataset, Image, LogImport
from experiments.workflows.battles.campaign.logs import queueing
from experiments.workflows.battles.campaign.logs.columns import LABELS, PARTS, Columns
from experiments.workflows.battles.campaign.logs.importing import make_dataset, may_import

logger = logging.getLogger(__name__)

KEPT_SECONDS = 3600  # by browsers: a dataset that is withdrawn is out of sight soon


@require_GET
def dataset_contestants(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is compared, with what each has made; whoever may, changes here how they are shown and leaves them out."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user).ready(), slug=slug)
    context = {
        "dataset": dataset,
        "shares": dataset_pages.shares(dataset),
        "sample_count": dataset.samples.count(),
        "may_curate": making.may_curate(request.user, dataset),
    }
    return render(request, "datasets/contestants.html", context)


@login_required
@require_POST
def contestant_change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The buttons of a contestant: describe, void, restore."""
    visible = Contestant.objects.filter(
        dataset__in=Dataset.objects.visible_to(request.user).ready(), dataset__slug=slug
    )
    contestant = get_object_or_404(visible.select_related("dataset"), pk=pk)
    back_to(request, "dataset-contestants", slug)
    by, action, told = person(request), request.POST.get("action"), ""
    if action == "describe":
        form = ContestantForm(request.POST)
        if not form.is_valid():
            raise Invalid({name: [str(text) for text in texts] for name, texts in form.errors.items()})
        contestants.describe(contestant, by=by, label=form.cleaned_data["label"], link=form.cleaned_data["link"])
        told = _("%(contestant)s was changed.")
    elif action == "void":
        contestants.void(contestant, by=by, reason=request.POST.get("reason", ""))
        told = _("%(contestant)s is excluded from ratings.")
    elif action == "restore":
        contestants.restore(contestant, by=by)
        told = _("%(contestant)s is rated again.")
    if told:
        messages.success(request, told % {"contestant": contestant})
    return redirect("dataset-contestants", slug)


@require_safe
def dataset_image(request: HttpRequest, slug: str, sha: str) -> HttpResponseBase:
    """A picture's bytes. They never change, but who may see them does: whoever has them asks again after a while."""
    datasets = Dataset.objects.visible_to(request.user).filter(slug=slug)
    image = get_object_or_404(Image.objects.filter(datasets__dataset__in=datasets), pk=sha)
    etag = quote_etag(image.pk)
    unchanged = get_conditional_response(request, etag=etag)
    try:
        response = unchanged or HttpResponse(image.content(), content_type=image.mime)
    except FileNotFoundError as error:
        logger.warning("image=%s is not on the disk", image.pk)
        raise Http404 from error
    is_public = datasets.filter(visibility=Dataset.Visibility.PUBLIC).exists()
    response["Cache-Control"] = f"{'public' if is_public else 'private'}, max-age={KEPT_SECONDS}"
    response["ETag"] = etag
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    if not is_public:
        patch_vary_headers(response, ["Cookie"])
    return response


# --- logs ---


IMPORTS_SHOWN = 10


class LogForm(forms.Form):
    """A file with battles. Everything else the log may say itself."""

    file = forms.FileField(label=gettext_lazy("Logs"))
    judge = forms.CharField(
        label=gettext_lazy("Judge's name"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("One judge for the whole file. Empty: the judge that each line names."),
    )
    voter = forms.CharField(
        label=gettext_lazy("Column with the voters"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("For votes of people. All of them get one board; names are stored as pseudonyms."),
    )
    columns = forms.CharField(
        label=gettext_lazy("Other columns"),
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "winner=preferred\ntime=created_at"}),
        help_text=format_lazy(
            gettext_lazy(
                "If columns have other names than in LMArena's files: PART=COLUMN, one per line. Parts: {parts}."
            ),
            parts=", ".join(part for part in PARTS if part != "voter"),
        ),
    )
    subset = forms.CharField(
        label=gettext_lazy("Subset"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("For battles whose log names no subset."),
    )
    keep_partial = forms.BooleanField(
        label=gettext_lazy("Import the valid lines even if some are refused"),
        required=False,
        help_text=gettext_lazy("Otherwise one refused line refuses the whole file."),
    )
    is_dry_run = forms.BooleanField(
        label=gettext_lazy("Check first"),
        required=False,
        help_text=gettext_lazy("Shows how columns are read and what would be imported. Nothing is stored yet."),
    )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        with ShownIn(self, "columns"):
            cleaned["columns"] = Columns.read(cleaned.get("columns", ""), voter=cleaned.get("voter", ""))
        return cleaned


class NewDatasetForm(LogForm):
    """The log becomes a dataset of its own, with the samples and contestants that it tells of."""

    name = forms.CharField(label=gettext_lazy("Name of the dataset"), max_length=200)


@login_required
def battles_import_new(request: HttpRequest) -> HttpResponse:
    """Battles of elsewhere without a dataset: it is made from them. Where none of them is stored, it is deleted."""
    form = NewDatasetForm(request.POST, request.FILES) if request.method == "POST" else NewDatasetForm()
    if form.is_valid():
        with ShownIn(form, "file"):
            dataset = make_dataset(
                owner=person(request), name=form.cleaned_data["name"], source=form.cleaned_data["file"].name
            )
            try:
                row = _kept(dataset, form.cleaned_data, request)
            except BaseException:  # without the file there is no dataset
                dataset.delete()
                raise
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
        with ShownIn(form, "file"):
            return redirect(_kept(dataset, form.cleaned_data, request))
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
    named = [(label, row.report.get("columns", {}).get(part)) for part, label in LABELS.items()]
    context = {"row": row, "report": row.report, "dataset": row.dataset, "columns": [one for one in named if one[1]]}
    return render(request, "battle_logs/report.html", context)


@login_required
@require_POST
def log_import_store(request: HttpRequest, slug: str, pk: UUID) -> HttpResponse:
    """Store what a dry run has reported."""
    rows = LogImport.objects.visible_to(request.user).select_related("dataset")
    row = get_object_or_404(rows, pk=pk, dataset__slug=slug)
    back_to(request, "log-import", slug=slug, pk=pk)
    queueing.store(row)
    return redirect(row)


def _kept(dataset: Dataset, asked: dict[str, Any], request: HttpRequest) -> LogImport:
    how = {name: asked[name] for name in ("judge", "subset", "columns", "keep_partial", "is_dry_run")}
    return queueing.keep(asked["file"], dataset=dataset, by=person(request), **how)
