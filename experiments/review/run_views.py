"""The pages beside a run: its flags with their history, and what curators decided about it."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.audit import target_of
from accounts.models import AuditEntry
from accounts.people import person
from accounts.refusing import back_to
from experiments.models import Message, Run, RunReview
from experiments.models.labels import FLAGS
from experiments.review import curation, flagging
from experiments.review.answer_form import NOWHERE, uuid_of
from experiments.runs.steering.views import visible_run
from experiments.workflows.base.flags import REVIEWED

Action = AuditEntry.Action
CHOICES = [(flag, FLAGS[flag]) for flag in REVIEWED]
CURATED = (
    *(Action.SUBMITTED, Action.RETURNED),
    *(Action.APPROVED, Action.DISAPPROVED, Action.PUBLISHED, Action.WITHDRAWN),
    *(Action.VOIDED, Action.RESTORED),
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def flags(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Every flag of a run's messages: how it came about, and for those who may, setting and dismissing."""
    run = visible_run(request, pk)
    if request.method == "POST":
        back_to(request, "run-flags", run.pk)
        change_flag(request, run)
        return redirect("run-flags", run.pk)
    messages_of_run = flagging.choosable(run)
    context = {
        "run": run,
        "rows": [{"message": one, "deeds": flagging.history(one)} for one in flagging.flagged(run)],
        "messages_of_run": messages_of_run,
        "may_flag": bool(messages_of_run) and flagging.may_flag(messages_of_run[0], person(request)),
        "choices": CHOICES,
    }
    return render(request, "review/flags.html", context)


def change_flag(request: HttpRequest, run: Run) -> None:
    """Set or dismiss the flag that was sent, and say so."""
    key, flag = uuid_of(request.POST.get("message", "")) or NOWHERE, request.POST.get("flag", "")
    message = get_object_or_404(Message.objects.select_related("run"), run=run, pk=key)
    is_dismissed, reason = request.POST.get("deed") == "dismiss", request.POST.get("reason", "")
    verb = flagging.dismiss if is_dismissed else flagging.set_flag
    done = verb(message, flag, by=person(request), reason=reason)
    say_decided(request, _("The flag is dismissed.") if is_dismissed else _("The flag is set."), done=done)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run_curation(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Whether a run is approved, counts, and is public; curators decide here."""
    run, user = visible_run(request, pk), person(request)
    may_curate, is_owner = curation.may_curate(user), run.experiment.owner_id == user.pk
    if request.method == "POST":
        action, reason = request.POST.get("deed", ""), request.POST.get("reason", "")
        if may_curate or (is_owner and action in curation.OF_OWNERS):  # others are told so by a page of its own
            back_to(request, "run-curation", run.pk)
        say_decided(request, _("Done."), done=curation.act(action, run, by=user, reason=reason))
        return redirect("run-curation", run.pk)
    context = {**decided_context(run), "may_decide": may_curate, "is_owner": is_owner}
    return render(request, "review/curation.html", context)


def say_decided(request: HttpRequest, said: str, *, done: bool) -> None:
    """said: where it was done just now."""
    if done:
        messages.success(request, said)
    else:
        messages.info(request, _("Nothing changed: it was already so."))


def decided_context(run: Run) -> dict[str, object]:
    """What was decided about a run, by whom, and the flags that can be set."""
    targets = Q(target=target_of(run)) | Q(target=target_of(run.experiment))
    return {
        "run": run,
        "review": RunReview.objects.filter(run=run).select_related("approved_by", "excluded_by").first(),
        "entries": AuditEntry.objects.filter(targets, action__in=CURATED)[:50],
        "choices": CHOICES,
    }
