"""The pages beside a run: its flags with their history, and what curators decided about it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.audit import target_of
from accounts.models import AuditEntry
from accounts.people import person
from accounts.refusing import back_to
from experiments.models import FlagDeed, Message, Run, RunReview
from experiments.models.labels import FLAGS
from experiments.review import curation, flagging
from experiments.runs.steering.views import visible_run
from experiments.workflows.base.flags import REVIEWED

CURATED = (
    AuditEntry.Action.APPROVED,
    AuditEntry.Action.DISAPPROVED,
    AuditEntry.Action.PUBLISHED,
    AuditEntry.Action.WITHDRAWN,
    AuditEntry.Action.VOIDED,
    AuditEntry.Action.RESTORED,
)
MOST_SHOWN = 200


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def flags(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Every flag of a run's messages: how it came about, and for those who may, setting and dismissing."""
    run = visible_run(request, pk)
    if request.method == "POST":
        return _flag(request, run)
    rows = list(flagged(run)[:MOST_SHOWN])
    messages_ = list(
        run.messages.filter(superseded=False).only("pk", "run", "turn", "seat").order_by("seq")[:MOST_SHOWN]
    )
    context = {
        "run": run,
        "rows": [{"message": one, "deeds": flagging.history(one)} for one in rows],
        "messages_of_run": messages_,
        "may_flag": bool(messages_) and flagging.may_flag(messages_[0], person(request)),
        "choices": [(flag, FLAGS[flag]) for flag in REVIEWED],
    }
    return render(request, "review/flags.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_curation(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Whether a run is approved, counts, and is public; curators decide here."""
    run = visible_run(request, pk)
    if request.method == "POST":
        if curation.may_curate(request.user):  # everybody else is told so by a page of its own
            back_to(request, "run-curation", run.pk)
        done = curation.act(
            request.POST.get("deed", ""), run, by=person(request), reason=request.POST.get("reason", "")
        )
        messages.success(request, _("Done.")) if done else messages.info(request, _("This was so already."))
        return redirect("run-curation", run.pk)
    targets = Q(target=target_of(run)) | Q(target=target_of(run.experiment))
    context: dict[str, Any] = {
        "run": run,
        "review": RunReview.objects.filter(run=run).select_related("approved_by", "excluded_by").first(),
        "may_curate": curation.may_curate(request.user),
        "entries": AuditEntry.objects.filter(targets, action__in=CURATED)[:50],
    }
    return render(request, "review/curation.html", context)


def flagged(run: Run) -> Any:
    """The messages that have a flag, or had one."""
    deeds = FlagDeed.objects.filter(message=OuterRef("pk"))
    return run.messages.filter(Exists(deeds) | ~Q(flags=[])).select_related("run__experiment").order_by("seq")


def _flag(request: HttpRequest, run: Run) -> HttpResponse:
    message = get_object_or_404(
        Message.objects.select_related("run"), run=run, pk=_uuid(request.POST.get("message", ""))
    )
    flag, reason = request.POST.get("flag", ""), request.POST.get("reason", "")
    verb = flagging.dismiss if request.POST.get("deed") == "dismiss" else flagging.set_flag
    back_to(request, "run-flags", run.pk)
    if verb(message, flag, by=person(request), reason=reason):
        messages.success(request, _("The flag is dismissed.") if verb is flagging.dismiss else _("The flag is set."))
    else:
        messages.info(request, _("This was so already."))
    return redirect("run-flags", run.pk)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)
