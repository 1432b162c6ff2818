"""Webhooks and what they were told: read here; administrators may allow private addresses, pause and remove."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.people import person
from experiments.admin.base import Long
from experiments.lab.webhooks import hooks
from experiments.models import Webhook, WebhookDelivery


@admin.action(description=_("Allow private addresses"))
def allow_private(admin_: Any, request: HttpRequest, rows: "QuerySet[Webhook]") -> None:
    _permit(request, rows, allowed=True)


@admin.action(description=_("Allow public addresses only"))
def forbid_private(admin_: Any, request: HttpRequest, rows: "QuerySet[Webhook]") -> None:
    _permit(request, rows, allowed=False)


@admin.action(description=_("Pause: nothing more is sent"))
def pause(admin_: Any, request: HttpRequest, rows: "QuerySet[Webhook]") -> None:
    done = sum(hooks.set_active(hook, by=person(request), is_active=False) for hook in rows)
    words = ngettext("%(n)s webhook is paused.", "%(n)s webhooks are paused.", done)
    messages.success(request, words % {"n": done})


def _permit(request: HttpRequest, rows: "QuerySet[Webhook]", *, allowed: bool) -> None:
    done = sum(hooks.permit_private(hook, by=person(request), allowed=allowed) for hook in rows)
    words = ngettext("%(n)s webhook was changed.", "%(n)s webhooks were changed.", done)
    messages.success(request, words % {"n": done})


@admin.register(Webhook)
class WebhookAdmin(Long):
    list_display = ["__str__", "owner", "project", "is_active", "allow_private", "failures", "paused", "created"]
    list_filter = ["is_active", "allow_private", "pause_reason"]
    list_select_related = ["owner", "project"]
    search_fields = ["name", "url", "owner__username", "project__name"]
    fields = [
        *("name", "url", "owner", "project", "events", "is_active", "allow_private"),
        *("failures", "failing_since", "paused", "pause_reason", "created"),
    ]
    actions = [allow_private, forbid_private, pause]
    heavy = ("secret", "older_secret")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(Long):
    list_display = ["id", "type", "webhook", "state", "status", "problem", "attempt", "seconds", "created"]
    list_filter = ["state", "type", "problem"]
    list_select_related = ["webhook"]
    search_fields = ["=id", "=webhook__id", "=run__id"]
    raw_id_fields = ["run", "webhook"]
    heavy = ("body", "answer")
