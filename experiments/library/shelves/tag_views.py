"""Tags on pages: those of a run or an experiment, and what is done with the runs that were ticked in their list."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.people import person
from experiments.library.shelves import comparing, tagging, viewing
from experiments.models import Experiment, Run


@login_required
@require_POST
def run_tags(request: HttpRequest, pk: UUID) -> HttpResponse:
    run = get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)
    _change(request, [run])
    return redirect(f"{run.get_absolute_url()}#shelf")


@login_required
@require_POST
def experiment_tags(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
    _change(request, [shown])
    return redirect("experiment", pk=shown.pk)


@login_required
@require_POST
def runs_chosen(request: HttpRequest) -> HttpResponse:
    """The runs that were ticked: compared, or tagged all at once. Back to the list as it was otherwise."""
    ids = request.POST.getlist("run")[: tagging.MOST_AT_ONCE + 1]
    if request.POST.get("do") == "compare":
        if comparing.LEAST <= len(set(ids)) <= comparing.MOST:
            return redirect(f"{reverse('compare-chosen')}?{urlencode({'run': sorted(ids)}, doseq=True)}")
        said = _("Choose %(least)s to %(most)s runs to compare.")
        messages.info(request, said % {"least": comparing.LEAST, "most": comparing.MOST})
    else:
        _change(request, _runs(request, ids))
    query = viewing.normal(request.POST.get("query", ""))
    return redirect(f"{reverse('runs')}?{query}" if query else "runs")


def _change(request: HttpRequest, things: list[Any]) -> None:
    is_off = request.POST.get("do") == "untag"
    verb: Callable[..., int] = tagging.untag if is_off else tagging.tag
    changed = verb(things, request.POST.get("tag", ""), by=person(request))
    if len(things) > 1 or not changed:
        taken = ngettext("Taken off %(n)s run.", "Taken off %(n)s runs.", changed)
        put = ngettext("%(n)s run is tagged.", "%(n)s runs are tagged.", changed)
        messages.success(request, (taken if is_off else put) % {"n": changed})


def _runs(request: HttpRequest, ids: list[str]) -> list[Run]:
    try:
        wanted = {UUID(one) for one in ids}
    except ValueError as error:
        raise Http404 from error
    found = list(Run.objects.visible_to(request.user).filter(pk__in=wanted).select_related("experiment"))
    if len(found) < len(wanted):
        raise Http404
    return found
