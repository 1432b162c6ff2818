"""The page of a dataset's contestants, and the pictures of a dataset."""

import logging
from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST, require_safe

from accounts.errors import Invalid
from accounts.models import User
from accounts.people import person
from accounts.refusing import back_to
from experiments.library.datasets import contestants, making
from experiments.library.datasets import pages as dataset_pages
from experiments.library.datasets.forms import ContestantForm
from experiments.models import Contestant, Dataset, Image

logger = logging.getLogger(__name__)

KEPT_SECONDS = 3600  # by browsers: a dataset that is withdrawn is out of sight soon


@require_GET
def dataset_contestants(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is compared, with what each has made; whoever may, changes here how they are shown and leaves them out."""
    dataset = get_object_or_404(_ready(request), slug=slug)
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
    visible = Contestant.objects.filter(dataset__in=_ready(request), dataset__slug=slug)
    contestant = get_object_or_404(visible.select_related("dataset"), pk=pk)
    change = CHANGES.get(request.POST.get("action", ""))
    back_to(request, "dataset-contestants", slug)
    if change:
        messages.success(request, change(contestant, person(request), request))
    return redirect("dataset-contestants", slug)


@require_safe
def dataset_image(request: HttpRequest, slug: str, sha: str) -> HttpResponseBase:
    """A picture's bytes. They never change, but who may see them does: whoever has them asks again after a while."""
    datasets = Dataset.objects.visible_to(request.user).filter(slug=slug)
    image = get_object_or_404(Image.objects.filter(datasets__dataset__in=datasets), pk=sha)
    if request.headers.get("If-None-Match") == f'"{image.pk}"':
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(_bytes_of(image), content_type=image.mime)
    is_public = datasets.filter(visibility=Dataset.Visibility.PUBLIC).exists()
    response["Cache-Control"] = f"{'public' if is_public else 'private'}, max-age={KEPT_SECONDS}"
    response["ETag"] = f'"{image.pk}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    if not is_public:
        patch_vary_headers(response, ["Cookie"])
    return response


def _bytes_of(image: Image) -> bytes:
    try:
        return image.path.read_bytes()
    except FileNotFoundError as error:
        logger.warning("image=%s is not on the disk", image.pk)
        raise Http404 from error


def _describe(contestant: Contestant, by: User, request: HttpRequest) -> str:
    form = ContestantForm(request.POST)
    if not form.is_valid():
        raise Invalid({name: [str(text) for text in texts] for name, texts in form.errors.items()})
    contestants.describe(contestant, by=by, label=form.cleaned_data["label"], link=form.cleaned_data["link"])
    return _("%(contestant)s is changed.") % {"contestant": contestant}


def _void(contestant: Contestant, by: User, request: HttpRequest) -> str:
    contestants.void(contestant, by=by, reason=request.POST.get("reason", ""))
    return _("%(contestant)s is left out of ratings.") % {"contestant": contestant}


def _restore(contestant: Contestant, by: User, request: HttpRequest) -> str:
    contestants.restore(contestant, by=by)
    return _("%(contestant)s is rated again.") % {"contestant": contestant}


CHANGES: dict[str, Callable[[Contestant, User, HttpRequest], str]] = {
    "describe": _describe,
    "void": _void,
    "restore": _restore,
}


def _ready(request: HttpRequest) -> QuerySet[Dataset]:
    return Dataset.objects.visible_to(request.user).filter(state=Dataset.State.READY)
