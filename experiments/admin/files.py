"""Files that were asked for or sent, and requests that are answered once."""

from django.contrib import admin

from experiments.admin.base import Long
from experiments.models import Export, IdempotentRequest, LogImport, Upload


@admin.register(Export)
class ExportAdmin(Long):
    list_display = ["id", "run_id", "owner", "format", "language", "state", "size", "created"]
    list_filter = ["format", "state"]
    list_select_related = ["owner"]
    search_fields = ["=run__id", "owner__username"]
    raw_id_fields = ["run"]


@admin.register(Upload)
class UploadAdmin(Long):
    list_display = ["name", "owner", "dataset", "kind", "state", "size", "refused_reason", "created"]
    list_filter = ["kind", "state"]
    list_select_related = ["owner", "dataset"]
    search_fields = ["name", "owner__username"]
    heavy = ("asked", "found")


@admin.register(LogImport)
class LogImportAdmin(Long):
    list_display = ["name", "owner", "dataset", "judge", "state", "created", "ended"]
    list_filter = ["state"]
    list_select_related = ["owner", "dataset"]
    search_fields = ["name", "owner__username"]
    heavy = ("report",)


@admin.register(IdempotentRequest)
class IdempotentRequestAdmin(Long):
    list_display = ["key", "owner", "created"]
    list_select_related = ["owner"]
    search_fields = ["=key", "owner__username"]
    heavy = ("answer",)
