"""The set-up page of every workflow that declares one: its form, its estimate, its presets, and the runs below it."""

from functools import partial
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.errors import Refusal
from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.library import presets as kept_presets
from experiments.models import Run
from experiments.runs import actions
from experiments.setup import estimates, presets
from experiments.setup.forms import DeclaredForm, setup_form
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.shards import is_sharded

LATEST = 5


def begin(request: HttpRequest, form: DeclaredForm) -> str:
    """Create what was asked for and start it: both, or nothing. The address of what was begun; "" where nothing was:
    the form complains.
    """
    if not form.is_valid():
        return ""
    by = person(request)
    with ShownIn(form):
        with transaction.atomic():
            project = request.POST.get("project", "")
            experiment = actions.create(owner=by, workflow=form.workflow, project=project, **form.asked())
            runs = actions.start(experiment, by=by, repeats=form.runs)
        is_one = len(runs) == 1 and not REGISTRY[form.workflow].is_sharded
        return runs[0].get_absolute_url() if is_one else reverse("experiment", args=[experiment.pk])
    return ""


@login_required
def setup(request: HttpRequest, workflow: str, **of: str) -> HttpResponse:
    """Set a workflow up and start its runs; some buttons only fill something in and keep what was typed. of: what the
    address names.
    """
    make = partial(setup_form(workflow), reader=person(request), of=of)
    if request.method != "POST":
        form = make(initial=presets.initial(request, workflow))
    elif (refilled := presets.refilled(request, workflow)) is not None:
        form = make(initial=refilled)
    elif address := begin(request, form := make(request.POST)):
        return redirect(address)
    return _page(request, workflow, form)


@login_required
@require_POST
def estimate(request: HttpRequest, workflow: str, **of: str) -> HttpResponse:
    """What the form would come to as it is filled in now: asked for whenever it changes."""
    form = setup_form(workflow)(request.POST, reader=person(request), of=of)
    return render(request, "setup/_estimate.html", estimates.context(request, form))


@login_required
@require_POST
def save_preset(request: HttpRequest, workflow: str) -> HttpResponse:
    """Save the set-up that the form shows under a name, or (`share`, `unshare`) show one of mine to the lab or not."""
    typed = setup_form(workflow)(request.POST, reader=person(request))
    for word, shared in (("share", True), ("unshare", False)):
        if word in request.POST:
            mine = presets.mine(request, workflow, request.POST[word])
            kept_presets.share_preset(mine, by=person(request), shared=shared)
            messages.success(request, _("Shared with the lab.") if shared else _("No longer shared with the lab."))
            return _as_typed(request, workflow, typed)
    try:
        kept = kept_presets.save_setup(
            owner=person(request),
            workflow=workflow,
            name=request.POST.get("preset_name", ""),
            content=presets.content(typed),
            shared=bool(request.POST.get("preset_shared")),
        )
        messages.success(request, _("Saved as “%(name)s”.") % {"name": kept.name})
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    except Refusal as error:
        messages.error(request, str(error))
    return _as_typed(request, workflow, typed)


@login_required
@require_POST
def delete_preset(request: HttpRequest, workflow: str, pk: UUID) -> HttpResponse:
    kept_presets.delete_preset(presets.mine(request, workflow, str(pk)), by=person(request))
    messages.success(request, _("The preset is deleted. Runs started with it do not change."))
    return _as_typed(request, workflow, setup_form(workflow)(request.POST, reader=person(request)))


def _as_typed(request: HttpRequest, workflow: str, typed: DeclaredForm) -> HttpResponse:
    """The form with what was typed, before anything is said to be wrong with it."""
    return _page(request, workflow, setup_form(workflow)(initial=typed.typed(), reader=person(request)))


def _page(request: HttpRequest, workflow: str, form: DeclaredForm) -> HttpResponse:
    route = form.page.route or surface_of(workflow).home
    runs = Run.objects.owned_by(request.user).filter(experiment__workflow=workflow).select_related("experiment")
    newest = Run.objects.filter(experiment=OuterRef("experiment")).order_by("-created", "-pk")
    context = {
        "form": form,
        "setup": form.page,
        "address": reverse(route, kwargs=dict(form.of)),
        "estimate_address": reverse(f"{route}-estimate", kwargs=dict(form.of)),
        "instead": form.page.instead(form) if form.page.instead else "",
        "surface": surface_of(workflow),
        "latest": runs.filter(pk=Subquery(newest.values("pk")[:1]))[:LATEST],  # of each experiment
        "is_sharded": is_sharded(workflow),
        **estimates.context(request, form),
        "presets": presets.choices(request.user, workflow) if form.page.of_preset else (),
        **(form.page.context(request) if form.page.context else {}),
    }
    return render(request, "setup/page.html", context, status=status_of(form))
