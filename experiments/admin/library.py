"""What people keep for later, datasets with their boards, files that were asked for or sent, and the search."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from experiments.admin.base import Long, ReadOnly
from experiments.models import (
    Board,
    BulkExport,
    Campaign,
    Dataset,
    DatasetImage,
    Export,
    IdempotentRequest,
    Image,
    ImportedRun,
    LogImport,
    Note,
    Output,
    PairCount,
    Passage,
    Preset,
    RunImport,
    Sample,
    SavedView,
    Scenario,
    Tag,
    Tagging,
    Upload,
    Verdict,
)


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


@admin.register(Tag)
class TagAdmin(ReadOnly):
    list_display = ["name", "owner", "project", "created"]
    search_fields = ["folded", "owner__username", "project__name"]


@admin.register(Tagging)
class TaggingAdmin(Long):
    list_display = ["tag", "experiment", "run", "by", "created"]
    list_select_related = ["run__experiment"]
    search_fields = ["tag__folded"]


@admin.register(Note)
class NoteAdmin(Long):
    """Personal notes are their authors': here only those that they share."""

    list_display = ["run", "author", "shared", "created", "edited"]
    list_select_related = ["run__experiment"]
    search_fields = ["author__username"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(shared=True)


@admin.register(SavedView)
class SavedViewAdmin(ReadOnly):
    list_display = ["name", "owner", "project", "is_default", "created"]
    search_fields = ["name", "owner__username"]


@admin.register(Dataset)
class DatasetAdmin(ReadOnly):
    list_display = ["name", "slug", "owner", "modality", "visibility", "takes_votes", "state", "created"]
    list_filter = ["modality", "visibility", "state"]
    search_fields = ["name", "slug", "owner__username"]
    date_hierarchy = "created"


@admin.register(Sample)
class SampleAdmin(Long):
    list_display = ["id", "dataset", "subset", "index", "category"]
    list_filter = ["dataset"]


@admin.register(Output)
class OutputAdmin(Long):
    list_display = ["id", "contestant", "sample_id", "created"]


@admin.register(Image)
class ImageAdmin(Long):
    list_display = ["sha256", "mime", "width", "height", "size", "created"]
    list_filter = ["mime"]
    search_fields = ["=sha256"]


@admin.register(DatasetImage)
class DatasetImageAdmin(Long):
    list_display = ["id", "dataset", "image_id"]


@admin.register(Board)
class BoardAdmin(ReadOnly):
    list_display = ["slug", "dataset", "kind", "judge", "prompt", "prompt_version", "created"]
    list_filter = ["kind"]
    search_fields = ["slug", "dataset__name", "judge"]


@admin.register(Campaign)
class CampaignAdmin(ReadOnly):
    list_display = ["experiment", "state", "wanted", "round", "note", "created", "ended"]
    list_filter = ["state"]
    search_fields = ["experiment__title"]
    date_hierarchy = "created"


@admin.register(Verdict)
class VerdictAdmin(Long):
    list_display = ["id", "battle_id", "order", "winner", "confidence", "unread_reason"]
    list_filter = ["order", "winner"]
    search_fields = ["=battle__id"]


@admin.register(PairCount)
class PairCountAdmin(Long):
    list_display = ["board", "left", "right", "subset", "left_wins", "right_wins", "ties", "both_bad"]


@admin.register(Export)
class ExportAdmin(Long):
    list_display = ["id", "run_id", "owner", "format", "language", "state", "size", "created"]
    list_filter = ["format", "state"]
    search_fields = ["=run__id", "owner__username"]


@admin.register(Upload)
class UploadAdmin(Long):
    list_display = ["name", "owner", "dataset", "kind", "state", "size", "refused_reason", "created"]
    list_filter = ["kind", "state"]
    search_fields = ["name", "owner__username"]


@admin.register(LogImport)
class LogImportAdmin(Long):
    list_display = ["name", "owner", "dataset", "judge", "state", "created", "ended"]
    list_filter = ["state"]
    search_fields = ["name", "owner__username"]


@admin.register(IdempotentRequest)
class IdempotentRequestAdmin(Long):
    list_display = ["key", "owner", "created"]
    search_fields = ["=key", "owner__username"]


@admin.register(BulkExport)
class BulkExportAdmin(Long):
    list_display = ["name", "owner", "format", "run_count", "state", "size", "created"]
    list_filter = ["format", "state"]
    search_fields = ["name", "owner__username"]


@admin.register(RunImport)
class RunImportAdmin(Long):
    list_display = ["name", "owner", "source", "state", "size", "created", "ended"]
    list_filter = ["source", "state"]
    search_fields = ["name", "=sha256", "owner__username"]


@admin.register(ImportedRun)
class ImportedRunAdmin(Long):
    list_display = ["run_id", "owner", "source", "file_name", "place"]
    list_filter = ["source"]
    search_fields = ["=run__id", "=file_sha256", "file_name", "owner__username"]


@admin.register(Passage)
class PassageAdmin(Long):
    """What the search is asked: a table that `manage.py reindex` writes anew."""

    list_display = ["id", "kind", "experiment_id", "run_id", "created"]
    list_filter = ["kind"]
    search_fields = ["=source", "=run__id"]
    search_help_text = "id"
    exclude = ["words"]
    heavy = ("words",)
