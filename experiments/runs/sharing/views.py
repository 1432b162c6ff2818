"""Who sees an experiment, on its page; and what a link shows to whoever has it."""

from http import HTTPStatus
from typing import TypeVar
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.errors import Refusal
from accounts.people import person
from accounts.refusing import status_of
from experiments.models import Experiment, Export, Run, ShareLink
from experiments.runs import progress
from experiments.runs.reports import formats, jobs
from experiments.runs.reports.formats import LINKED
from experiments.runs.sharing import sharing
from experiments.workflows.shards import without_shards

MOST_RUNS = 200
ALONE = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
Answer = TypeVar("Answer", bound=HttpResponseBase)


class DaysForm(forms.Form):
    days = forms.IntegerField(min_value=1, max_value=sharing.MOST_DAYS)


@login_required
@require_GET
def experiment_sharing(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Who sees an experiment, and its links."""
    return _page(request, _visible_experiment(request, pk))


@login_required
@require_POST
def experiment_share(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible_experiment(request, pk)
    try:
        chosen = request.POST.get("project", "")
        kept = shown.project if chosen == str(shown.project_id or "") else None
        project = kept or sharing.checked_project(chosen, owner=person(request))
        is_done = sharing.share(
            shown, by=person(request), visibility=request.POST.get("visibility", ""), project=project
        )
    except Refusal as error:
        return _page(request, shown, str(error), status_of(error))
    messages.success(request, _("The visibility is changed.") if is_done else _("Nothing changed: it was already so."))
    return redirect("experiment-sharing", pk=shown.pk)


@login_required
@require_POST
def link_create(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A new link. It is shown once, on the page that answers the form."""
    shown, form = _visible_experiment(request, pk), DaysForm(request.POST)
    if not form.is_valid():
        problem = _("A link is valid for 1 to %(most)s days.") % {"most": sharing.MOST_DAYS}
        return _page(request, shown, problem)
    try:
        _link, secret = sharing.create_link(shown, by=person(request), days=form.cleaned_data["days"])
    except Refusal as error:
        return _page(request, shown, str(error), status_of(error))
    return _page(request, shown, secret=secret, status=HTTPStatus.CREATED)


@login_required
@require_POST
def link_revoke(request: HttpRequest, pk: UUID) -> HttpResponse:
    link = get_object_or_404(ShareLink.objects.visible_to(request.user).select_related("experiment"), pk=pk)
    sharing.revoke_link(link, by=person(request))
    messages.success(request, _("The link is revoked and no longer works."))
    return redirect("experiment-sharing", pk=link.experiment_id)


@require_GET
def shared(request: HttpRequest, secret: str) -> HttpResponse:
    """What a link leads to: the experiment with its runs, to be read."""
    link = sharing.opened(secret)
    if link is None:
        return _unlisted(render(request, "sharing/void.html", status=HTTPStatus.NOT_FOUND))
    sharing.note_opening(link)
    rows = without_shards(link.experiment.runs.with_totals().select_related("experiment"))[:MOST_RUNS]
    items = [progress.of(run) for run in rows]
    context = {"link": link, "experiment": link.experiment, "items": items, "secret": secret}
    return _unlisted(render(request, "sharing/shared.html", context))


@require_GET
def shared_run(request: HttpRequest, secret: str, pk: UUID) -> HttpResponseBase:
    """A run, as the report that a researcher would hand on; a long one is made by a worker first, and while it goes on
    not for every visit.
    """
    link = sharing.opened(secret)
    run = Run.objects.with_totals().filter(experiment=link.experiment_id, pk=pk).first() if link else None
    if link is None or run is None:
        return _unlisted(render(request, "sharing/void.html", status=HTTPStatus.NOT_FOUND))
    language = get_language() or settings.LANGUAGE_CODE
    if not jobs.is_long(run):
        return _in_place(formats.run_response(request, run, LINKED, language))
    made = jobs.recent_file(run, by=link.created_by, format_=LINKED, language=language)
    if made.state == Export.State.DONE:
        return _in_place(formats.file_response(request, made))
    jobs.wake()
    answer = render(request, "sharing/being_made.html", {"run": run, "file": made}, status=HTTPStatus.ACCEPTED)
    answer["Retry-After"] = answer["Refresh"] = "5"
    return _unlisted(answer)


def _in_place(report: HttpResponseBase) -> HttpResponseBase:
    """Read where it is, not saved. What models wrote has no origin there, runs nothing and loads nothing."""
    report["Content-Disposition"] = "inline"
    report["Content-Security-Policy"] = ALONE
    return _unlisted(report)


def _unlisted(answer: Answer) -> Answer:
    """No search engine lists it, no cache keeps it once the link is void, and no other site learns its address."""
    answer["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    answer["Cache-Control"] = "no-store"
    answer["Referrer-Policy"] = "no-referrer"
    return answer


def _page(
    request: HttpRequest, shown: Experiment, problem: str = "", status: int = 0, secret: str = ""
) -> HttpResponse:
    links = ShareLink.objects.visible_to(request.user).filter(experiment=shown).select_related("created_by")
    is_owner = shown.owner_id == request.user.pk
    context = {
        "experiment": shown,
        "is_owner": is_owner,
        "may_publish": sharing.may_publish(request.user),
        "projects": sharing.projects_of(request.user) if is_owner else [],
        "links": links,
        "problem": problem,
        "days": sharing.DEFAULT_DAYS,
        "address": request.build_absolute_uri(f"/s/{secret}/") if secret else "",
    }
    answer = render(request, "sharing/sharing.html", context, status=status or (422 if problem else 200))
    answer["Cache-Control"] = "no-store"
    return answer


def _visible_experiment(request: HttpRequest, pk: UUID) -> Experiment:
    rows = Experiment.objects.visible_to(request.user).select_related("owner", "project")
    return get_object_or_404(rows, pk=pk)
