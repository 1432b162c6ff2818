"""What people keep for later."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from experiments.admin.base import Long, ReadOnly
from experiments.models import Note, Preset, SavedView, Scenario, Tag, Tagging


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
    list_select_related = ["owner", "project"]
    search_fields = ["folded", "owner__username", "project__name"]


@admin.register(Tagging)
class TaggingAdmin(Long):
    list_display = ["tag", "experiment", "run", "by", "created"]
    list_select_related = ["tag", "experiment", "run__experiment", "by"]
    search_fields = ["tag__folded"]


@admin.register(Note)
class NoteAdmin(Long):
    """Personal notes are their authors': here only those that they share."""

    list_display = ["run", "author", "shared", "created", "edited"]
    list_select_related = ["run__experiment", "author"]
    search_fields = ["author__username"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(shared=True)


@admin.register(SavedView)
class SavedViewAdmin(ReadOnly):
    list_display = ["name", "owner", "project", "is_default", "created"]
    list_select_related = ["owner", "project"]
    search_fields = ["name", "owner__username"]
