"""What people keep for later."""

from django.contrib import admin

from experiments.admin.base import ReadOnly
from experiments.models import Preset, Scenario


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
