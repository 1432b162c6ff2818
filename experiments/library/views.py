"""Pages of the library. Each view fetches with the right to see, validates, calls one verb, redirects."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.library import presets, scenarios
from experiments.library.demonstrations import replay_demonstration
from experiments.library.forms import PresetForm, initial_of, scenario_form
from experiments.library.scenarios import find_scenario, own_scenario, versions_of
from experiments.library.texts import by_origin
from experiments.models import Experiment, Run, Scenario
from experiments.workflows.arena import WORKFLOW as ARENA

RUNS_SHOWN = 10


@login_required
@require_GET
def scenario_list(request: HttpRequest) -> HttpResponse:
    """Built-in scenarios, mine, and those that others share; a search over titles and descriptions."""
    asked = {"search": request.GET.get("search", "").strip().replace("\x00", ""), "kind": request.GET.get("kind", "")}
    asked["kind"] = asked["kind"] if asked["kind"] in Scenario.Kind.values else ""
    archived = request.GET.get("archived") == "1"
    groups = by_origin(scenarios.scenarios_for(request.user, archived=archived, **asked))
    context = {**asked, "archived": archived, "groups": groups, "kinds": Scenario.Kind.choices}
    return render(request, "library/scenarios.html", context)


@login_required
@require_GET
def scenario(request: HttpRequest, ref: str) -> HttpResponse:
    """One version of a scenario: what is in it, its other versions, and the runs with its instructions."""
    shown = find_scenario(request.user, ref)
    versions = versions_of(shown, request.user)
    runs = scenarios.runs_with(shown, request.user)
    context = {
        "scenario": shown,
        "newest": versions[0],
        "versions": versions,
        "runs": runs[:RUNS_SHOWN],
        "run_count": runs.count(),
    }
    return render(request, "library/scenario.html", context)


@login_required
@require_GET
def scenario_changes(request: HttpRequest, ref: str, against: str) -> HttpResponse:
    """What differs between two versions of one scenario, whichever of them is named first."""
    pair = [find_scenario(request.user, ref), find_scenario(request.user, against)]
    rows = [choice.row for choice in pair]
    if not (rows[0] and rows[1] and rows[0].family == rows[1].family):
        raise Http404
    before, after = sorted(pair, key=lambda choice: choice.version)
    return render(request, "library/changes.html", {"before": before, "after": after})


@login_required
def scenario_new(request: HttpRequest) -> HttpResponse:
    """A scenario from nothing, or from what a run or an experiment was set up with."""
    config, title = _source(request)
    form = scenario_form()(request.POST or None, initial={**initial_of(config), "title": title, "kind": "mixed"})
    form.keep(config)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            saved = scenarios.save_scenario(owner=person(request), **form.content())
            messages.success(request, _("The scenario is saved."))
            return redirect("scenario", saved.pk)
    return _form_page(request, form, {"kept": form.kept})


@login_required
def scenario_edit(request: HttpRequest, ref: str) -> HttpResponse:
    """A new version. Of an older version, too: what it says becomes the newest again."""
    row, shown = own_scenario(person(request), ref), find_scenario(request.user, ref)
    newest = versions_of(shown, request.user)[0]
    words = {"title": shown.title, "description": shown.description, "kind": shown.kind, "base": newest.version}
    form = scenario_form()(request.POST or None, initial={**initial_of(shown.config), **words})
    form.keep(shown.config)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            try:
                opened = form.cleaned_data["base"] or row.version  # what was the newest when the form was opened
                base = get_object_or_404(Scenario, family=row.family, version=opened)
                saved = scenarios.revise_scenario(base, by=person(request), **form.content())
            except scenarios.RevisedAlready as error:
                form.data = {**request.POST.dict(), "base": str(error.newest)}
                raise
            messages.success(request, _("Version %(version)s is saved.") % {"version": saved.version})
            return redirect("scenario", saved.pk)
    return _form_page(request, form, {"scenario": shown, "newest": newest, "kept": form.kept})


@login_required
@require_POST
def scenario_share(request: HttpRequest, ref: str) -> HttpResponse:
    row, shared = own_scenario(person(request), ref), request.POST.get("shared") == "1"
    scenarios.share_scenario(row, by=person(request), shared=shared)
    messages.success(
        request, _("The scenario is shared with the lab.") if shared else _("The scenario is private again.")
    )
    return redirect("scenario", ref)


@login_required
@require_POST
def scenario_archive(request: HttpRequest, ref: str) -> HttpResponse:
    row, archived = own_scenario(person(request), ref), request.POST.get("archived") == "1"
    scenarios.archive_scenario(row, by=person(request), archived=archived)
    said = _("The scenario is archived.") if archived else _("The scenario is restored.")
    messages.success(request, said)
    return redirect("scenario", ref)


@login_required
@require_POST
def scenario_copy(request: HttpRequest, ref: str) -> HttpResponse:
    """Mine from here on: a scenario that I may see, built-in or shared."""
    shown = find_scenario(request.user, ref)
    back_to(request, "scenario", shown.ref)
    copy = scenarios.copy_scenario(shown, by=person(request))
    messages.success(request, _("The copy is yours. Change it as you like."))
    return redirect("scenario-edit", copy.pk)


@login_required
@require_POST
def scenario_demonstration(request: HttpRequest, ref: str) -> HttpResponse:
    """The scenario as somebody wrote it, as a run of mine that is marked as a demonstration."""
    shown = find_scenario(request.user, ref)
    back_to(request, "scenario", shown.ref)
    run, _is_new = replay_demonstration(shown.builtin, by=person(request))
    return redirect(run)


@login_required
def preset_list(request: HttpRequest) -> HttpResponse:
    """The system contexts of StarChamber, and a form for one of my own."""
    form = PresetForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            saved = presets.save_preset(owner=person(request), **form.cleaned_data)
            messages.success(request, _("The preset “%(name)s” is saved.") % {"name": saved.name})
            return redirect("presets")
    context = {"groups": by_origin(presets.presets_for(request.user)), "form": form}
    return render(request, "library/presets.html", context, status=status_of(form))


@login_required
def preset_edit(request: HttpRequest, pk: UUID) -> HttpResponse:
    preset = presets.own_preset(person(request), str(pk))
    shown = {"name": preset.name, **preset.config}
    form = PresetForm(request.POST or None, initial=shown)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            presets.revise_preset(preset, by=person(request), **form.cleaned_data)
            messages.success(request, _("The preset is changed. Runs started with it keep their text."))
            return redirect("presets")
    context = {"form": form, "name": shown["name"]}
    return render(request, "library/preset.html", context, status=status_of(form))


@login_required
@require_POST
def preset_share(request: HttpRequest, pk: UUID) -> HttpResponse:
    preset, shared = presets.own_preset(person(request), str(pk)), request.POST.get("shared") == "1"
    presets.share_preset(preset, by=person(request), shared=shared)
    messages.success(request, _("The preset is shared with the lab.") if shared else _("The preset is private again."))
    return redirect("presets")


@login_required
@require_POST
def preset_delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    presets.delete_preset(presets.own_preset(person(request), str(pk)), by=person(request))
    messages.success(request, _("The preset is deleted. Runs started with it keep their text."))
    return redirect("presets")


@login_required
@require_POST
def preset_copy(request: HttpRequest, id_: str) -> HttpResponse:
    """Mine from here on: a preset that I may use, built-in or shared."""
    shown = presets.find_preset(request.user, id_)
    if shown is None:
        raise Http404
    back_to(request, "presets")
    copy = presets.copy_preset(shown, by=person(request))
    return redirect("preset-edit", copy.pk)


def _source(request: HttpRequest) -> tuple[dict[str, Any], str]:
    """The configuration and the title to begin with: those of `?run=` or `?experiment=`, or nothing."""
    experiments = Experiment.objects.visible_to(request.user).filter(workflow=ARENA.slug)
    if run_id := request.GET.get("run"):
        run = get_object_or_404(_by_id(Run.objects.visible_to(request.user), run_id).filter(experiment__in=experiments))
        return run.config, run.experiment.title
    if experiment_id := request.GET.get("experiment"):
        experiment = get_object_or_404(_by_id(experiments, experiment_id))
        return experiment.config, experiment.title
    return {}, ""


def _by_id(rows: Any, text: str) -> Any:
    try:
        return rows.filter(pk=UUID(text))
    except ValueError as error:
        raise Http404 from error


def _form_page(request: HttpRequest, form: Any, context: dict[str, Any]) -> HttpResponse:
    return render(request, "library/scenario_form.html", {"form": form, **context}, status=status_of(form))
