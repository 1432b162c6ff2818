"""The registry of providers, models, prices and keys; what may be spent and what was; links and webhooks."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.people import person
from experiments.admin.base import Long, ReadOnly, table
from experiments.lab.keys import keyring
from experiments.lab.webhooks import hooks
from experiments.models import (
    BilledDay,
    Budget,
    BudgetPeriod,
    Call,
    InjectionRate,
    KeyUse,
    ModelPrice,
    Provider,
    ProviderKey,
    ProviderModel,
    Reservation,
    ShareLink,
    UsageDay,
    Webhook,
    WebhookDelivery,
)


@admin.action(description=_("Switch on"))
def switch_on(admin_: "admin.ModelAdmin[Any]", request: HttpRequest, rows: "QuerySet[Any]") -> None:
    _switch(admin_, request, rows, is_active=True)


@admin.action(description=_("Switch off (no new calls)"))
def switch_off(admin_: "admin.ModelAdmin[Any]", request: HttpRequest, rows: "QuerySet[Any]") -> None:
    _switch(admin_, request, rows, is_active=False)


def _switch(admin_: "admin.ModelAdmin[Any]", request: HttpRequest, rows: "QuerySet[Any]", *, is_active: bool) -> None:
    """Each with its line in the history."""
    changed = list(rows.filter(is_active=not is_active))
    admin_.model._default_manager.filter(pk__in=[row.pk for row in changed]).update(is_active=is_active)
    for row in changed:
        admin_.log_change(request, row, [{"changed": {"fields": [str(_("active"))]}}])
    words = ngettext("%(n)s was switched.", "%(n)s were switched.", len(changed)) % {"n": len(changed)}
    messages.success(request, words)


class Switched(admin.ModelAdmin[Any]):
    """Rows that are switched on and off, several at a time."""

    actions = [switch_on, switch_off]


@admin.register(Provider)
class ProviderAdmin(Switched):
    """Whether a key is there is shown, and never which."""

    list_display = ["name", "base_url", "is_active", "models_on", "lab_has_key", "people_with_keys", "is_simulated"]
    list_filter = ["is_active", "is_simulated", "needs_key", "allow_private"]
    search_fields = ["name", "base_url"]
    readonly_fields = ["lab_has_key"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        in_use = Q(keys__is_active=True)
        rows: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = rows.annotate(
            on=Count("models", filter=Q(models__is_active=True), distinct=True),
            of_lab=Count("keys", filter=in_use & Q(keys__owner__isnull=True), distinct=True),
            of_people=Count("keys", filter=in_use & Q(keys__owner__isnull=False), distinct=True),
        )
        return counted

    @admin.display(description=_("models on"), ordering="on")
    def models_on(self, provider: Any) -> int:
        return int(provider.on)

    @admin.display(description=_("the lab has a key"), boolean=True)
    def lab_has_key(self, provider: Any) -> bool | None:
        """Stored, or in the environment; unknown where none is needed."""
        if provider.pk is None or not (provider.wants_key or provider.of_lab):
            return None
        return not provider.lacks_key

    @admin.display(description=_("keys of people"), ordering="of_people")
    def people_with_keys(self, provider: Any) -> int:
        return int(provider.of_people)


class PriceForm(forms.ModelForm[ModelPrice]):
    """A price that a call was made at stays as it was: what is cheaper or dearer now is another row."""

    class Meta:
        model = ModelPrice
        fields = ["since", "input", "output", "cached_input", "per_request"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.is_used = bool(self.instance.pk) and Call.objects.filter(price=self.instance).exists()
        for field in self.fields.values():
            field.disabled = self.is_used


class PriceInline(admin.TabularInline[ModelPrice, ProviderModel]):
    model = ModelPrice
    form = PriceForm
    extra = 1
    verbose_name = _("price since a day")
    verbose_name_plural = _("prices: add a new one; prices of past calls do not change")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ProviderModel)
class ProviderModelAdmin(Switched):
    list_display = ["label", "slug", "provider", "is_active", "context", "is_tool", "is_default_judge"]
    list_filter = ["is_active", "provider", "is_tool", "provider__is_simulated"]
    list_select_related = ["provider"]
    search_fields = ["slug", "label", "upstream"]
    inlines = [PriceInline]

    @admin.display(description=_("context"))
    def context(self, model: ProviderModel) -> int | None:
        return model.accepts.context_tokens


@admin.action(description=_("End the use of the selected keys"))
def end_use(admin_: "admin.ModelAdmin[ProviderKey]", request: HttpRequest, keys: "QuerySet[ProviderKey]") -> None:
    ended = sum(keyring.remove(key, by=person(request)) for key in keys.select_related("owner", "provider"))
    words = ngettext("%(n)s key is used no more.", "%(n)s keys are used no more.", ended) % {"n": ended}
    messages.success(request, words)


@admin.register(ProviderKey)
class ProviderKeyAdmin(admin.ModelAdmin[ProviderKey]):
    """That there are keys, whose, and for what. They are entered on their own pages, and read nowhere."""

    list_display = ["provider", "owner", "is_active", "created", "last_used"]
    list_filter = ["is_active", "provider", ("owner", admin.EmptyFieldListFilter)]
    list_select_related = ["provider", "owner"]
    search_fields = ["provider__name", "owner__username"]
    fields = ["provider", "owner", "is_active", "created", "last_used"]
    readonly_fields = ["provider", "owner", "is_active", "created", "last_used"]
    actions = [end_use]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ProviderKey]:
        rows: QuerySet[ProviderKey] = super().get_queryset(request)
        return rows.defer("ciphertext", "hint")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """To end the use of one is the only change; who may do it is the verb's affair."""
        return keyring.is_keeper(person(request))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


# Measured by `manage.py try_injections`.
table(
    InjectionRate,
    "model workflow won tried unread alone_won alone_tried measured",
    filters="workflow",
    search="model__slug model__label",
    base=ReadOnly,
)
table(
    Budget,
    "__str__ person project experiment cost_limit token_limit active",
    filters="period active",
    search="person__username project__name =experiment__id",
)
table(BudgetPeriod, "budget_id begins cost_spent cost_reserved tokens_spent tokens_reserved", search="=budget__id")
table(Reservation, "id period_id call_id", search="=call__id")
table(
    UsageDay,
    "day experiment_id model purpose calls input_tokens output_tokens cost",
    filters="purpose",
    search="=experiment__id model__slug",
)
table(BilledDay, "day provider model cost fetched", filters="provider", search="model")
table(KeyUse, "day key_id run_id", search="=key__id =run__id")
table(
    ShareLink, "hint experiment created_by created expires revoked", search="hint =experiment__id created_by__username"
)


@admin.action(description=_("Allow private addresses"))
def allow_private(admin_: Any, request: HttpRequest, rows: "QuerySet[Webhook]") -> None:
    _permit(request, rows, allowed=True)


@admin.action(description=_("Allow public addresses only"))
def forbid_private(admin_: Any, request: HttpRequest, rows: "QuerySet[Webhook]") -> None:
    _permit(request, rows, allowed=False)


@admin.action(description=_("Pause (nothing more is sent)"))
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
    search_fields = ["name", "url", "owner__username", "project__name"]
    fields = [
        *("name", "url", "owner", "project", "events", "is_active", "allow_private"),
        *("failures", "failing_since", "paused", "pause_reason", "created"),
    ]
    actions = [allow_private, forbid_private, pause]


table(
    WebhookDelivery,
    "id type webhook state status problem attempt seconds created",
    filters="state type problem",
    search="=id =webhook__id =run__id",
)
