"""Saved views on pages, and cloning by way of a set-up form."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.library.shelves import viewing
from experiments.library.shelves.forms import ViewForm
from experiments.models import Experiment, SavedView
from experiments.runs.sharing.sharing import projects_of
from experiments.workflows import surface_of


@login_required
@require_POST
def view_new(request: HttpRequest) -> HttpResponse:
    form = ViewForm(request.POST)
    return _kept(request, form, None) or _page(request, form, None)


@login_required
def view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Its name, who finds it, and whether it is shown first."""
    shown = _mine(request, pk)
    initial = {"name": shown.name, "query": shown.query, "project": shown.project_id, "is_default": shown.is_default}
    form = ViewForm(request.POST or None, initial=initial)
    return _kept(request, form, shown) or _page(request, form, shown)


@login_required
@require_POST
def view_delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    viewing.remove(_mine(request, pk), by=person(request))
    messages.success(request, _("The view is deleted. Its runs are as they were."))
    return redirect(f"{reverse('runs')}?whose=all")


@login_required
@require_GET
def clone(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The set-up form of its workflow, filled with this experiment."""
    shown = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
    home = surface_of(shown.workflow).home
    if not home:
        messages.info(request, _("This is set up from the page of what it belongs to."))
        return redirect("experiment", pk=shown.pk)
    return redirect(f"{reverse(home)}?clone={shown.pk}")


def _kept(request: HttpRequest, form: ViewForm, shown: SavedView | None) -> HttpResponse | None:
    if request.method != "POST" or not form.is_valid():
        return None
    with ShownIn(form):
        if shown is None:
            return redirect(viewing.save(by=person(request), **form.cleaned_data))
        asked = {**form.cleaned_data, "query": form.cleaned_data["query"] or None}
        return redirect(viewing.revise(shown, by=person(request), **asked))
    return None


def _page(request: HttpRequest, form: ViewForm, shown: SavedView | None) -> HttpResponse:
    context = {"form": form, "view": shown, "projects": projects_of(request.user)}
    return render(request, "shelves/view.html", context, status=status_of(form))


def _mine(request: HttpRequest, pk: UUID) -> SavedView:
    return get_object_or_404(SavedView.objects.visible_to(request.user), pk=pk, owner=person(request))
