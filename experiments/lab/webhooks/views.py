"""The pages of webhooks: mine, a project's, and one with its log."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.models import Project
from accounts.people import person, stepped_up
from accounts.refusing import ShownIn, back_to, status_of
from experiments.lab.webhooks import hooks
from experiments.lab.webhooks.forms import WebhookForm, initial_of
from experiments.lab.webhooks.kinds import Kind
from experiments.models import Webhook, WebhookDelivery

ON_A_PAGE = 25


@never_cache
@login_required
@stepped_up
def my_webhooks(request: HttpRequest) -> HttpResponse:
    """Those that are told of my own runs. The secret of a new one is shown once, on the page that answers the form."""
    rows = Webhook.objects.visible_to(request.user).filter(project=None)
    return _page(request, rows, None)


@never_cache
@login_required
@stepped_up
def project_webhooks(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Those that are told of a project's runs; to those who do not lead it there is no such page."""
    project = get_object_or_404(Project.objects.led_by(request.user), pk=pk)
    return _page(request, project.webhooks.select_related("owner"), project)


@never_cache
@login_required
@stepped_up
def webhook(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One webhook: its settings, and what it was told lately."""
    hook = _hook(request, pk)
    form = WebhookForm(request.POST or None, initial=initial_of(hook), by=person(request), project=hook.project)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            hooks.change(hook, by=person(request), **form.cleaned_data)
            messages.success(request, _("The webhook is changed."))
            return redirect(hook)
    return _one(request, hook, form)


@never_cache
@login_required
@require_POST
@stepped_up
def rotate(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Another secret, shown once on the page that answers."""
    hook = _hook(request, pk)
    secret = hooks.rotate(hook, by=person(request))
    form = WebhookForm(initial=initial_of(hook), by=person(request), project=hook.project)
    return _one(request, hook, form, secret=secret)


@login_required
@require_POST
def test(request: HttpRequest, pk: UUID) -> HttpResponse:
    hook = _hook(request, pk)
    back_to(request, hook)
    hooks.test(hook, by=person(request))
    messages.success(request, _("A test is on its way. Look at the log in a moment."))
    return redirect(hook)


@login_required
@require_POST
def switch(request: HttpRequest, pk: UUID) -> HttpResponse:
    """on=1: tell it again; else pause it."""
    hook, is_on = _hook(request, pk), request.POST.get("on") == "1"
    if hooks.set_active(hook, by=person(request), is_active=is_on):
        messages.success(request, _("The webhook is on.") if is_on else _("The webhook is paused."))
    return redirect(hook)


@login_required
@require_POST
def remove(request: HttpRequest, pk: UUID) -> HttpResponse:
    hook = _hook(request, pk)
    hooks.remove(hook, by=person(request))
    messages.success(request, _("The webhook is removed."))
    return redirect("project-webhooks", hook.project_id) if hook.project_id else redirect("my-webhooks")


@login_required
@require_POST
def again(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Send once more what was sent, or given up."""
    rows = WebhookDelivery.objects.visible_to(request.user).select_related("webhook")
    delivery = get_object_or_404(rows, pk=pk)
    back_to(request, delivery.webhook)
    hooks.send_again(delivery, by=person(request))
    messages.success(request, _("It is on its way again. Look at the log in a moment."))
    return redirect(delivery.webhook)


def _page(request: HttpRequest, rows: "QuerySet[Webhook]", project: Project | None) -> HttpResponse:
    user, made, secret = person(request), None, ""
    initial = {"events": [Kind.RUN_COMPLETED, Kind.RUN_FAILED, Kind.RUN_STOPPED]}
    form = WebhookForm(request.POST or None, initial=initial, by=user, project=project)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            made, secret = hooks.add(by=user, project=project, **form.cleaned_data)
            form = WebhookForm(initial=initial, by=user, project=project)
    context: dict[str, Any] = {"rows": rows, "project": project, "form": form, "made": made, "secret": secret}
    context["may_add"] = hooks.may_have(user, project)
    return render(request, "webhooks/webhooks.html", context, status=status_of(form))


def _one(request: HttpRequest, hook: Webhook, form: WebhookForm, secret: str = "") -> HttpResponse:
    log = hook.deliveries.all()
    before = request.GET.get("before", "")
    if before and (older := _id(before)):
        log = log.filter(pk__lt=older)
    found = list(log[: ON_A_PAGE + 1])
    context: dict[str, Any] = {"hook": hook, "form": form, "secret": secret, "deliveries": found[:ON_A_PAGE]}
    context |= {"older": found[ON_A_PAGE - 1].pk if len(found) > ON_A_PAGE else "", "is_older": bool(before)}
    context["labels"] = [kind.label for kind in Kind if kind.value in hook.events]
    return render(request, "webhooks/webhook.html", context, status=status_of(form))


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _hook(request: HttpRequest, pk: UUID) -> Webhook:
    rows = Webhook.objects.visible_to(request.user).select_related("owner", "project")
    return get_object_or_404(rows, pk=pk)
