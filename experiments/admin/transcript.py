"""What was said, judged, ranked and called in runs."""

from django.contrib import admin

from experiments.admin.base import LatestValues, Long
from experiments.models import Ballot, Call, Event, Judgment, Message, Step


@admin.register(Message)
class MessageAdmin(Long):
    list_display = ["run_id", "turn", "seat", "model", "flags", "finish_reason", "created"]
    list_filter = [("seat", LatestValues), ("finish_reason", LatestValues), "superseded"]
    ordering = ["-pk"]
    search_fields = ["=run__id", "=id"]
    search_help_text = "id"
    heavy = ("raw_text", "text", "reasoning", "filter", "operator", "parsed")
    raw_id_fields = ["run", "step", "call"]


@admin.register(Judgment)
class JudgmentAdmin(Long):
    list_display = ["run_id", "turn", "subject", "judge", "unscored_reason", "confidence", "created"]
    list_filter = [("subject", LatestValues)]
    ordering = ["-pk"]
    search_fields = ["=run__id", "=judge"]
    heavy = ("rationale", "dynamics", "scores")
    raw_id_fields = ["run", "step", "call"]


@admin.register(Ballot)
class BallotAdmin(Long):
    list_display = ["run_id", "turn", "count", "reviewer", "model", "abstained_reason", "superseded", "created"]
    list_filter = ["superseded"]
    search_fields = ["=run__id"]
    raw_id_fields = ["run", "step", "call"]


@admin.register(Step)
class StepAdmin(Long):
    list_display = ["run_id", "key", "kind", "purpose", "seat", "turn", "state", "created"]
    list_filter = [("kind", LatestValues), "state"]
    ordering = ["-pk"]
    search_fields = ["=run__id"]
    heavy = ("data",)
    raw_id_fields = ["run"]


@admin.register(Call)
class CallAdmin(Long):
    list_display = ["step", "attempt", "state", "model", "input_tokens", "output_tokens", "cost", "sent"]
    list_filter = ["state", "model", ("error_kind", LatestValues)]
    ordering = ["-pk"]
    list_select_related = ["step", "model"]
    search_fields = ["=run__id"]
    raw_id_fields = ["run", "step"]
    heavy = ("request", "text", "reasoning", "logprobs", "error")


@admin.register(Event)
class EventAdmin(Long):
    list_display = ["run_id", "seq", "type", "at"]
    list_filter = [("type", LatestValues)]
    ordering = ["-pk"]
    search_fields = ["=run__id"]
    heavy = ("data",)
    raw_id_fields = ["run"]
