"""What may be spent and what was, who used which key, and who was given a link: read here, changed by the verbs."""

from django.contrib import admin

from experiments.admin.base import Long
from experiments.models import Budget, BudgetPeriod, KeyUse, Reservation, ShareLink, UsageDay


@admin.register(Budget)
class BudgetAdmin(Long):
    list_display = ["__str__", "person", "project", "experiment", "cost_limit", "token_limit", "active"]
    list_filter = ["period", "active"]
    list_select_related = ["person", "project", "experiment"]
    search_fields = ["person__username", "project__name", "=experiment__id"]
    raw_id_fields = ["experiment"]


@admin.register(BudgetPeriod)
class BudgetPeriodAdmin(Long):
    list_display = ["budget_id", "begins", "cost_spent", "cost_reserved", "tokens_spent", "tokens_reserved"]
    search_fields = ["=budget__id"]


@admin.register(Reservation)
class ReservationAdmin(Long):
    list_display = ["id", "period_id", "call_id"]
    search_fields = ["=call__id"]
    raw_id_fields = ["period", "call"]


@admin.register(UsageDay)
class UsageDayAdmin(Long):
    list_display = ["day", "experiment_id", "model", "purpose", "calls", "input_tokens", "output_tokens", "cost"]
    list_filter = ["purpose"]
    list_select_related = ["model"]
    search_fields = ["=experiment__id", "model__slug"]
    raw_id_fields = ["experiment"]


@admin.register(KeyUse)
class KeyUseAdmin(Long):
    list_display = ["day", "key_id", "run_id"]
    search_fields = ["=key__id", "=run__id"]
    raw_id_fields = ["run"]


@admin.register(ShareLink)
class ShareLinkAdmin(Long):
    list_display = ["hint", "experiment", "created_by", "created", "expires", "revoked"]
    list_select_related = ["experiment", "created_by"]
    search_fields = ["hint", "=experiment__id", "created_by__username"]
    raw_id_fields = ["experiment"]
