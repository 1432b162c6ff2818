"""Tags, notes, favorites and saved views on pages; runs side by side, and cloning by way of a set-up form."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.library.annotations import comparison, favorites, notes, saved_views, tags
from experiments.models import Experiment, Message, Note, Run, SavedView
from experiments.runs import actions, run_list
from experiments.runs.sharing.sharing import own_projects
from experiments.workflows import surface_of

PAGES_FOR_CHOSEN = {"export": "bulk-exports", "scan": "scan"}  # that are told which runs


class NoteForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=notes.LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 5, "autocomplete": "off"}),
    )
    shared = forms.BooleanField(label=gettext_lazy("Share with everybody who can see this run"), required=False)


class ViewForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=saved_views.LONGEST_NAME)
    query = forms.CharField(required=False, widget=forms.HiddenInput)
    project = forms.CharField(required=False)
    is_default = forms.BooleanField(label=gettext_lazy("Show it first when I open the runs"), required=False)


def list_context(request: HttpRequest, runs: Sequence[Run]) -> dict[str, object]:
    """What the list of runs shows of tags and saved views. runs: those of the page that is shown."""
    query = saved_views.normal(request.GET.urlencode())
    views = list(SavedView.objects.visible_to(request.user).select_related("owner", "project").distinct())
    return {
        "words": tags.words_of(runs),
        "views": views,
        "current_view": next((one for one in views if one.query == query), None),
        "query": query,
        "own_projects": own_projects(),
    }


def default_view(request: HttpRequest) -> SavedView | None:
    """The view that the list of runs shows where nothing was asked for."""
    if request.GET:
        return None
    return SavedView.objects.filter(owner_id=request.user.pk, is_default=True).exclude(query="").first()


@login_required
@require_GET
def known_tags(request: HttpRequest) -> HttpResponse:
    """What a field offers for a tag, fetched when somebody begins to write one."""
    return render(request, "annotations/_known_tags.html", {"known": tags.vocabulary(request.user)})


@login_required
@require_POST
def run_tags(request: HttpRequest, pk: UUID) -> HttpResponse:
    run = _run(request, pk)
    _change_tags(request, [run])
    return redirect(f"{run.get_absolute_url()}#annotations")


@login_required
@require_POST
def experiment_tags(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
    _change_tags(request, [shown])
    return redirect("experiment", pk=shown.pk)


@login_required
@require_POST
def runs_chosen(request: HttpRequest) -> HttpResponse:
    """The runs and experiments that were ticked: compared, exported, tagged, archived, or deleted on a page that asks
    first. Back to the list as it was otherwise, or to the page of the one thing that the form stands on.
    """
    query = saved_views.normal(request.POST.get("query", ""))
    back_to(request, f"{reverse('runs')}?{query}" if query else "runs")
    runs, experiments, asked = request.POST.getlist("run"), request.POST.getlist("experiment"), request.POST.get("do")
    found = run_list.named(runs, experiments, person(request))
    if asked == "delete":
        return redirect(f"{reverse('runs-delete')}?{urlencode({'run': runs, 'experiment': experiments}, doseq=True)}")
    if asked in PAGES_FOR_CHOSEN:
        page = reverse(PAGES_FOR_CHOSEN[asked])
        return redirect(f"{page}?{urlencode({'runs': [str(run.pk) for run in found]}, doseq=True)}")
    if asked == "compare":
        if comparison.LEAST <= len(found) <= comparison.MOST:
            return redirect(f"{reverse('compare-chosen')}?{_query(sorted(str(run.pk) for run in found))}")
        said = _("Choose %(least)s to %(most)s runs to compare.")
        messages.info(request, said % {"least": comparison.LEAST, "most": comparison.MOST})
    elif asked in {"archive", "restore"}:
        _archive(request, found, is_archived=asked == "archive")
    else:
        wholes = {run.experiment for run in found if str(run.experiment_id) in experiments}
        _change_tags(request, [*(run for run in found if str(run.pk) in runs), *wholes])
    if "stay" in request.POST:
        return redirect(found[0]) if runs else redirect("experiment", pk=found[0].experiment_id)
    return redirect(f"{reverse('runs')}?{query}" if query else "runs")


def _archive(request: HttpRequest, runs: Sequence[Run], is_archived: bool) -> None:
    n = actions.archive(runs, by=person(request), is_archived=is_archived)
    archived = ngettext("%(n)s run was archived.", "%(n)s runs were archived.", n)
    restored = ngettext("%(n)s run was restored.", "%(n)s runs were restored.", n)
    messages.success(request, (archived if is_archived else restored) % {"n": n})


def _change_tags(request: HttpRequest, things: Sequence[tags.Thing]) -> None:
    is_off = request.POST.get("do") == "untag"
    verb: Callable[..., int] = tags.untag if is_off else tags.tag
    changed = verb(things, request.POST.get("tag", ""), by=person(request))
    if len(things) > 1 or not changed:
        taken = ngettext("Tag removed from %(n)s run.", "Tag removed from %(n)s runs.", changed)
        put = ngettext("%(n)s run was tagged.", "%(n)s runs were tagged.", changed)
        messages.success(request, (taken if is_off else put) % {"n": changed})


@login_required
@require_POST
def favorite(request: HttpRequest) -> HttpResponse:
    """Mark something, or unmark it: the button again, or back to the page that it stood on."""
    kind, key, is_marked = request.POST.get("kind", ""), request.POST.get("key", ""), "mark" in request.POST
    page = request.POST.get("next", "")
    back = page if url_has_allowed_host_and_scheme(page, {request.get_host()}, settings.HTTPS) else reverse("home")
    back_to(request, back)
    verb: Callable[..., object] = favorites.mark if is_marked else favorites.unmark
    verb(kind, key, by=person(request))
    if request.headers.get("HX-Request"):
        context = {"kind": kind, "key": key, "is_marked": is_marked, "next": page}
        return render(request, "annotations/_favorite.html", context)
    return redirect(back)


@login_required
def run_notes(request: HttpRequest, pk: UUID) -> HttpResponse:
    """All notes on a run that one may read, and the form for another one."""
    return _new_note(request, _run(request, pk), None)


@login_required
def message_note(request: HttpRequest, pk: UUID) -> HttpResponse:
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    message = get_object_or_404(rows.select_related("run__experiment"), pk=pk)
    return _new_note(request, message.run, message)


def _new_note(request: HttpRequest, run: Run, message: Message | None) -> HttpResponse:
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "text"):
            return _to_note(notes.write(run, by=person(request), message=message, **form.cleaned_data))
    others = [] if message else notes.notes_on(run, request.user)
    context = {"form": form, "run": run, "message": message, "note": None, "notes": others}
    return render(request, "annotations/note.html", context, status=status_of(form))


@login_required
def note(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A note of one's own, to be changed."""
    shown = _own_note(request, pk)
    form = NoteForm(request.POST or None, initial={"text": shown.text, "shared": shown.shared})
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "text"):
            notes.revise(shown, by=person(request), **form.cleaned_data)
            return _to_note(shown)
    context = {"form": form, "run": shown.run, "message": shown.message, "note": shown, "notes": []}
    return render(request, "annotations/note.html", context, status=status_of(form))


@login_required
@require_POST
def note_delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _own_note(request, pk)
    notes.remove(shown, by=person(request))
    messages.success(request, _("The note is deleted."))
    return redirect(f"{shown.run.get_absolute_url()}#annotations")


def _own_note(request: HttpRequest, pk: UUID) -> Note:
    rows = Note.objects.written_by(request.user).select_related("run__experiment", "message")
    return get_object_or_404(rows, pk=pk)


def _to_note(shown: Note) -> HttpResponse:
    """Where it stands on the page of its run."""
    return redirect(f"{shown.run.get_absolute_url()}#note-{shown.pk}")


@login_required
@require_POST
def view_new(request: HttpRequest) -> HttpResponse:
    form = ViewForm(request.POST)
    if form.is_valid():
        with ShownIn(form):
            return redirect(saved_views.save(by=person(request), **form.cleaned_data))
    return _view_page(request, form, None)


@login_required
def view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Its name, who finds it, and whether it is shown first."""
    shown = _own_view(request, pk)
    initial = {"name": shown.name, "query": shown.query, "project": shown.project_id, "is_default": shown.is_default}
    form = ViewForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        asked = {**form.cleaned_data, "query": form.cleaned_data["query"] or None}
        with ShownIn(form):
            return redirect(saved_views.revise(shown, by=person(request), **asked))
    return _view_page(request, form, shown)


@login_required
@require_POST
def view_delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    saved_views.remove(_own_view(request, pk), by=person(request))
    messages.success(request, _("The view is deleted. Its runs do not change."))
    return redirect(f"{reverse('runs')}?whose=all")


def _view_page(request: HttpRequest, form: ViewForm, shown: SavedView | None) -> HttpResponse:
    context = {"form": form, "view": shown, "projects": own_projects()}
    return render(request, "annotations/view.html", context, status=status_of(form))


def _own_view(request: HttpRequest, pk: UUID) -> SavedView:
    return get_object_or_404(SavedView.objects.visible_to(request.user), pk=pk, owner=person(request))


@login_required
@require_GET
def clone(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The set-up form of its workflow, filled with this experiment."""
    shown = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
    home = surface_of(shown.workflow).home
    if not home:
        messages.info(request, _("Set this up from the page of what it belongs to."))
        return redirect("experiment", pk=shown.pk)
    return redirect(f"{reverse(home)}?clone={shown.pk}")


@for_readers
@require_GET
def compare_chosen(request: HttpRequest) -> HttpResponse:
    """Two to four runs side by side: `?run=…&run=…`."""
    return _comparison_page(request, request.GET.getlist("run"))


@for_readers
@require_GET
def run_compare(request: HttpRequest, pk: UUID, other: UUID) -> HttpResponse:
    """The same for two runs, one of which came from the other."""
    return _comparison_page(request, [str(pk), str(other)])


def _comparison_page(request: HttpRequest, ids: list[str]) -> HttpResponse:
    back_to(request, "runs")
    found = comparison.of(comparison.chosen(request.user, ids))
    keys = [side.run.pk for side in found.sides]
    others = {key: [one for one in keys if one != key] for key in keys}
    context: dict[str, Any] = {
        "beheld": found,
        "firsts": {key: _query([key, *rest]) for key, rest in others.items()},
        "without": {key: _query(rest) for key, rest in others.items()},
        "is_pair": len(keys) == comparison.LEAST,
    }
    return render(request, "experiments/compare.html", context)


def _query(runs: Sequence[UUID | str]) -> str:
    return urlencode({"run": list(map(str, runs))}, doseq=True)


def _run(request: HttpRequest, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)
