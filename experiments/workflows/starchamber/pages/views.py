"""StarChamber's pages: setting up a talk, the figures beside it, and the tokens of an answer."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers
from experiments.beginning import begin
from experiments.catalog.menu import usual_cast
from experiments.library.presets import CUSTOM, DEFAULT
from experiments.library.shelf import chosen_context, flat, presets_for
from experiments.models import Message, Run
from experiments.setup import estimates
from experiments.shelves.cloning import Source, source
from experiments.workflows.starchamber.pages import figures as talk_figures
from experiments.workflows.starchamber.pages.forms import MODEL_FIELD, TalkForm, silent_models, talk_form


@login_required
def starchamber(request: HttpRequest) -> HttpResponse:
    """Set up a talk with one model and ask the first question."""
    form = talk_form()(request.POST or None, initial=_initial(request))
    if runs := begin(request, form, "starchamber", lambda: _asked(request, form)):
        return redirect(runs[0])
    context = {
        "form": form,
        "presets": presets_for(request.user),
        "preset": form["preset"].value(),
        "context": form["context"].value(),
        "context_errors": form["context"].errors,
        "silent_models": silent_models(),
        **estimates.context(request, form),
    }
    return render(request, "workflows/starchamber/setup.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return estimates.page(request, talk_form()(request.POST))


def _asked(request: HttpRequest, form: TalkForm) -> dict[str, Any]:
    """What was filled in, with the preset that the text in the form is."""
    asked = form.asked()
    chosen = chosen_context(request.user, asked["config"]["preset"], asked["config"]["context"])
    asked["config"] |= {"preset": chosen.preset, "context": chosen.context}
    return asked


def _initial(request: HttpRequest) -> dict[str, Any]:
    """The model used last, or a general one, and the default context or the preset that the address names (`?preset=`);
    or what a talk was set up with that one may see (`?clone=`).
    """
    if wanted := request.GET.get("clone"):
        return _of_source(request, source(request.user, wanted, "starchamber"))
    offered = {choice.id: choice.context for choice in presets_for(request.user)}
    chosen = request.GET.get("preset", "")
    preset = chosen if chosen in offered else DEFAULT
    cast = usual_cast(request.user, "starchamber", ("model",))
    return {"preset": preset, "context": offered[preset], MODEL_FIELD: cast.get("model", "")}


def _of_source(request: HttpRequest, found: Source) -> dict[str, Any]:
    values = {**dict(flat(found.config)), "title": found.title}
    for one in found.participants:
        values |= {f"seat-{one.seat}-{name}": value for name, value in {"model": one.model.slug, **one.params}.items()}
    offered = {slug for slug, _label in talk_form()().fields[MODEL_FIELD].choices}  # type: ignore[attr-defined]  # a choice field, which Django types as any field
    if lost := [one.model.label for one in found.participants if one.seat == "model" and one.model.slug not in offered]:
        words = _("Not available now: %(models)s. Choose other models in their place.")
        messages.warning(request, words % {"models": ", ".join(lost)})
    known = {choice.id for choice in presets_for(request.user)}
    return {**values, "preset": values["preset"] if values.get("preset") in known else CUSTOM}


@for_readers
@require_GET
def figures(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The figures of a talk alone, fetched again whenever something was said."""
    runs = Run.objects.visible_to(request.user).filter(experiment__workflow="starchamber")
    run = get_object_or_404(runs.select_related("experiment"), pk=pk)
    return render(request, "workflows/starchamber/_figures.html", {"run": run, "figures": talk_figures.of(run)})


@for_readers
@require_GET
def message_tokens(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The tokens of an answer with their probabilities, as a page; for a script (`?part=1`) the view alone."""
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    message = get_object_or_404(rows.select_related("run__experiment", "call__model"), pk=pk)
    context = {"message": message, "run": message.run, "reading": talk_figures.read_tokens(message)}
    page = "workflows/starchamber/_tokens.html" if request.GET.get("part") else "workflows/starchamber/tokens.html"
    return render(request, page, context)
