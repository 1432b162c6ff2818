"""Files that were asked for or sent, and requests that are answered once."""

from django.contrib import admin

from experiments.admin.base import Long
from experiments.models import BulkExport, Export, IdempotentRequest, ImportedRun, LogImport, RunImport, Upload


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


@admin.register(BulkExport)
class BulkExportAdmin(Long):
    list_display = ["name", "owner", "format", "run_count", "state", "size", "created"]
    list_filter = ["format", "state"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username"]
    heavy = ("runs", "manifest")


@admin.register(RunImport)
class RunImportAdmin(Long):
    list_display = ["name", "owner", "source", "state", "size", "created", "ended"]
    list_filter = ["source", "state"]
    list_select_related = ["owner"]
    search_fields = ["name", "=sha256", "owner__username"]
    raw_id_fields = ["dataset"]
    heavy = ("report",)


@admin.register(ImportedRun)
class ImportedRunAdmin(Long):
    list_display = ["run_id", "owner", "source", "file_name", "place"]
    list_filter = ["source"]
    list_select_related = ["owner"]
    search_fields = ["=run__id", "=file_sha256", "file_name", "owner__username"]
    raw_id_fields = ["run", "brought_by"]
    heavy = ("kept", "notes")
