"""Pages of datasets. Each view fetches with the right to see, validates, calls one verb, redirects."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_POST

from accounts.attachments import streamed, to_be_saved
from accounts.errors import Refusal
from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.library.datasets import hub, making, pages, uploads
from experiments.library.datasets.forms import PART_LABELS, DatasetForm, OutputsUploadForm, column_rows, mapping_of
from experiments.library.datasets.process import Refused
from experiments.models import Dataset, Sample, Upload

DATASETS_SHOWN = 40
NEW = {"visibility": Dataset.Visibility.PRIVATE, "takes_votes": True}


@require_GET
def datasets(request: HttpRequest) -> HttpResponse:
    """Mine, those of the lab and public ones; signed out, the public ones."""
    search = request.GET.get("search", "").strip().replace("\x00", "")[:200]
    visible = Dataset.objects.visible_to(request.user).select_related("owner")
    found = visible.filter(name__icontains=search) if search else visible
    page = Paginator(found, DATASETS_SHOWN).get_page(request.GET.get("page"))
    rows = pages.listed(list(page))
    return render(request, "datasets/list.html", {"rows": rows, "page": page, "search": search})


@csrf_exempt  # the token is checked below, once it is certain that the file is not too long to be taken in
def dataset_new(request: HttpRequest) -> HttpResponse:
    """A file is sent; what is in it is shown on the next page."""
    if request.method == "POST" and uploads.is_too_long(request.META.get("CONTENT_LENGTH")):
        return render(request, "datasets/new.html", {"error": uploads.too_long()}, status=413)
    return _dataset_new(request)


@csrf_protect
@login_required
def _dataset_new(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "datasets/new.html")
    owner = person(request)
    try:
        making.require_maker(owner)
        upload = uploads.keep(request.FILES.get("file"), owner=owner, kind=Upload.Kind.SAMPLES)
    except Refusal as error:
        return render(request, "datasets/new.html", {"error": str(error)}, status=status_of(error))
    return redirect("dataset-upload", upload.pk)


@login_required
def dataset_upload(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The first rows of a file, and how its columns are to be read."""
    upload = get_object_or_404(Upload.objects.visible_to(request.user), pk=pk, kind=Upload.Kind.SAMPLES)
    if upload.dataset:
        return redirect(upload.dataset)
    try:
        preview = uploads.preview(upload)
    except Refused as refused:
        context = {"upload": upload, "reason": upload.refused_reason or str(refused)}
        return render(request, "datasets/refused.html", context)
    modality = Dataset.Modality.IMAGE if preview["contestants"] else Dataset.Modality.TEXT
    suggested = {"name": upload.name.rpartition(".")[0] or upload.name, "modality": modality}
    form = DatasetForm(request.POST or None, initial={**NEW, **suggested})
    rows = column_rows(preview, request.POST)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            columns = mapping_of(rows)
            made = making.create(owner=person(request), upload=upload, columns=columns, **form.cleaned_data)
            return redirect(made)
    context = {"upload": upload, "preview": preview, "form": form, "rows": rows, "parts": PART_LABELS.items()}
    return render(request, "datasets/mapping.html", context, status=status_of(form))


@require_GET
def dataset(request: HttpRequest, slug: str) -> HttpResponse:
    """What is in a dataset; how far it is while it is read; why it was refused."""
    shown = _visible(request, slug)
    context: dict[str, Any] = {"dataset": shown, "is_mine": shown.owner_id == request.user.pk}
    if shown.is_ready:
        return render(request, "datasets/dataset.html", context | pages.dataset_page(shown, request.user, request.GET))
    upload = shown.uploads.filter(kind=Upload.Kind.SAMPLES).first()
    context |= {"upload": upload, "eta": upload.seconds_left if upload else None}
    return render(request, "datasets/reading.html", context)


@require_GET
def dataset_sample(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One sample with every contestant's output side by side."""
    samples = Sample.objects.select_related("dataset").filter(
        dataset__in=Dataset.objects.visible_to(request.user).ready(), dataset__slug=slug
    )
    return render(request, "datasets/sample.html", pages.sample_page(get_object_or_404(samples, pk=pk)))


@csrf_exempt  # as above
def dataset_outputs(request: HttpRequest, slug: str) -> HttpResponse:
    """Outputs of contestants are sent; what became of those sent before."""
    if request.method == "POST" and uploads.is_too_long(request.META.get("CONTENT_LENGTH")):
        messages.error(request, uploads.too_long())
        return redirect("dataset-outputs", slug)
    return _dataset_outputs(request, slug)


@csrf_protect
@login_required
def _dataset_outputs(request: HttpRequest, slug: str) -> HttpResponse:
    shown = get_object_or_404(Dataset.objects.visible_to(request.user).ready(), slug=slug)
    form = OutputsUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        asked: dict[str, Any] = {name: form.cleaned_data[name] for name in ("contestant", "version")}
        with ShownIn(form):
            making.send_outputs(shown, by=person(request), upload=request.FILES.get("file"), **asked)
            return redirect("dataset-outputs", slug)
    sent = pages.sent_outputs(shown)
    context = {
        "dataset": shown,
        "form": form,
        "sent": sent,
        "is_reading": any(not one["upload"].is_over for one in sent),
        "may_curate": making.may_curate(request.user, shown),
    }
    return render(request, "datasets/outputs.html", context, status=status_of(form))


@require_GET
def dataset_export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All of it as Parquet with a card."""
    shown = get_object_or_404(Dataset.objects.visible_to(request.user).ready(), slug=slug)
    return to_be_saved(streamed(request, hub.dataset_zip(shown)), "application/zip", f"{shown.slug}-hub.zip")


@login_required
@require_POST
def dataset_visibility(request: HttpRequest, slug: str) -> HttpResponse:
    shown = _visible(request, slug)
    back_to(request, shown)
    making.publish(shown, by=person(request), visibility=request.POST.get("visibility", ""))
    messages.success(request, _("Visibility: %(who)s.") % {"who": shown.get_visibility_display()})
    return redirect(shown)


@login_required
@require_POST
def dataset_delete(request: HttpRequest, slug: str) -> HttpResponse:
    shown = _visible(request, slug)
    back_to(request, shown)
    making.remove(shown, by=person(request))
    messages.success(request, _("The dataset “%(name)s” is deleted.") % {"name": shown.name})
    return redirect(reverse("datasets"))


def _visible(request: HttpRequest, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.visible_to(request.user).select_related("owner"), slug=slug)
