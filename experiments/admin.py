"""The admin curates the catalogue; what happened in runs can be read there, not changed."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from experiments.models import (
    Call,
    Event,
    Execution,
    Experiment,
    Judgment,
    Message,
    ModelPrice,
    Participant,
    Preset,
    Provider,
    ProviderModel,
    Run,
    SandboxHost,
    Scenario,
)


class ReadOnly(admin.ModelAdmin[Any]):
    """History is read, not edited: runs change by the verbs alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Provider)
class ProviderAdmin(admin.ModelAdmin[Provider]):
    list_display = ["name", "base_url", "is_active", "is_simulated", "allow_private", "api_key_env"]


class PriceInline(admin.TabularInline[ModelPrice, ProviderModel]):
    model = ModelPrice
    extra = 0


@admin.register(ProviderModel)
class ProviderModelAdmin(admin.ModelAdmin[ProviderModel]):
    list_display = ["label", "slug", "provider", "is_active", "is_tool", "is_default_judge", "is_default_filter"]
    list_filter = ["provider", "is_active", "is_tool"]
    list_editable = ["is_active"]
    search_fields = ["slug", "label", "upstream"]
    inlines = [PriceInline]


class ParticipantInline(admin.TabularInline[Participant, Experiment]):
    model = Participant
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Experiment)
class ExperimentAdmin(ReadOnly):
    list_display = ["title", "workflow", "owner", "created"]
    list_filter = ["workflow", "created"]
    search_fields = ["title", "owner__username"]
    inlines = [ParticipantInline]


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ["id", "experiment", "state", "stop_reason", "seed", "created", "ended"]
    list_filter = ["state", "experiment__workflow", "created"]
    search_fields = ["id", "experiment__title", "experiment__owner__username"]
    list_select_related = ["experiment"]


@admin.register(Message)
class MessageAdmin(ReadOnly):
    list_display = ["run", "turn", "seat", "model", "finish_reason", "created"]
    list_filter = ["seat", "finish_reason"]
    search_fields = ["text"]


@admin.register(Judgment)
class JudgmentAdmin(ReadOnly):
    list_display = ["run", "turn", "subject", "judge", "unscored_reason", "confidence"]
    list_filter = ["judge"]


@admin.register(Call)
class CallAdmin(ReadOnly):
    list_display = ["step", "attempt", "state", "model", "input_tokens", "output_tokens", "cost", "sent"]
    list_filter = ["state", "model", "error_kind"]
    list_select_related = ["step", "model"]


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["run", "seq", "type", "at"]
    list_filter = ["type"]


@admin.register(Preset)
class PresetAdmin(ReadOnly):
    list_display = ["name", "workflow", "owner", "shared", "created"]
    list_filter = ["workflow", "shared"]
    search_fields = ["name", "owner__username"]


@admin.register(Scenario)
class ScenarioAdmin(ReadOnly):
    list_display = ["title", "version", "kind", "owner", "shared", "archived", "created"]
    list_filter = ["kind", "shared", "archived"]
    search_fields = ["title", "owner__username"]


@admin.register(Execution)
class ExecutionAdmin(ReadOnly):
    """Tests and results are large, so the list does without them."""

    list_display = ["step", "turn", "seat", "state", "backend", "is_unsafe", "seconds", "error_kind", "created"]
    list_filter = ["state", "is_unsafe", "backend"]
    list_select_related = ["step"]
    search_fields = ["run__id", "seat"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        rows: QuerySet[Execution] = super().get_queryset(request)
        is_list = request.resolver_match is not None and str(request.resolver_match.url_name).endswith("_changelist")
        return rows.defer("code", "tests", "results") if is_list else rows


@admin.register(SandboxHost)
class SandboxHostAdmin(ReadOnly):
    list_display = ["name", "backend", "is_sufficient", "checked", "refusal"]
    list_filter = ["is_sufficient", "backend"]
