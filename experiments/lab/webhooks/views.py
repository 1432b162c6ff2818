"""The pages of webhooks: mine, a project's, and one with its log."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.models import Project
from accounts.people import person, stepped_up
from accounts.refusing import ShownIn, back_to, status_of
from experiments.lab.webhooks import hooks
from experiments.lab.webhooks.outbox import Kind
from experiments.models import Webhook, WebhookDelivery

if TYPE_CHECKING:
    from accounts.models import User

ON_A_PAGE = 25
AT_FIRST = {"events": [Kind.RUN_COMPLETED, Kind.RUN_FAILED, Kind.RUN_STOPPED]}


class WebhookForm(forms.ModelForm[Webhook]):
    """A new webhook, or other settings of one, which `hooks` checks and saves. Administrators may allow any address."""

    events = forms.MultipleChoiceField(
        label=gettext_lazy("Events"), required=False, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = Webhook
        fields = ("url", "name", "events", "allow_private")
        labels = {
            "url": gettext_lazy("Address"),
            "name": gettext_lazy("Name (optional)"),
            "allow_private": gettext_lazy("Private addresses are allowed"),
        }
        widgets = {"url": forms.URLInput({"placeholder": "https://", "autocomplete": "off", "spellcheck": "false"})}

    def __init__(self, *args: Any, by: "User", project: Project | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [(kind.value, kind.label) for kind in hooks.offered_kinds(project)]
        self.fields["events"].choices = offered  # type: ignore[attr-defined]  # a choice field, which Django types as any field
        if not by.is_admin:
            del self.fields["allow_private"]


@never_cache
@login_required
@stepped_up
def webhooks(request: HttpRequest, pk: UUID | None = None) -> HttpResponse:
    """Those that are told of my own runs, or of a project's (to those who do not lead it there is no such page). The
    secret of a new one is shown once, on the page that answers the form.
    """
    user, made, secret = person(request), None, ""
    project = get_object_or_404(Project.objects.led_by(user), pk=pk) if pk else None
    form = WebhookForm(request.POST or None, initial=AT_FIRST, by=user, project=project)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            made, secret = hooks.add(by=user, project=project, **form.cleaned_data)
            form = WebhookForm(initial=AT_FIRST, by=user, project=project)
    rows = project.webhooks.select_related("owner") if project else user.webhooks.filter(project=None)
    context: dict[str, Any] = {"rows": rows, "project": project, "form": form, "made": made, "secret": secret}
    context["may_add"] = hooks.may_have(user, project)
    return render(request, "webhooks/webhooks.html", context, status=status_of(form))


@never_cache
@login_required
@stepped_up
def webhook(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One webhook: its settings, and what it was told lately."""
    hook = _hook(request, pk)
    form = _form(request, hook)
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
    return _one(request, hook, _form(request, hook, is_sent=False), secret=secret)


@login_required
@require_POST
def test(request: HttpRequest, pk: UUID) -> HttpResponse:
    hook = _hook(request, pk)
    back_to(request, hook)
    hooks.test(hook, by=person(request))
    messages.success(request, _("A test is being sent. Check the log in a moment."))
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
    messages.success(request, _("The webhook is deleted."))
    return redirect("project-webhooks", hook.project_id) if hook.project_id else redirect("my-webhooks")


@login_required
@require_POST
def again(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Send once more what was sent, or given up."""
    rows = WebhookDelivery.objects.visible_to(request.user).select_related("webhook")
    delivery = get_object_or_404(rows, pk=pk)
    back_to(request, delivery.webhook)
    hooks.send_again(delivery, by=person(request))
    messages.success(request, _("It is being sent again. Check the log in a moment."))
    return redirect(delivery.webhook)


def _form(request: HttpRequest, hook: Webhook, *, is_sent: bool = True) -> WebhookForm:
    initial = model_to_dict(hook, WebhookForm.Meta.fields)
    sent = request.POST if is_sent else None
    return WebhookForm(sent or None, initial=initial, by=person(request), project=hook.project)


def _one(request: HttpRequest, hook: Webhook, form: WebhookForm, secret: str = "") -> HttpResponse:
    log = hook.deliveries.all()
    before = request.GET.get("before", "")
    with suppress(ValueError):
        log = log.filter(pk__lt=UUID(before))
    found = list(log[: ON_A_PAGE + 1])
    context: dict[str, Any] = {"hook": hook, "form": form, "secret": secret, "deliveries": found[:ON_A_PAGE]}
    context |= {"older": found[ON_A_PAGE - 1].pk if len(found) > ON_A_PAGE else "", "is_older": bool(before)}
    context["labels"] = [kind.label for kind in Kind if kind.value in hook.events]
    return render(request, "webhooks/webhook.html", context, status=status_of(form))


def _hook(request: HttpRequest, pk: UUID) -> Webhook:
    rows = Webhook.objects.visible_to(request.user).select_related("owner", "project")
    return get_object_or_404(rows, pk=pk)
