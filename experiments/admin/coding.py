"""What the sandbox ran, and where it can run anything."""

from django.contrib import admin

from experiments.admin.base import Long, ReadOnly
from experiments.models import Execution, SandboxHost


@admin.register(Execution)
class ExecutionAdmin(Long):
    """Tests and results are large, so the list does without them."""

    list_display = ["step", "turn", "seat", "state", "backend", "is_unsafe", "seconds", "error_kind", "created"]
    list_filter = ["state", "is_unsafe", "backend"]
    list_select_related = ["step"]
    search_fields = ["=run__id", "=seat"]
    heavy = ("code", "tests", "results")


@admin.register(SandboxHost)
class SandboxHostAdmin(ReadOnly):
    list_display = ["name", "backend", "is_sufficient", "checked", "refusal"]
    list_filter = ["is_sufficient", "backend"]
