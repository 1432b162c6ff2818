"""What people keep for later, datasets with their boards, files that were asked for or sent, and the search."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from experiments.admin.base import Long, ReadOnly, table
from experiments.models import (
    Annotation,
    Board,
    BulkExport,
    Campaign,
    Dataset,
    DatasetImage,
    Export,
    Favorite,
    IdempotentRequest,
    Image,
    ImportedRun,
    Instrument,
    InstrumentCase,
    InstrumentVersion,
    LogImport,
    Note,
    Output,
    PairCount,
    Passage,
    Preset,
    RunImport,
    RunListColumns,
    Sample,
    SavedView,
    Scenario,
    Tag,
    Tagging,
    Upload,
    Verdict,
)

table(
    Preset,
    "name workflow owner shared created",
    filters="workflow shared",
    search="name owner__username",
    base=ReadOnly,
)
table(
    Scenario,
    "title version kind owner shared archived created",
    filters="kind shared archived",
    search="title owner__username",
    base=ReadOnly,
)
table(Tag, "name owner project created", search="folded owner__username project__name", base=ReadOnly)
table(Tagging, "tag experiment run by created", search="tag__folded", list_select_related=["run__experiment"])


@admin.register(Note)
class NoteAdmin(Long):
    """Personal notes are their authors': here only those that they share."""

    list_display = ["run", "author", "shared", "created", "edited"]
    list_select_related = ["run__experiment"]
    search_fields = ["author__username"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(shared=True)


table(Favorite, "user kind key created", filters="kind", search="key user__username", base=ReadOnly)
table(SavedView, "name owner project is_default created", search="name owner__username", base=ReadOnly)
table(RunListColumns, "owner hidden", search="owner__username", base=ReadOnly)
table(
    Dataset,
    "name slug owner modality visibility takes_votes state created",
    filters="modality visibility state",
    search="name slug owner__username",
    base=ReadOnly,
    date_hierarchy="created",
)
table(Sample, "id dataset subset index category", filters="dataset")
table(Output, "id contestant sample_id created")
table(Image, "sha256 mime width height size created", filters="mime", search="=sha256")
table(DatasetImage, "id dataset image_id")
table(
    Board,
    "slug dataset kind judge prompt prompt_version created",
    filters="kind",
    search="slug dataset__name judge",
    base=ReadOnly,
)
table(
    Campaign,
    "experiment state wanted round note created ended",
    filters="state",
    search="experiment__title",
    base=ReadOnly,
    date_hierarchy="created",
)
table(Verdict, "id battle_id order winner confidence unread_reason", filters="order winner", search="=battle__id")
table(PairCount, "board left right subset left_wins right_wins ties both_bad")
table(
    Export,
    "id run_id owner format language state size created",
    filters="format state",
    search="=run__id owner__username",
)
table(
    Upload,
    "name owner dataset kind state size refused_reason created",
    filters="kind state",
    search="name owner__username",
)
table(LogImport, "name owner dataset judge state created ended", filters="state", search="name owner__username")
table(IdempotentRequest, "key owner created", search="=key owner__username")
table(
    BulkExport, "name owner format run_count state size created", filters="format state", search="name owner__username"
)
table(
    RunImport,
    "name owner source state size created ended",
    filters="source state",
    search="name =sha256 owner__username",
)
table(
    ImportedRun,
    "run_id owner source file_name place",
    filters="source",
    search="=run__id =file_sha256 file_name owner__username",
)
# What the search is asked: a table that `manage.py reindex` writes anew.
table(
    Passage,
    "id kind experiment_id run_id created",
    filters="kind",
    search="=source =run__id",
    search_help_text="id",
    exclude=["words"],
    heavy=("words",),
)
table(Instrument, "title owner project shared slug archived created", filters="shared", search="title", base=ReadOnly)
table(
    InstrumentCase,
    "instrument run_id unit place created",
    filters="unit",
    search="instrument__title =run__id",
    base=ReadOnly,
)
table(InstrumentVersion, "instrument number digest by created", search="instrument__title =digest")
table(
    Annotation,
    "run_id unit place subject version dimension is_verified judge created",
    filters="unit is_verified",
    search="=run__id",
)
